package values

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	gocmp "github.com/google/go-cmp/cmp"
)

// eachSet draws policy sets, the same ones in every run.
func eachSet(t *testing.T, sets int, plain bool, check func(t *testing.T, r *rand.Rand, set []drawn)) {
	t.Helper()
	draw(t, sets, generator{plain: plain}, check)
}

func draw(t *testing.T, sets int, kind generator, check func(t *testing.T, r *rand.Rand, set []drawn)) {
	t.Helper()
	for seed := range int64(sets) {
		r := rand.New(rand.NewSource(seed))
		g := kind
		g.choose = r.Intn
		check(t, r, g.set())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// eachSetAndSchema draws policy sets without a schema, and such that fit to the marks of one.
func eachSetAndSchema(t *testing.T, sets int, check func(t *testing.T, r *rand.Rand, set []drawn, schema Schema)) {
	t.Helper()
	draw(t, sets, generator{}, func(t *testing.T, r *rand.Rand, set []drawn) { check(t, r, set, nil) })
	filled := filling(generatedMarks(4), Tree{"b": Tree{"b": Tree{"filled": int64(-1)}}, "filled": Tree{"x": int64(-1)}})
	draw(t, sets/2, generator{marked: true}, func(t *testing.T, r *rand.Rand, set []drawn) { check(t, r, set, filled) })
}

// TestMergeEqualsRFC7386 folds JSON merge patches, by another implementation, in the order of precedence.
func TestMergeEqualsRFC7386(t *testing.T) {
	eachSet(t, 6000, true, func(t *testing.T, _ *rand.Rand, set []drawn) {
		byAge := func(a, b drawn) int { // the newest first
			return -cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.name, b.name))
		}
		var patches []Tree
		slices.SortFunc(set, func(a, b drawn) int { return cmp.Or(cmp.Compare(a.level, b.level), byAge(a, b)) })
		for _, d := range set {
			patches = append(patches, d.defaults)
		}
		slices.SortFunc(set, func(a, b drawn) int { return cmp.Or(-cmp.Compare(a.level, b.level), byAge(a, b)) })
		for _, d := range set {
			patches = append(patches, d.override)
		}
		want := []byte("{}")
		for _, patch := range patches {
			if patch == nil {
				continue
			}
			merged, err := jsonpatch.MergePatch(want, raw(t, patch).Raw)
			if err != nil {
				t.Fatal(err)
			}
			want = merged
		}
		bp, policies := parsed(t, set)
		got, err := json.Marshal(Compute(bp, policies, gatewayTarget()).Tree)
		if err != nil {
			t.Fatal(err)
		}
		if !jsonpatch.Equal(want, got) {
			t.Errorf("want %s\ngot  %s", want, got)
		}
	})
}

func TestOrderOfInputsDoesNotMatter(t *testing.T) {
	eachSetAndSchema(t, 1000, func(t *testing.T, r *rand.Rand, set []drawn, schema Schema) {
		bp, policies := parsedWith(t, set, schema)
		want := Compute(bp, policies, gatewayTarget())
		r.Shuffle(len(policies), func(i, j int) { policies[i], policies[j] = policies[j], policies[i] })
		if diff := gocmp.Diff(want, Compute(bp, policies, gatewayTarget())); diff != "" {
			t.Error(diff)
		}
	})
}

// TestInputsAndResultShareNothing changes every part of a result, which must leave the sources alone, and every part of the
// sources, which must leave a result alone.
func TestInputsAndResultShareNothing(t *testing.T) {
	eachSetAndSchema(t, 1000, func(t *testing.T, _ *rand.Rand, set []drawn, schema Schema) {
		bp, policies := parsedWith(t, set, schema)
		sources := append(slices.Clone(policies), bp)
		first := Compute(bp, policies, gatewayTarget())
		want := copied(first.Tree)
		spoil(first.Tree)
		second := Compute(bp, policies, gatewayTarget())
		if diff := gocmp.Diff(want, second.Tree); diff != "" {
			t.Errorf("a changed result changed a source\n%s", diff)
		}
		for _, p := range sources {
			eachBlock(p, func(b *block) { spoil(b.tree) })
		}
		if diff := gocmp.Diff(want, second.Tree); diff != "" {
			t.Errorf("a changed source changed a result\n%s", diff)
		}
	})
}

// spoil changes a value in every part that can be changed in place.
func spoil(value any) {
	switch value := value.(type) {
	case Tree:
		for key, below := range value {
			spoil(below)
			if _, isMap := below.(Tree); !isMap {
				value[key] = "spoilt"
			}
		}
		value["spoilt"] = true
	case []any:
		for i, below := range value {
			spoil(below)
			value[i] = "spoilt"
		}
	}
}

