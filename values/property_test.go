package values

import (
	"cmp"
	"encoding/json"
	"math/rand"
	"slices"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	gocmp "github.com/google/go-cmp/cmp"
)

// eachSet draws policy sets, the same ones in every run.
func eachSet(t *testing.T, sets int, plain bool, check func(t *testing.T, r *rand.Rand, set []drawn)) {
	t.Helper()
	for seed := range int64(sets) {
		r := rand.New(rand.NewSource(seed))
		g := &generator{choose: r.Intn, plain: plain}
		check(t, r, g.set())
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
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
	eachSet(t, 1000, false, func(t *testing.T, r *rand.Rand, set []drawn) {
		bp, policies := parsed(t, set)
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
	eachSet(t, 1000, false, func(t *testing.T, _ *rand.Rand, set []drawn) {
		bp, policies := parsed(t, set)
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
	eachSet(t, 2000, false, func(t *testing.T, _ *rand.Rand, set []drawn) {
		bp, policies := parsed(t, set)
		e := Compute(bp, policies, gatewayTarget())
		var leaves, origins []string
		for key, value := range e.Tree {
			eachLeaf(pointer("", key), value, func(path string) { leaves = append(leaves, path) })
		}
		slices.Sort(leaves)
		for _, o := range e.Origins {
			origins = append(origins, o.Path)
			value, _ := Lookup(e.Tree, o.Path)
			if b := blockOf(bp, policies, o.Setter); !holdsLeaf(b, o.Path, value) {
				t.Errorf("%s: %s of %s does not hold %v", o.Path, o.Block, o.SetBy, value)
			}
		}
		if diff := gocmp.Diff(leaves, origins); diff != "" {
			t.Errorf("leaves and origins (-leaves +origins)\n%s", diff)
		}
	})
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

// holdsLeaf says whether a block holds that very value at a path. Where the value is an empty map, the block may hold any
// map: nulls and removals may have emptied it.
func holdsLeaf(b *block, path string, value any) bool {
	held, ok := Lookup(b.tree, path)
	if _, isMap := held.(Tree); isMap {
		held = Tree{}
	}
	return ok && gocmp.Equal(value, held)
}

// TestTheSetterIsWhoDecides takes each leaf from its setter, which must change the values or who sets them.
func TestTheSetterIsWhoDecides(t *testing.T) {
	eachSet(t, 400, false, func(t *testing.T, _ *rand.Rand, set []drawn) {
		bp, policies := parsed(t, set)
		before := Compute(bp, policies, gatewayTarget())
		for i, o := range before.Origins {
			b := blockOf(bp, policies, o.Setter)
			whole := b.tree
			b.tree = without(b.tree, keysOf(o.Path))
			after := Compute(bp, policies, gatewayTarget())
			b.tree = whole
			if gocmp.Equal(before.Tree, after.Tree) && gocmp.Equal(before.Origins[i], after.Origins[min(i, len(after.Origins)-1)]) {
				t.Errorf("%s: without %s of %s nothing changes", o.Path, o.Block, o.SetBy)
			}
		}
	})
}
