package safety

import (
	"flag"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/test/hostile"
)

// harmless are strings that differ in nothing but themselves. A hostname may also be a wildcard, and what a string is compared
// with may be met or not, so that what the case says itself is harmless, too.
var harmless = []string{"benign-a", "benign-b", "*.benign.example.com", ""}

// place is where a tenant, or the cloud behind what was rendered, may write a string.
type place struct {
	live   bool
	object int
	path   []any
}

// places are those of a scene. Of list items and of objects of a kind that all have the same place, the first has to do.
func (s scene) places() []place {
	var all []place
	seen := map[string]bool{}
	add := func(live bool, objects []*unstructured.Unstructured) {
		for i, o := range objects {
			walk(o.Object, nil, func(way []any, leaf any) {
				alike := fmt.Sprint(live, o.GetKind(), indexes.ReplaceAllString(spell(way), "/*"))
				if _, ok := leaf.(string); ok && open(live, way) && !seen[alike] {
					seen[alike] = true
					all = append(all, place{live, i, way})
				}
			})
		}
	}
	add(false, s.objects)
	add(true, s.live)
	return all
}

var indexes = regexp.MustCompile(`/[0-9]+`)

// isValue says whether the place is a value of a policy's, which templates print wherever they like.
func (s scene) isValue(p place) bool {
	return !p.live && strings.HasSuffix(s.objects[p.object].GetKind(), "Config") && p.path[0] == "spec" && p.path[1] != "targetRefs"
}

// open says whether somebody else may write there. What says what an object is would only hide it, and live objects are found by
// their names and labels.
func open(live bool, way []any) bool {
	switch way[0] {
	case "apiVersion", "kind":
		return false
	case "metadata":
		return !live && (way[1] == "name" || way[1] == "labels" || way[1] == "annotations")
	}
	return true
}

// with is the scene with another string in a place.
func (s scene) with(p place, text string) scene {
	list := &s.objects
	if p.live {
		list = &s.live
	}
	*list = slices.Clone(*list)
	changed := (*list)[p.object].DeepCopy()
	(*list)[p.object] = changed
	var node any = changed.Object
	for _, key := range p.path[:len(p.path)-1] {
		switch k := key.(type) {
		case string:
			node = node.(map[string]any)[k]
		case int:
			node = node.([]any)[k]
		}
	}
	switch last := p.path[len(p.path)-1].(type) {
	case string:
		node.(map[string]any)[last] = text
	case int:
		node.([]any)[last] = text
	}
	return s
}

// trial knows what comes of harmless strings in a place.
type trial struct {
	scene    scene
	place    place
	expected []outcome
}

func (s scene) trial(p place) trial {
	t := trial{scene: s, place: p, expected: []outcome{s.render()}}
	for _, text := range harmless {
		t.expected = append(t.expected, s.with(p, text).render())
	}
	return t
}

// check puts a string into the place. Whatever it is, either something is said to be wrong, without quoting it, or the objects and
// their keys are those that come of a harmless string; of the names, those that do not depend on the string.
//
// A name or hostname that the scene has already is no other string there: it refers to what has it.
func (t trial) check(tb testing.TB, text string) {
	tb.Helper()
	if t.refers(text) {
		return
	}
	got := t.scene.with(t.place, text).render()
	for _, problem := range got.problems {
		if len(text) > 12 && strings.Contains(problem, text) && !t.named() {
			tb.Errorf("%s%s: %q is quoted: %s", t.scene.name, spell(t.place.path), text, problem)
		}
	}
	if !slices.ContainsFunc(t.expected, func(e outcome) bool { return t.alike(e, got) }) && !t.partly(got) {
		tb.Errorf("%s%s: %q changes what is rendered (-harmless +hostile):\n%s", t.scene.name, spell(t.place.path), text,
			cmp.Diff(t.expected[1], got, cmp.AllowUnexported(outcome{}, made{})))
	}
}

