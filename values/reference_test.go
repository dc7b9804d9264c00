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
// the package, except for the names of list items, which the specification leaves open. Conditions are left out; constraints
// always apply.
func naive(set []drawn, marks *Marks) Tree {
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
					strip(marks, stripped[i].(map[string]any), path)
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
			if d.level > above && (defaultStands[i] && says(marks, stripped[i]) || overrideStands(i) && says(marks, any(d.override))) {
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
				result = patch(marks, result, stripped[i])
			}
		}
	}
	for at := LevelRule; at > 0; at-- {
		for i, d := range slices.Backward(set) {
			if d.level == at && overrideStands(i) && d.level <= cut {
				result = patch(marks, result, clone(d.override))
			}
		}
		for _, d := range slices.Backward(set) {
			for _, c := range d.constraints {
				if d.level == at && d.level <= cut {
					result = patch(marks, result, clone(c))
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

// patch is MergePatch of RFC 7386, section 2, and merges what is marked as it is marked.
func patch(m *Marks, target, p any) any {
	if items, ok := named(m, p); ok {
		into, _ := named(m, target)
		for _, item := range items {
			at := slices.IndexFunc(into, func(other any) bool { return nameOf(m, other) == nameOf(m, item) })
			switch {
			case at < 0 && m.Merge == MergeSet:
				into = append(into, item)
			case at < 0:
				into = append(into, patch(m.Items, nil, item))
			case m.Merge == MergeByKey:
				into[at] = patch(m.Items, into[at], item)
			}
		}
		return into
	}
	object, ok := p.(map[string]any)
	if !ok {
		return p
	}
	if m != nil && m.Merge != MergeDefault {
		return patch(nil, nil, p)
	}
	into, ok := target.(map[string]any)
	if !ok {
		into = map[string]any{}
	}
	for key, value := range object {
		if value == nil {
			delete(into, key)
		} else {
			into[key] = patch(m.property(key), into[key], value)
		}
	}
	return into
}

// named are the items of a list that is merged, if it is one.
func named(m *Marks, value any) ([]any, bool) {
	list, ok := value.([]any)
	if !ok || m == nil || m.Merge != MergeByKey && m.Merge != MergeSet {
		return nil, false
	}
	if _, ok := m.names(list); !ok {
		return nil, false
	}
	return append([]any{}, list...), true
}

func nameOf(m *Marks, item any) string {
	name, _ := m.name(item)
	return name
}

// strip deletes a path and the maps and lists that this leaves empty.
func strip(m *Marks, object map[string]any, path []string) {
	value, ok := object[path[0]]
	if !ok {
		return
	}
	if len(path) == 1 {
		delete(object, path[0])
		return
	}
	m = m.property(path[0])
	if items, ok := named(m, value); ok {
		if items = stripItem(m, items, path[1:]); len(items) > 0 || len(value.([]any)) == 0 {
			object[path[0]] = items
		} else {
			delete(object, path[0])
		}
		return
	}
	if below, ok := value.(map[string]any); ok && len(below) > 0 && (m == nil || m.Merge == MergeDefault) {
		if strip(m, below, path[1:]); len(below) == 0 {
			delete(object, path[0])
		}
	}
}

// stripItem deletes an item, or something in it but its key.
func stripItem(m *Marks, items []any, path []string) []any {
	at := slices.IndexFunc(items, func(item any) bool { return nameOf(m, item) == path[0] })
	switch {
	case at < 0:
	case len(path) == 1:
		items = slices.Delete(items, at, at+1)
	case m.Merge == MergeByKey && (len(path) > 2 || path[1] != m.Keys[0].Name):
		strip(m.Items, items[at].(map[string]any), path[1:])
	}
	return items
}

// says is whether a tree has a leaf that is neither null nor an empty map or list of items.
func says(m *Marks, value any) bool {
	if items, ok := named(m, value); ok {
		return len(items) > 0
	}
	object, ok := value.(map[string]any)
	if !ok || m != nil && m.Merge != MergeDefault {
		return value != nil
	}
	for key, below := range object {
		if says(m.property(key), below) {
			return true
		}
	}
	return false
}

// inOrder sorts the lists that are merged by the names of their items: the order is no part of the reference.
func inOrder(m *Marks, value any) any {
	if items, ok := named(m, value); ok {
		slices.SortFunc(items, func(a, b any) int { return cmp.Compare(nameOf(m, a), nameOf(m, b)) })
		for i, item := range items {
			if m.Merge == MergeByKey {
				items[i] = inOrder(m.Items, item)
			}
		}
		return items
	}
	object, ok := value.(map[string]any)
	if !ok || m != nil && m.Merge != MergeDefault {
		return value
	}
	sorted := map[string]any{}
	for key, below := range object {
		sorted[key] = inOrder(m.property(key), below)
	}
	return sorted
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
	eachSet(t, 3000, false, func(t *testing.T, _ *rand.Rand, set []drawn) { checkReference(t, set, nil) })
}

func TestComputeEqualsANaiveReferenceWithMarks(t *testing.T) {
	draw(t, 3000, generator{marked: true}, func(t *testing.T, _ *rand.Rand, set []drawn) { checkReference(t, set, generatedMarks(4)) })
}

// FuzzMerge draws policy sets from the input, of which the first byte says whether lists are merged.
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
		var marks *Marks
		if g.marked = g.chance(50); g.marked {
			marks = generatedMarks(4)
		}
		checkReference(t, g.set(), marks)
	})
}

func checkReference(t *testing.T, set []drawn, marks *Marks) {
	t.Helper()
	var schema Schema
	if marks != nil {
		schema = fakeSchema{marks: marks}
	}
	bp, policies := parsedWith(t, set, schema)
	e := Compute(bp, policies, gatewayTarget())
	if diff := gocmp.Diff(inOrder(marks, naive(set, marks)), inOrder(marks, e.Tree)); diff != "" {
		t.Errorf("(-reference +got)\n%s", diff)
	}
	if _, err := json.Marshal(e); err != nil {
		t.Error(err)
	}
}
