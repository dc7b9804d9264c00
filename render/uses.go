package render

import (
	"slices"
	"text/template/parse"
)

// Uses are the parts of the context that templates may read and that cost something to work out. A part that is not used is not
// read, whatever the values are; one that is used may still be read never.
type Uses struct {
	// Values says that `.Values` is read.
	Values bool
	// Listeners says that `.Listeners` is read, and ListenerValues that so is the field Values of a listener in it.
	Listeners, ListenerValues bool
	// Rules says that `.Rules` is read, where there is one.
	Rules bool
}

// and are the uses of two together.
func (u Uses) and(other Uses) Uses {
	return Uses{
		u.Values || other.Values, u.Listeners || other.Listeners, u.ListenerValues || other.ListenerValues, u.Rules || other.Rules,
	}
}

// share is what is known of a value: which parts of the context there may be in it.
type share uint8

const (
	// plain: none that counts.
	plain share = iota
	// oneListener is a listener out of `.Listeners`, and listenerList a list of such.
	oneListener
	listenerList
	// wholeContext is what a template is given.
	wholeContext
	// mixed is whatever it may be.
	mixed
)

// either is what is known of a value that is one of two.
func either(a, b share) share {
	switch {
	case a == plain || a == b:
		return b
	case b == plain:
		return a
	default:
		return mixed
	}
}

// usesOf finds what a template uses, by its trees as written and those of the helpers. It follows values through fields,
// variables, loops and includes; where it loses sight of a part of the context, the part counts as used.
func usesOf(trees, helpers map[string]*parse.Tree) Uses {
	f := &usesFinder{trees: trees, helpers: helpers, seen: map[calledWith]bool{}}
	f.tree(mainTemplate, wholeContext)
	return f.uses
}

type usesFinder struct {
	trees, helpers map[string]*parse.Tree
	uses           Uses
	// seen are the trees that were looked at or are, with what they are given.
	seen map[calledWith]bool
}

type calledWith struct {
	name string
	dot  share
}

// tree looks at a tree that is given dot. What it prints is text, so there is nothing in its result.
func (f *usesFinder) tree(name string, dot share) {
	t, known := f.trees[name]
	if !known {
		t, known = f.helpers[name]
	}
	if call := (calledWith{name, dot}); known && !f.seen[call] {
		f.seen[call] = true
		w := usesWalk{usesFinder: f, variables: map[string]share{"$": dot}, changed: true}
		// A loop may read what a later line of it assigns.
		for w.changed {
			w.changed = false
			w.list(t.Root, dot)
		}
	}
}

// usesWalk is a walk through one tree. A variable is known by all that any variable of its name is ever given.
type usesWalk struct {
	*usesFinder
	variables map[string]share
	changed   bool
}

func (w *usesWalk) list(l *parse.ListNode, dot share) {
	if l == nil {
		return
	}
	for _, n := range l.Nodes {
		w.node(n, dot)
	}
}

func (w *usesWalk) node(n parse.Node, dot share) {
	switch n := n.(type) {
	case *parse.ActionNode:
		if result := w.pipe(n.Pipe, dot); len(n.Pipe.Decl) == 0 {
			w.readAll(result)
		}
	case *parse.IfNode:
		w.pipe(n.Pipe, dot)
		w.list(n.List, dot)
		w.list(n.ElseList, dot)
	case *parse.WithNode:
		w.list(n.List, w.pipe(n.Pipe, dot))
		w.list(n.ElseList, dot)
	case *parse.RangeNode:
		w.list(n.List, w.rangeOver(n.Pipe, dot))
		w.list(n.ElseList, dot)
	case *parse.TemplateNode:
		data := plain
		if n.Pipe != nil {
			data = w.pipe(n.Pipe, dot)
		}
		w.tree(n.Name, data)
	}
}

// pipe is what a pipeline results in, which is noted for the variables that it sets.
func (w *usesWalk) pipe(p *parse.PipeNode, dot share) share {
	result := w.result(p, dot)
	for _, v := range p.Decl {
		w.assign(v.Ident[0], result)
	}
	return result
}

// rangeOver is what dot is in a loop.
func (w *usesWalk) rangeOver(p *parse.PipeNode, dot share) share {
	element := w.elementOf(w.result(p, dot))
	if last := len(p.Decl) - 1; last >= 0 { // before it is the index or key
		w.assign(p.Decl[last].Ident[0], element)
	}
	return element
}

func (w *usesWalk) assign(variable string, c share) {
	if both := either(w.variables[variable], c); both != w.variables[variable] {
		w.variables[variable], w.changed = both, true
	}
}

func (w *usesWalk) result(p *parse.PipeNode, dot share) share {
	result := plain
	for i, cmd := range p.Cmds {
		function, isCall := cmd.Args[0].(*parse.IdentifierNode)
		if !isCall {
			result = w.operand(cmd.Args[0], dot)
			continue
		}
		args := make([]argument, 0, len(cmd.Args))
		for _, arg := range cmd.Args[1:] {
			args = append(args, argument{arg, w.operand(arg, dot)})
		}
		if i > 0 {
			args = append(args, argument{nil, result})
		}
		result = w.call(function.Ident, args)
	}
	return result
}

