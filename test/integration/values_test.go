package integration_test

import (
	"maps"
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// level is one of the six sources of values, from the least to the most specific.
type level struct {
	// name is also the leaf that only this level sets.
	name   string
	source client.Object
	blocks func() *v1alpha1.ValuesBlocks
}

// levels makes one source of each level. In its default block each sets its own leaf and "default", in its override block
// its own other leaf and "override", so that the two shared ones tell who has the last word.
func (w *world) levels() []level {
	blocks := func(name string) v1alpha1.ValuesBlocks {
		return v1alpha1.ValuesBlocks{
			Default:  tree2JSON(map[string]string{name + "-default": "first", "default": name}),
			Override: tree2JSON(map[string]string{name + "-override": "first", "override": name}),
		}
	}
	blueprint := w.class(templates{"values": valuesTemplate}, with(blocks("l1")))
	global := classConfig(w.name, target("GatewayClass", w.name), blocks("l2"))
	global.Namespace = systemNamespace
	inNamespace := classConfig("namespace", target("Namespace", w.namespace), blocks("l3"))
	ofClass := classConfig("class", target("GatewayClass", w.name), blocks("l4"))
	tenant := config("namespace", target("Namespace", w.namespace), blocks("l5"))
	own := config("gateway", target("Gateway", "edge"), blocks("l6"))
	for _, policy := range []client.Object{global, inNamespace, ofClass, tenant, own} {
		w.create(policy)
	}
	return []level{
		{"l1", blueprint, func() *v1alpha1.ValuesBlocks { return &blueprint.Spec.Values.ValuesBlocks }},
		{"l2", global, func() *v1alpha1.ValuesBlocks { return &global.Spec.ValuesBlocks }},
		{"l3", inNamespace, func() *v1alpha1.ValuesBlocks { return &inNamespace.Spec.ValuesBlocks }},
		{"l4", ofClass, func() *v1alpha1.ValuesBlocks { return &ofClass.Spec.ValuesBlocks }},
		{"l5", tenant, func() *v1alpha1.ValuesBlocks { return &tenant.Spec.ValuesBlocks }},
		{"l6", own, func() *v1alpha1.ValuesBlocks { return &own.Spec.ValuesBlocks }},
	}
}

func TestAValueOfEachLevelReachesWhatIsRendered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	levels := w.levels()
	w.gateway("edge")

	want := map[string]string{"default": "l6", "override": "l1"}
	for _, l := range levels {
		want[l.name+"-default"], want[l.name+"-override"] = "first", "first"
	}
	becomes(t, "the values of all levels are rendered", want, w.data("edge"))

	for _, l := range levels {
		change(w, l.source, func(client.Object) {
			l.blocks().Default = tree2JSON(map[string]string{l.name + "-default": "changed", "default": l.name})
		})
		want[l.name+"-default"] = "changed"
		becomes(t, "a default of "+l.name+" changes", want, w.data("edge"))

		change(w, l.source, func(client.Object) {
			l.blocks().Override = tree2JSON(map[string]string{l.name + "-override": "changed", "override": l.name})
		})
		want[l.name+"-override"] = "changed"
		becomes(t, "an override of "+l.name+" changes", want, w.data("edge"))
	}
}

func TestALevelThatGoesLeavesTheNextOneTheWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	levels := w.levels()
	w.gateway("edge")

	want := map[string]string{"default": "l6", "override": "l1"}
	for _, l := range levels {
		want[l.name+"-default"], want[l.name+"-override"] = "first", "first"
	}
	becomes(t, "the values of all levels are rendered", maps.Clone(want), w.data("edge"))

	for i, l := range slices.Backward(levels[1:]) {
		w.delete(l.source)
		delete(want, l.name+"-default")
		delete(want, l.name+"-override")
		want["default"] = levels[i].name
		becomes(t, l.name+" is deleted", want, w.data("edge"))
	}
}
