package values

import (
	"cmp"
	"encoding/json"
	"math/rand"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

// naive computes the values of a set as the specification says it, one sentence after the other, and shares no code with
// the package. Conditions are left out; constraints always apply.
func naive(set []drawn) Tree {
	older := func(a, b drawn) int { return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.name, b.name)) }
	set = slices.Clone(set)
	slices.SortFunc(set, func(a, b drawn) int { return cmp.Or(cmp.Compare(a.level, b.level), older(a, b)) })

	// Removals strip the defaults of strictly less specific levels.
	stripped := make([]any, len(set))
	for i, d := range set {
		if d.defaults == nil {
			continue
		}
		stripped[i] = clone(d.defaults)
		for _, other := range set {
			for _, path := range other.removes {
				if other.level > d.level {
					strip(stripped[i].(map[string]any), path)
				}
			}
		}
	}

	// An override stands unless an older sibling does with which it conflicts; likewise a default below.
	overrideStands := func(i int) bool {
		if set[i].override == nil {
			return false
		}
		return !conflicts(set, i, func(d drawn) bool { return d.override != nil }, func(d drawn) bool { return d.atomicO })
	}
	defaultStands := make([]bool, len(set))
	contributed := func(above Level) bool {
		for i, d := range set {
			if d.level > above && (defaultStands[i] && says(stripped[i]) || overrideStands(i) && says(any(d.override))) {
				return true
			}
		}
		return false
	}
	for _, level := range slices.Backward([]Level{LevelBlueprint, LevelClassGlobal, LevelClassNamespace, LevelClassLocal, LevelNamespace, LevelGatewaySelected, LevelGateway}) {
		superseded := contributed(level)
		for i, d := range set {
			if d.level == level && d.defaults != nil && !(d.atomicD && superseded) {
				applies := func(o drawn) bool { return o.defaults != nil && !(o.atomicD && superseded) }
				defaultStands[i] = !conflicts(set, i, applies, func(d drawn) bool { return d.atomicD })
			}
		}
	}

	// The least specific atomic override deletes all of its own and of more specific levels.
	cut := LevelRule + 1
	for i, d := range set {
		if overrideStands(i) && d.atomicO {
			cut = min(cut, d.level)
		}
	}
	var result any = map[string]any{}
	for at := range LevelRule + 1 {
		for i, d := range slices.Backward(set) {
			if d.level == at && defaultStands[i] && d.level < cut {
				result = patch(result, stripped[i])
			}
		}
	}
	for at := LevelRule; at > 0; at-- {
		for i, d := range slices.Backward(set) {
			if d.level == at && overrideStands(i) && d.level <= cut {
				result = patch(result, clone(d.override))
			}
		}
		for _, d := range slices.Backward(set) {
			for _, c := range d.constraints {
				if d.level == at && d.level <= cut {
					result = patch(result, clone(c))
				}
			}
		}
	}
	return result.(map[string]any)
}

// conflicts says whether the i-th of the sorted set has an older sibling that stands, one of the two being atomic.
func conflicts(set []drawn, i int, applies, atomic func(drawn) bool) bool {
	var standing []drawn
	for j, d := range set {
		if d.level != set[i].level || !applies(d) {
			continue
		}
		lost := false
		for _, s := range standing {
			lost = lost || atomic(s) || atomic(d)
		}
		if j == i {
			return lost
		}
		if !lost {
			standing = append(standing, d)
		}
	}
	return true
}

// patch is MergePatch of RFC 7386, section 2.
func patch(target, p any) any {
	object, ok := p.(map[string]any)
	if !ok {
		return p
	}
	into, ok := target.(map[string]any)
	if !ok {
		into = map[string]any{}
	}
	for key, value := range object {
		if value == nil {
			delete(into, key)
		} else {
			into[key] = patch(into[key], value)
		}
	}
	return into
}

// strip deletes a path and the maps that this leaves empty.
func strip(object map[string]any, path []string) {
	value, ok := object[path[0]]
	if !ok {
		return
	}
	if len(path) == 1 {
		delete(object, path[0])
		return
	}
	if below, ok := value.(map[string]any); ok && len(below) > 0 {
		if strip(below, path[1:]); len(below) == 0 {
			delete(object, path[0])
		}
	}
}

// says is whether a tree has a leaf that is neither null nor an empty map.
func says(value any) bool {
	object, ok := value.(map[string]any)
	if !ok {
		return value != nil
	}
	for _, below := range object {
		if says(below) {
			return true
		}
	}
	return false
}

func clone(value any) any {
	switch value := value.(type) {
	case map[string]any:
		object := map[string]any{}
		for key, below := range value {
			object[key] = clone(below)
		}
		return object
	case []any:
		list := []any{}
		for _, below := range value {
			list = append(list, clone(below))
		}
		return list
	default:
		return value
	}
}

func TestComputeEqualsANaiveReference(t *testing.T) {
	eachSet(t, 3000, false, func(t *testing.T, _ *rand.Rand, set []drawn) { checkReference(t, set) })
}

// FuzzMerge draws policy sets from the input.
func FuzzMerge(f *testing.F) {
	for seed := range int64(32) {
		input := make([]byte, 300)
		rand.New(rand.NewSource(seed)).Read(input)
		f.Add(input)
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		g := &generator{choose: func(n int) int {
			if len(input) == 0 {
				return 0
			}
			next := int(input[0]) % n
			input = input[1:]
			return next
		}}
		checkReference(t, g.set())
	})
}

func checkReference(t *testing.T, set []drawn) {
	t.Helper()
	bp, policies := parsed(t, set)
	e := Compute(bp, policies, gatewayTarget())
	if diff := gocmp.Diff(naive(set), e.Tree); diff != "" {
		t.Errorf("(-reference +got)\n%s", diff)
	}
	if _, err := json.Marshal(e); err != nil {
		t.Error(err)
	}
}