func eachBlock(p *Policy, visit func(*block)) {
	if p == nil {
		return
	}
	for _, b := range append([]*block{p.defaults, p.overrides}, p.constraints...) {
		if b != nil {
			visit(b)
		}
	}
}

// TestEveryLeafHasOneSetterThatHoldsIt holds the tree and its provenance together.
func TestEveryLeafHasOneSetterThatHoldsIt(t *testing.T) {
	eachSetAndSchema(t, 2000, func(t *testing.T, _ *rand.Rand, set []drawn, schema Schema) {
		bp, policies := parsedWith(t, set, schema)
		e := Compute(bp, policies, gatewayTarget())
		_, marks := contractOf(bp)
		var leaves []leafAt
		if len(e.Tree) > 0 {
			leaves = leavesOf(marks, "", nil, e.Tree)
		}
		slices.SortFunc(leaves, func(a, b leafAt) int { return cmp.Compare(a.path, b.path) })
		var origins, paths []string
		for _, o := range e.Origins {
			origins = append(origins, o.Path)
		}
		for i, leaf := range leaves {
			paths = append(paths, leaf.path)
			if i >= len(e.Origins) || e.Origins[i].Block == BlockSchema {
				continue
			}
			o := e.Origins[i]
			if b := blockOf(bp, policies, o.Setter); !leaf.isHeldBy(b.tree) {
				t.Errorf("%s: %s of %s does not hold %v", o.Path, o.Block, o.SetBy, leaf.value)
			}
		}
		if diff := gocmp.Diff(paths, origins); diff != "" {
			t.Errorf("leaves and origins (-leaves +origins)\n%s", diff)
		}
	})
}

// leafAt is a leaf of a result, and how to find its place in a block: by keys, which are texts, and by items of lists that are
// merged.
type leafAt struct {
	path  string
	value any
	marks *Marks
	steps []any
	// exact says that the block holds just that, as it does for an item of a set.
	exact bool
}

// itemOf is an item to find in a list, by its name.
type itemOf struct {
	marks *Marks
	item  any
}

func leavesOf(m *Marks, path string, steps []any, value any) []leafAt {
	var leaves []leafAt
	object, _ := value.(Tree)
	list, _ := value.([]any)
	merge := MergeDefault
	if m != nil {
		merge = m.Merge
	}
	if merge == MergeDefault && len(object) > 0 {
		for key, below := range object {
			leaves = append(leaves, leavesOf(m.property(key), Pointer(path, key), append(slices.Clone(steps), key), below)...)
		}
		return leaves
	}
	if merge != MergeDefault && merge != MergeAtomic && len(list) > 0 {
		if _, merged := m.names(list); merged {
			for i, item := range list {
				at, found := fmt.Sprintf("%s/%d", path, i), append(slices.Clone(steps), itemOf{m, item})
				if merge == MergeSet {
					leaves = append(leaves, leafAt{path: at, value: item, steps: found, exact: true})
				} else {
					leaves = append(leaves, leavesOf(m.Items, at, found, item)...)
				}
			}
			return leaves
		}
	}
	return []leafAt{{path: path, value: value, marks: m, steps: steps}}
}

// isHeldBy says whether a block's tree holds that very value at the place. Where the value is an empty map, the block may hold
// any map: nulls and removals may have emptied it. A null in a map that is one leaf is nothing.
func (l leafAt) isHeldBy(tree Tree) bool {
	var held any = tree
	for _, step := range l.steps {
		below, ok := counterpart(held, step)
		if !ok {
			return false
		}
		held = below
	}
	if object, isMap := held.(Tree); isMap && !l.exact {
		held = Tree{}
		if l.marks != nil && l.marks.Merge != MergeDefault {
			held = withoutNulls(object)
		}
	}
	return gocmp.Equal(l.value, held)
}

func counterpart(value, step any) (any, bool) {
	wanted, isItem := step.(itemOf)
	if !isItem {
		object, _ := value.(Tree)
		below, ok := object[step.(string)]
		return below, ok
	}
	list, _ := value.([]any)
	name, _ := wanted.marks.name(wanted.item)
	for _, item := range list {
		if other, ok := wanted.marks.name(item); ok && other == name {
			return item, true
		}
	}
	return nil, false
}

func blockOf(bp *Policy, policies []*Policy, s Setter) *block {
	for _, p := range append(slices.Clone(policies), bp) {
		if p == nil || p.Ref() != s.SetBy {
			continue
		}
		var found *block
		eachBlock(p, func(b *block) {
			if b.name == s.Block {
				found = b
			}
		})
		return found
	}
	return nil
}