func (w *usesWalk) operand(n parse.Node, dot share) share {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.PipeNode:
		return w.pipe(n, dot)
	case *parse.FieldNode:
		return w.fields(dot, n.Ident)
	case *parse.VariableNode:
		return w.fields(w.variables[n.Ident[0]], n.Ident[1:])
	case *parse.ChainNode:
		return w.fields(w.operand(n.Node, dot), n.Field)
	case *parse.IdentifierNode:
		return w.call(n.Ident, nil)
	default:
		return plain
	}
}

func (w *usesWalk) fields(c share, keys []string) share {
	for _, key := range keys {
		c = w.field(c, key)
	}
	return c
}

// field is what a field leads to. A template may call fields of its own maps as it likes.
func (w *usesWalk) field(c share, key string) share {
	switch {
	case c == plain || c == listenerList:
		return plain // a list has no fields
	case key == "Values":
		w.uses.Values = w.uses.Values || c != oneListener
		w.uses.ListenerValues = w.uses.ListenerValues || c != wholeContext
	case key == "Listeners" && c == wholeContext:
		w.uses.Listeners = true
		return listenerList
	case key == "Rules" && c == wholeContext:
		w.uses.Rules = true
		return plain
	}
	if c != mixed {
		return plain
	}
	w.uses.Listeners = w.uses.Listeners || key == "Listeners"
	w.uses.Rules = w.uses.Rules || key == "Rules"
	return mixed
}

// elementOf is what there is in each element of a list, or under each key of a map.
func (w *usesWalk) elementOf(c share) share {
	if c == listenerList {
		return oneListener
	}
	return w.readAll(c)
}

// readAll counts all that may be in a value as used. Nothing in the result needs to be followed any more.
func (w *usesWalk) readAll(c share) share {
	switch c {
	case plain:
	case oneListener, listenerList:
		w.uses.ListenerValues = true
	default:
		w.uses = Uses{true, true, true, true}
	}
	return plain
}

// argument is one that a function is called with; what is piped into it has no node.
type argument struct {
	node parse.Node
	share
}

// literal is the text of an argument that is written out.
func (a argument) literal() (string, bool) {
	text, ok := a.node.(*parse.StringNode)
	if !ok {
		return "", false
	}
	return text.Text, true
}

// call is what a function results in. One that is not known here may read all that it is given.
func (w *usesWalk) call(name string, args []argument) share {
	if !slices.ContainsFunc(args, func(a argument) bool { return a.share != plain }) && name != "include" {
		return plain
	}
	switch name {
	case "len", "empty", "not":
		return plain
	case "and", "or", "default", "coalesce", "ternary", "required":
		return together(args, func(c share) share { return c })
	case "first", "last":
		return w.elementOf(args[0].share)
	case "rest", "initial", "reverse":
		return w.listOf(args[0].share)
	case "list", "append", "prepend", "concat":
		return together(args, inList)
	case "dict":
		return mixed
	case "index", "get", "hasKey":
		return w.lookup(args)
	case "pick", "omit":
		return w.part(name == "pick", args)
	case "include":
		return w.include(args)
	}
	return w.readAll(together(args, func(c share) share { return c }))
}

// together is what is known of a value that is made of arguments.
func together(args []argument, each func(share) share) share {
	all := plain
	for _, a := range args {
		all = either(all, each(a.share))
	}
	return all
}

// inList is what is known of a list that has something in it. That a list with a list in it is called a list of listeners does no
// harm, since what may be done with a listener is counted as more.
func inList(c share) share {
	if c == oneListener {
		return listenerList
	}
	return c
}

// listOf is what is known of a list that is made of another.
func (w *usesWalk) listOf(c share) share {
	if c == listenerList {
		return listenerList
	}
	return w.readAll(c)
}

// lookup follows keys that are arguments.
func (w *usesWalk) lookup(args []argument) share {
	c := args[0].share
	for _, a := range args[1:] {
		key, isLiteral := a.literal()
		switch {
		case isLiteral:
			c = w.field(c, key)
		default:
			c = w.elementOf(c)
		}
		w.readAll(a.share)
	}
	return c
}

// part is a map with some of its keys only, or without some.
func (w *usesWalk) part(only bool, args []argument) share {
	named := false
	for _, a := range args[1:] {
		key, isLiteral := a.literal()
		if !isLiteral {
			return w.readAll(together(args, func(c share) share { return c }))
		}
		named = named || key == "Values"
	}
	if args[0].share == oneListener && named != only {
		return plain
	}
	return w.readAll(args[0].share)
}

// include looks at the helper that is included. Where its name is computed it may be any.
func (w *usesWalk) include(args []argument) share {
	if len(args) != 2 {
		return w.readAll(together(args, func(c share) share { return c }))
	}
	name, isLiteral := args[0].literal()
	if !isLiteral {
		w.readAll(args[0].share)
		return w.readAll(args[1].share)
	}
	w.tree(name, args[1].share)
	return plain
}
