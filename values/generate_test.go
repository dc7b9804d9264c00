package values

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// levelsToGateway are the levels of policies on the path to a Gateway.
var levelsToGateway = []Level{LevelClassGlobal, LevelClassNamespace, LevelClassLocal, LevelNamespace, LevelGatewaySelected, LevelGateway}

// drawn is a policy of a random set, with what a reference needs to know of it. Its level is LevelBlueprint for the
// blueprint.
type drawn struct {
	level            Level
	name             string
	created          int
	defaults         Tree // nil: no block
	override         Tree
	atomicD, atomicO bool
	constraints      []Tree
	removes          [][]string
}

// generator draws policy sets. Choose returns a number below n.
type generator struct {
	choose func(n int) int
	// plain leaves out nulls, atomic blocks, constraints and removals.
	plain bool
	// marked draws the lists that generatedMarks merges.
	marked bool
	count  int64
}

func (g *generator) chance(percent int) bool { return g.choose(100) < percent }

// set draws up to seven policies and perhaps a blueprint.
func (g *generator) set() []drawn {
	var set []drawn
	if g.chance(60) {
		d := g.policy(LevelBlueprint, "bp")
		d.removes = nil
		set = append(set, d)
	}
	for i := range g.choose(8) {
		set = append(set, g.policy(levelsToGateway[g.choose(len(levelsToGateway))], fmt.Sprintf("p%d", i)))
	}
	return set
}

// removed draws a key to remove, which may be the name of an item.
func (g *generator) removed() string {
	if g.marked && g.chance(30) {
		return []string{"name=a", "name=b", "a", "name"}[g.choose(4)]
	}
	return g.key()
}

func (g *generator) policy(level Level, name string) drawn {
	d := drawn{level: level, name: name, created: g.choose(3)}
	if g.chance(75) {
		d.defaults = g.tree(0)
	}
	if g.chance(35) {
		d.override = g.tree(0)
	}
	if g.plain {
		return d
	}
	d.atomicD, d.atomicO = g.chance(20), g.chance(15)
	for range g.choose(5) / 3 {
		d.constraints = append(d.constraints, g.tree(1))
	}
	for range g.choose(6) / 4 {
		path := []string{g.key()}
		for len(path) < 3 && g.chance(50) {
			path = append(path, g.removed())
		}
		d.removes = append(d.removes, path)
	}
	return d
}

func (g *generator) key() string { return []string{"a", "b", "c/~d", ""}[g.choose(4)] }

func (g *generator) tree(depth int) Tree {
	tree := Tree{}
	for range g.choose(4) {
		tree[g.key()] = g.value(depth)
	}
	return tree
}

// value draws a value that is mostly unlike all others of the set.
func (g *generator) value(depth int) any {
	g.count++
	if depth < 3 && g.chance(50) {
		return g.tree(depth + 1)
	}
	switch g.choose(8) {
	case 0:
		return []any{}
	case 1:
		if g.marked {
			return g.list(depth)
		}
		return []any{g.count, Tree{"x": g.count}}
	case 2:
		return []any{false, int64(0), "", 1.5}[g.choose(4)]
	case 3:
		if !g.plain {
			return nil
		}
		return Tree{}
	default:
		return g.count
	}
}

// list draws a list whose items may be told apart by name, or one whose items are scalars. Now and then they cannot be.
func (g *generator) list(depth int) []any {
	list := []any{}
	named := g.chance(70)
	for range 1 + g.choose(3) {
		if !named {
			list = append(list, []any{"a", "b", int64(1), "1"}[g.choose(4)])
			continue
		}
		item := Tree{}
		if depth < 3 {
			item = g.tree(depth + 1)
		}
		item["name"] = []any{"a", "b", "c"}[g.choose(3)]
		list = append(list, item)
	}
	return list
}

// generatedMarks are for trees that are drawn: at each key and at each depth values merge in another way.
func generatedMarks(depth int) *Marks {
	if depth == 0 {
		return nil
	}
	below := generatedMarks(depth - 1)
	root := &Marks{Properties: map[string]*Marks{
		"a": {Merge: MergeByKey, Keys: []Key{{Name: "name"}}, Items: below}, "c/~d": {Merge: MergeSet}, "": {Merge: MergeAtomic},
	}}
	if below != nil {
		root.Properties["b"] = below
	}
	return root
}

// objects makes API objects of a set; the blueprint is nil if there is none.
func objects(t testing.TB, set []drawn) (b *v1alpha1.GatewayClassBlueprint, policies []v1alpha1.Policy) {
	t.Helper()
	for _, d := range set {
		if d.level == LevelBlueprint {
			b = &v1alpha1.GatewayClassBlueprint{Spec: v1alpha1.GatewayClassBlueprintSpec{Values: &v1alpha1.BlueprintValues{ValuesBlocks: d.blocks(t)}}}
			b.Name = d.name
			continue
		}
		s := spots[d.level]
		o := object(t, s.kind, s.namespace, d.name, d.created, "targetRef: "+refYAML(s.ref))
		o.PolicySpec().ValuesBlocks = d.blocks(t)
		for _, keys := range d.removes {
			o.PolicySpec().Remove = append(o.PolicySpec().Remove, pointerTo(keys))
		}
		policies = append(policies, o)
	}
	return b, policies
}

func (d *drawn) blocks(t testing.TB) v1alpha1.ValuesBlocks {
	t.Helper()
	v := v1alpha1.ValuesBlocks{Default: raw(t, d.defaults), Override: raw(t, d.override), Merge: &v1alpha1.ValuesMerge{
		Default: &v1alpha1.BlockMerge{}, Override: &v1alpha1.BlockMerge{},
	}}
	if d.atomicD {
		v.Merge.Default.Strategy = v1alpha1.StrategyAtomic
	}
	if d.atomicO {
		v.Merge.Override.Strategy = v1alpha1.StrategyAtomic
	}
	for i, c := range d.constraints {
		v.Constraints = append(v.Constraints, v1alpha1.Constraint{Name: fmt.Sprintf("c%d", i), When: "true", Override: raw(t, c)})
	}
	return v
}

func raw(t testing.TB, tree Tree) *apiextensionsv1.JSON {
	t.Helper()
	if tree == nil {
		return nil
	}
	data, err := utiljson.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return &apiextensionsv1.JSON{Raw: data}
}

// parsed makes sources of a set.
func parsed(t testing.TB, set []drawn) (bp *Policy, policies []*Policy) {
	t.Helper()
	return parsedWith(t, set, nil)
}

// parsedWith makes sources of a set, whose blueprint has a schema; if there is a schema there is a blueprint.
func parsedWith(t testing.TB, set []drawn, schema Schema) (bp *Policy, policies []*Policy) {
	t.Helper()
	b, list := objects(t, set)
	if b == nil && schema != nil {
		b = &v1alpha1.GatewayClassBlueprint{}
	}
	if b != nil {
		p, v := ParseBlueprint(b, schema)
		if !v.OK {
			t.Fatal(v.Message)
		}
		bp = p
	}
	for _, o := range list {
		policies = append(policies, mustParse(t, o))
	}
	return bp, policies
}

// copied is a deep copy of a tree.
func copied(tree Tree) Tree { return runtime.DeepCopyJSON(tree) }
