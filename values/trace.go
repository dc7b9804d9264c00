package values

import (
	"cmp"
	"maps"
	"slices"
)

// holding is a leaf of a layer.
type holding struct {
	// layer is the index in the stack; -1 stands for none.
	layer int
	kind  leafKind
}

var none = holding{layer: -1}

// strongest is the one of the two holdings that is further up the stack.
func strongest(a, b holding) holding {
	if b.layer > a.layer {
		return b
	}
	return a
}

// node is a place in the tree with all leaves that layers hold there, the weakest layer first.
type node struct {
	path     string
	children map[string]*node
	held     []holding
	// below is the strongest leaf of the node's descendants.
	below holding
}

// trace finds the origin of every leaf of the tree, and for every leaf of a layer what became of it. It reads the same
// stack that was folded, and completes e, whose Tree and Contributions are given.
func trace(stack []*layer, e *Effective) {
	t := tracer{stack: stack, e: e}
	root := t.node("")
	for i, l := range stack {
		t.add(root, i, l.tree)
	}
	t.visit(root, e.Tree, true, fromAbove{by: none})
	e.sort()
}

// sort sorts what has paths by them.
func (e *Effective) sort() {
	slices.SortFunc(e.Origins, func(a, b Origin) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(e.Removed, func(a, b Removal) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.SetBy, b.SetBy), cmp.Compare(a.Block, b.Block))
	})
	slices.SortFunc(e.Hidden, func(a, b Hidden) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.SetBy, b.SetBy), cmp.Compare(a.Block, b.Block))
	})
	for _, c := range e.Contributions {
		slices.SortFunc(c.Shadowed, func(a, b Shadow) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Block, b.Block))
		})
	}
}

// tracer walks the places of all layers together with the tree.
type tracer struct {
	stack []*layer
	e     *Effective
	// nodes and holdings are room for some more, since there are as many as leaves.
	nodes    []node
	holdings []holding
	// ancestors are the leaves that stand above the place: those of its ancestors that are no maps.
	ancestors []holding
	// scratch is room for a list that is needed for a moment.
	scratch []holding
}

// room is how many nodes or holdings are made at once.
const room = 128

// node makes a node.
func (t *tracer) node(path string) *node {
	if len(t.nodes) == 0 {
		t.nodes = make([]node, room)
	}
	n := &t.nodes[0]
	t.nodes = t.nodes[1:]
	n.path, n.below = path, none
	return n
}

// add notes the leaves of a layer's tree below a node. Layers must be added in order, the weakest first.
func (t *tracer) add(n *node, layer int, tree Tree) {
	for key, value := range tree {
		n.below = holding{layer: layer}
		child := t.child(n, key)
		if kind, leaf := leafOf(value); leaf {
			t.hold(child, holding{layer, kind})
		} else {
			t.add(child, layer, value.(Tree))
		}
	}
}

func (t *tracer) child(n *node, key string) *node {
	if c, ok := n.children[key]; ok {
		return c
	}
	if n.children == nil {
		n.children = map[string]*node{}
	}
	c := t.node(Pointer(n.path, key))
	n.children[key] = c
	return c
}

// keys are those of the children, sorted: what is reported almost in order is brought in order in no time.
func (n *node) keys() []string {
	if len(n.children) == 0 {
		return nil
	}
	keys := slices.AppendSeq(make([]string, 0, len(n.children)), maps.Keys(n.children))
	slices.Sort(keys)
	return keys
}

// hold adds a leaf to a node. Most nodes have one or two.
func (t *tracer) hold(n *node, h holding) {
	if n.held == nil {
		if len(t.holdings) == 0 {
			t.holdings = make([]holding, 2*room)
		}
		n.held, t.holdings = t.holdings[:0:2], t.holdings[2:]
	}
	n.held = append(n.held, h)
}

// fromAbove is what a place has to know of its ancestors.
type fromAbove struct {
	// by is the strongest of their leaves.
	by holding
	// told says that the tree has a leaf there that is no map. Its origin tells of all that layers hold below it.
	told bool
}

