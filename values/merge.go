package values

import (
	"dario.cat/mergo"
	"k8s.io/apimachinery/pkg/runtime"
)

// fold lays the layers over each other, the weakest first.
func fold(stack []*layer) Tree {
	tree := Tree{}
	for _, l := range stack {
		overlay(tree, l.tree)
	}
	return tree
}

// overlay lays a tree over dst in place, as RFC 7386 does it: maps are merged, all else is replaced, null deletes. The tree
// is copied first, as mergo puts parts of its source into its destination.
//
// Mergo has no error for two maps of the same type, which both are.
func overlay(dst, tree Tree) {
	_ = mergo.Merge(&dst, runtime.DeepCopyJSON(tree), mergo.WithOverride)
	dropNulls(dst, tree)
}

// dropNulls deletes from dst what is null in a tree that was just laid over it. Mergo knows null as a value only.
func dropNulls(dst, tree Tree) {
	for key, value := range tree {
		switch value := value.(type) {
		case nil:
			delete(dst, key)
		case Tree:
			if below, ok := dst[key].(Tree); ok {
				dropNulls(below, value)
			}
		}
	}
}