// refers says whether the string is a name or a hostname of the scene's.
func (t trial) refers(text string) bool {
	found := false
	for _, o := range t.scene.objects {
		walk(o.Object, nil, func(way []any, leaf any) {
			last := way[len(way)-1]
			found = found || leaf == text && (last == "name" || last == "hostname" || way[0] == "spec" && way[1] == "hostnames")
		})
	}
	return found && slices.ContainsFunc(t.place.path, func(key any) bool { return key == "name" || key == "hostname" || key == "hostnames" })
}

// named says whether the string is what an object is called by, which those who read messages must be told.
func (t trial) named() bool {
	last := t.place.path[len(t.place.path)-1]
	return last == "name" || last == "sectionName" || last == "namespace" || last == "gatewayClassName"
}

// alike says whether two outcomes differ in nothing but strings.
func (t trial) alike(want, got outcome) bool {
	if len(want.objects) != len(got.objects) {
		return false
	}
	for i, w := range want.objects {
		g := got.objects[i]
		if t.nameDepends(i) {
			w.name = g.name
		}
		if !cmp.Equal(w, g, cmp.AllowUnexported(made{})) {
			return false
		}
	}
	return true
}

// nameDepends says whether the name of an object is made of the string.
func (t trial) nameDepends(i int) bool {
	a, b := t.expected[1].objects, t.expected[2].objects
	return i >= len(a) || i >= len(b) || a[i].name != b[i].name
}

// partly says whether an outcome lacks only what is said to be wrong: each of its objects is there with a harmless string, too.
func (t trial) partly(got outcome) bool {
	if len(got.problems) == 0 {
		return false
	}
	for _, g := range got.objects {
		known := slices.ContainsFunc(t.expected, func(e outcome) bool {
			return slices.ContainsFunc(e.objects, func(w made) bool {
				w.name = g.name
				return cmp.Equal(w, g, cmp.AllowUnexported(made{}))
			})
		})
		if !known {
			return false
		}
	}
	return true
}

var everything = flag.Bool("everything", false, "try all hostile strings in all places, which takes minutes")

// sample is how many places share one run through the hostile strings, where they are not values.
const sample = 24

func TestNoStringTurnsAShippedBlueprint(t *testing.T) {
	t.Parallel()
	tried := map[string]bool{}
	for _, s := range scenes(t) {
		var thorough []bool
		places := s.places()
		for _, p := range places {
			value := path.Dir(s.name) + spell(p.path)
			thorough = append(thorough, *everything || s.isValue(p) && !tried[value])
			tried[value] = true
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for i, p := range places {
				trial := s.trial(p)
				for j, text := range hostile.Strings {
					if thorough[i] || (i+j)%sample == 0 {
						trial.check(t, text)
					}
				}
			}
		})
	}
}

// FuzzShipped looks for a string that turns a shipped blueprint in some place.
func FuzzShipped(f *testing.F) {
	trials := allTrials(f)
	for i, text := range hostile.Strings {
		f.Add(text, uint(i*len(trials)/len(hostile.Strings)))
	}
	f.Fuzz(func(t *testing.T, text string, place uint) {
		trials[place%uint(len(trials))]().check(t, text)
	})
}

func TestNoMadeUpStringTurnsAShippedBlueprint(t *testing.T) {
	trials := allTrials(t)
	place := 0
	for text := range hostile.Mutants(hostile.Strings, 1000) {
		// Far enough to come by all blueprints.
		place = (place + 101) % len(trials)
		trials[place]().check(t, text)
	}
}

// allTrials are the trials of all places, each prepared when it is asked for.
func allTrials(t testing.TB) []func() trial {
	t.Helper()
	var trials []func() trial
	for _, s := range scenes(t) {
		for _, p := range s.places() {
			trials = append(trials, sync.OnceValue(func() trial { return s.trial(p) }))
		}
	}
	return trials
}