// TestTheSetterIsWhoDecides takes each leaf from its setter, which must change the values, unless one of those that it shadows
// has the same there.
func TestTheSetterIsWhoDecides(t *testing.T) {
	eachSet(t, 400, false, func(t *testing.T, _ *rand.Rand, set []drawn) {
		bp, policies := parsed(t, set)
		before := Compute(bp, policies, gatewayTarget())
		for _, o := range before.Origins {
			b := blockOf(bp, policies, o.Setter)
			whole := b.tree
			b.tree = without(b.tree, keysOf(o.Path))
			after := Compute(bp, policies, gatewayTarget())
			b.tree = whole
			value, _ := Lookup(before.Tree, o.Path)
			_, isMap := value.(Tree)
			same := func(s Setter) bool {
				held, _ := lookup(blockOf(bp, policies, s).tree, keysOf(o.Path))
				_, holdsMap := held.(Tree)
				return isMap && holdsMap || gocmp.Equal(held, value)
			}
			if gocmp.Equal(before.Tree, after.Tree) && !slices.ContainsFunc(o.Shadowed, same) {
				t.Errorf("%s: without %s of %s nothing changes", o.Path, o.Block, o.SetBy)
			}
		}
	})
}

// TestNoLeafIsLost looks for each leaf of each active block in the provenance: it is in the result, or somebody took it away, or an
// origin at its place, above or below tells that it is shadowed, or else it is hidden.
func TestNoLeafIsLost(t *testing.T) {
	eachSetAndSchema(t, 1500, func(t *testing.T, _ *rand.Rand, set []drawn, schema Schema) {
		bp, policies := parsedWith(t, set, schema)
		e := Compute(bp, policies, gatewayTarget())
		for _, p := range append(slices.Clone(policies), bp) {
			if p == nil {
				continue
			}
			eachBlock(p, func(b *block) {
				active := !slices.ContainsFunc(e.Inactive, func(i Inactive) bool { return i.SetBy == p.Ref() && i.Block == b.name })
				eachLeaf("", b.tree, func(path string) {
					value, _ := lookup(b.tree, keysOf(path))
					list, isList := value.([]any)
					if kind, _ := leafOf(value); active && kind == leafValue && (!isList || len(list) > 0 || schema == nil) {
						if schema != nil {
							path = Pointer("", keysOf(path)[0]) // below it, marks may have made other leaves
						}
						checkTold(t, &e, p.Ref()+" "+b.name, path)
					}
				})
			})
		}
		for _, h := range e.Hidden {
			if told := tellers(&e, h.SetBy+" "+h.Block, h.Path); schema == nil && len(told) > 0 {
				t.Errorf("%s of %s is hidden, and yet the origin of %s tells of it", h.Path, h.SetBy, told[0])
			}
		}
	})
}

// checkTold checks that the provenance tells what became of what a block has at a path.
func checkTold(t *testing.T, e *Effective, block, path string) {
	t.Helper()
	isIt := func(source, name, at string) bool {
		return source+" "+name == block && below(at, path)
	}
	told := len(tellers(e, block, path)) > 0
	for _, o := range e.Origins {
		told = told || isIt(o.SetBy, o.Block, o.Path)
	}
	for _, r := range e.Removed {
		told = told || isIt(r.SetBy, r.Block, r.Path)
	}
	for _, h := range e.Hidden {
		told = told || isIt(h.SetBy, h.Block, h.Path)
	}
	if !told {
		t.Errorf("nothing is told of %s of %s", path, block)
	}
}

// tellers are the paths of the origins at a place, above or below, that name a block as shadowed.
func tellers(e *Effective, block, path string) []string {
	var paths []string
	for _, o := range e.Origins {
		if !below(o.Path, path) && !below(path, o.Path) {
			continue
		}
		if slices.ContainsFunc(o.Shadowed, func(s Setter) bool { return s.SetBy+" "+s.Block == block }) {
			paths = append(paths, o.Path)
		}
	}
	return paths
}

func below(path, top string) bool { return path == top || strings.HasPrefix(path, top+"/") }

// TestASchemaThatSaysNothingChangesNothing computes each set with marks that have no meaning for merging, too.
func TestASchemaThatSaysNothingChangesNothing(t *testing.T) {
	nothing := fakeSchema{marks: &Marks{SettableBy: PartyTenant, Properties: map[string]*Marks{"a": {Additional: &Marks{SettableBy: PartyTenant}}}}}
	eachSet(t, 500, false, func(t *testing.T, _ *rand.Rand, set []drawn) {
		without, policies := parsed(t, set)
		if without == nil {
			return
		}
		with, _ := parsedWith(t, set, nothing)
		if diff := gocmp.Diff(Compute(without, policies, gatewayTarget()), Compute(with, policies, gatewayTarget())); diff != "" {
			t.Errorf("(-without a schema +with one)\n%s", diff)
		}
	})
}
