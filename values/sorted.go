package values

import (
	"maps"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// sorted adapts values for conditions. Those that go through a map, as exists does, go in the order of its keys, where CEL goes in
// the order of Go's maps, which is another one each time. What a condition costs, and so whether it can be looked at to its end,
// is then the same for the same values.
type sorted struct{}

// NativeToValue implements types.Adapter.
func (a sorted) NativeToValue(value any) ref.Val {
	if tree, ok := value.(Tree); ok {
		return sortedMap{types.NewStringInterfaceMap(a, tree), tree}
	}
	if list, ok := value.([]any); ok {
		return types.NewDynamicList(a, list)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

// sortedMap is a map of which the keys come in order.
type sortedMap struct {
	traits.Mapper
	tree Tree
}

// Iterator implements traits.Iterable.
func (m sortedMap) Iterator() traits.Iterator {
	return types.NewStringList(types.DefaultTypeAdapter, slices.Sorted(maps.Keys(m.tree))).Iterator()
}
