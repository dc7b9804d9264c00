package values

import (
	"maps"

	"dario.cat/mergo"
	"k8s.io/apimachinery/pkg/runtime"
)

// fold lays the layers over each other, the weakest first.
func fold(layers []*layer) Tree {
	tree := Tree{}
	for _, l := range layers {
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

// leafKind tells leaves apart.
type leafKind int

const (
	// leafValue is a scalar or a list.
	leafValue leafKind = iota
	// leafEmpty is an empty map: it replaces what is no map and leaves maps alone.
	leafEmpty
	// leafNull deletes.
	leafNull
)

// leafOf says of what kind a leaf is, or that the value is none, but a map with something in it. It sees the tree of a layer,
// which overlay merges, so both always go equally deep; see shape for what a schema's marks make of it.
func leafOf(value any) (kind leafKind, leaf bool) {
	switch value := value.(type) {
	case nil:
		return leafNull, true
	case Tree:
		return leafEmpty, len(value) == 0
	default:
		return leafValue, true
	}
}

// setsLeaf says whether a tree has a leaf that is a value.
func setsLeaf(tree Tree) bool {
	for _, value := range tree {
		if kind, leaf := leafOf(value); leaf && kind == leafValue || !leaf && setsLeaf(value.(Tree)) {
			return true
		}
	}
	return false
}

// eachLeaf calls visit with the path of every leaf at or below a value that stands at a path.
func eachLeaf(path string, value any, visit func(path string)) {
	if _, leaf := leafOf(value); leaf {
		visit(path)
		return
	}
	for key, below := range value.(Tree) {
		eachLeaf(Pointer(path, key), below, visit)
	}
}

// remove strips a path from a default and adds what was there to what was removed.
func (l *layer) remove(r *remover, removed []Removal) []Removal {
	if r.isKey {
		return removed
	}
	value, found := lookup(l.tree, r.keys)
	if !found {
		_, gone := lookup(l.whole, r.keys) // somebody else's removal struck first
		r.struck = r.struck || gone
		return removed
	}
	r.struck = true
	eachLeaf(r.path, value, func(path string) {
		removed = append(removed, Removal{Path: path, Setter: l.setter, By: r.setter})
	})
	l.tree = without(l.tree, r.keys)
	return removed
}

// without is the tree less what is at a path, and less the maps that this leaves empty. The tree stays as it is, and shares
// what is beside the path.
func without(tree Tree, keys []string) Tree {
	rest := maps.Clone(tree)
	if len(keys) > 1 {
		below := without(tree[keys[0]].(Tree), keys[1:])
		if len(below) > 0 {
			rest[keys[0]] = below
			return rest
		}
	}
	delete(rest, keys[0])
	return rest
}