// visit reports on a place and on all below it. Value is what the tree holds there, if present.
func (t *tracer) visit(n *node, value any, present bool, above fromAbove) {
	object, isMap := value.(Tree)
	leaf := present && (!isMap || len(object) == 0)
	if leaf && n.path != "" {
		t.origin(n, isMap)
	}
	for _, h := range n.held {
		// The origins of what is below a map tell of the values that stand in its place.
		told := above.told || leaf || present && h.kind == leafValue
		t.fate(n, h, fromAbove{above.by, told}, leaf && isMap)
	}
	known := len(t.ancestors)
	for _, h := range n.held {
		if h.kind != leafEmpty {
			t.ancestors = append(t.ancestors, h)
			above.by = strongest(above.by, h)
		}
	}
	above.told = above.told || present && !isMap
	for _, key := range n.keys() {
		below, ok := object[key]
		t.visit(n.children[key], below, ok, above)
	}
	t.ancestors = t.ancestors[:known]
}

// origin reports who set the leaf that the tree holds at a place. An empty map is set by the strongest block that has a map
// there: an empty one, or one that is empty for its nulls.
func (t *tracer) origin(n *node, isMap bool) {
	by := none
	if len(n.held) > 0 {
		by = n.held[len(n.held)-1]
	}
	if isMap {
		by = strongest(by, n.below)
	}
	shadowed := append(append(t.scratch[:0], t.ancestors...), n.held...)
	if !isMap {
		shadowed = n.descendants(shadowed)
	}
	t.scratch = shadowed
	shadowed = slices.DeleteFunc(shadowed, func(h holding) bool { return h.layer >= by.layer })
	setter := t.stack[by.layer]
	t.e.Contributions[setter.source].Sets++
	t.e.Origins = append(t.e.Origins, Origin{
		Path: n.path, Setter: setter.setter, Shadowed: t.setters(shadowed), Message: setter.message,
	})
}

// descendants appends the leaves that layers hold below the node.
func (n *node) descendants(list []holding) []holding {
	for _, child := range n.children {
		list = child.descendants(append(list, child.held...))
	}
	return list
}

// setters names the blocks of holdings, the strongest first, each once. It is never nil.
func (t *tracer) setters(holdings []holding) []Setter {
	slices.SortFunc(holdings, func(a, b holding) int { return cmp.Compare(b.layer, a.layer) })
	holdings = slices.CompactFunc(holdings, func(a, b holding) bool { return a.layer == b.layer })
	list := make([]Setter, len(holdings))
	for i, h := range holdings {
		list[i] = t.stack[h.layer].setter
	}
	return list
}

// fate reports what became of a leaf of a layer, if it is not in the tree: taken away by a null, or shadowed by a stronger
// block that has something else at the place, above it, or below it. A null has nothing to lose. An empty map gets along
// with what is below it, and with other empty maps unless the tree holds one (emptied), which then is the strongest's. It is
// hidden if no origin tells of it.
func (t *tracer) fate(n *node, leaf holding, above fromAbove, emptied bool) {
	if leaf.kind == leafNull {
		return
	}
	by := above.by
	for _, h := range n.held {
		if leaf.kind == leafValue || h.kind != leafEmpty || emptied {
			by = strongest(by, h)
		}
	}
	if leaf.kind == leafValue && n.below.layer > by.layer {
		by = n.below
	}
	if by.layer <= leaf.layer {
		return
	}
	loser, winner := t.stack[leaf.layer], t.stack[by.layer]
	if by.kind == leafNull {
		t.e.Removed = append(t.e.Removed, Removal{
			Path: n.path, Setter: loser.setter, By: winner.setter, Message: winner.message,
		})
		return
	}
	c := &t.e.Contributions[loser.source]
	c.Shadowed = append(c.Shadowed, Shadow{
		Path: n.path, Block: loser.setter.Block, By: winner.setter, Message: winner.message,
	})
	if !above.told {
		t.e.Hidden = append(t.e.Hidden, Hidden{Path: n.path, Setter: loser.setter, By: winner.setter, Message: winner.message})
	}
}
