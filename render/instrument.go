package render

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
)

// The functions that the compiler puts into parse trees. Authors cannot name them: they are in no list of functions.
const (
	callField   = "_field"
	callPrint   = "_print"
	callIterate = "_iterate"
	callTick    = "_tick"
	callTruth   = "_truth"
)

// problem is something wrong with a blueprint, on a line of one of its texts.
type problem struct {
	line    int
	message string
}

// origin is what is known of where a value comes from.
type origin uint8

const (
	other   origin = iota
	root           // what the template was given: `.Gateway`, `.Values` and so on are fields of it
	unknown        // what a helper was given: root, perhaps
	values         // something out of .Values
	mapKey         // the key of a map, or the index of a list, that a range goes over
)

// facts are what the compiler learns about one parse tree.
type facts struct {
	// reads are the siblings whose live objects are read for certain, mayRead those that may be: by the line that says so.
	reads, mayRead map[string]int
	// includes are the templates that are included by their literal name; computed says that some are not.
	includes map[string]int
	computed bool
	// functions that are called.
	functions map[string]bool
}

func newFacts() *facts {
	return &facts{reads: map[string]int{}, mayRead: map[string]int{}, includes: map[string]int{}, functions: map[string]bool{}}
}

// instrumenter rewrites a parse tree, in one walk, so that executing it is safe and its errors are good: fields become calls of
// state.field, printed values go through state.print, ranges through state.iterate, and every loop and template body ticks.
// On the way it checks names and collects facts. text/template's own evaluation stays for everything else.
type instrumenter struct {
	source source
	// variables of the context, for checking the names of root's fields; nil if root is not known.
	variables []string
	// first is the number of the first site.
	first    int
	sites    []site
	problems []problem
	facts    *facts
	scope    []variable
	// depth of the parentheses around the current pipeline, and blocks of the control structures around it.
	depth, blocks int
	// foreign says that the text is one that tpl is given. It may come from anybody, so messages do not quote it.
	foreign bool
}

// maxParentheses bounds the nesting of parentheses, and with it what the compiler spends on spelling and tracing expressions.
const maxParentheses = 64

// variable is a template variable in scope.
type variable struct {
	name   string
	origin origin
}

// tree rewrites a whole parse tree, whose dot is of the given origin.
func (in *instrumenter) tree(t *parse.Tree, dot origin) *facts {
	in.facts = newFacts()
	in.scope = []variable{{"$", dot}}
	in.list(t.Root, dot)
	t.Root.Nodes = slices.Insert(t.Root.Nodes, 0, in.tick(t.Root.Pos))
	return in.facts
}

func (in *instrumenter) problem(at parse.Node, format string, args ...any) {
	in.problems = append(in.problems, problem{line: in.source.line(at.Position()), message: fmt.Sprintf(format, args...)})
}

func (in *instrumenter) list(l *parse.ListNode, dot origin) {
	if l == nil {
		return
	}
	for i, n := range l.Nodes {
		l.Nodes[i] = in.node(n, dot)
	}
}

func (in *instrumenter) node(n parse.Node, dot origin) parse.Node {
	switch n := n.(type) {
	case *parse.TextNode:
		in.checkMarks(n, string(n.Text))
	case *parse.ActionNode:
		in.action(n, dot)
	case *parse.IfNode:
		in.branch(&n.BranchNode, dot, dot, lenient)
	case *parse.WithNode:
		in.branch(&n.BranchNode, dot, in.originOf(n.Pipe, dot), lenient)
	case *parse.RangeNode:
		in.rangeOver(n, dot)
	case *parse.TemplateNode:
		return in.template(n, dot)
	}
	return n
}

// checkMarks refuses text that could be taken for a token.
func (in *instrumenter) checkMarks(at parse.Node, text string) {
	if hasTokenMarks(text) {
		in.problem(at, "the characters U+E000 and U+E001 are not allowed in a template")
	}
}

func hasTokenMarks(s string) bool {
	return strings.Contains(s, tokenStart) || strings.Contains(s, tokenEnd)
}

// maxBlocks bounds the nesting of control structures. Executing them nests as deeply, and anew in each helper on the way.
const maxBlocks = 200

// enter says whether a control structure may be gone into, which leave ends.
func (in *instrumenter) enter(n parse.Node) bool {
	if in.blocks++; in.blocks > maxBlocks {
		in.problem(n, "control structures are nested more than %d deep", maxBlocks)
		return false
	}
	return true
}

func (in *instrumenter) leave() { in.blocks-- }

func (in *instrumenter) branch(n *parse.BranchNode, dot, inner origin, m mode) {
	defer in.leave()
	if !in.enter(n) {
		return
	}
	depth := len(in.scope)
	in.pipe(n.Pipe, dot, m)
	in.mayBeText(n.Pipe)
	in.list(n.List, inner)
	in.list(n.ElseList, dot)
	in.scope = in.scope[:depth]
}

// mayBeText makes a pipeline fit for a condition.
func (in *instrumenter) mayBeText(p *parse.PipeNode) {
	if last := p.Cmds[len(p.Cmds)-1].Args[0]; last.String() != callField && !isLogic(last.String()) {
		p.Cmds = append(p.Cmds, callOf(p.Pos, callTruth))
	}
}

func (in *instrumenter) rangeOver(n *parse.RangeNode, dot origin) {
	defer in.leave()
	if !in.enter(n) {
		return
	}
	depth := len(in.scope)
	elements := in.originOf(n.Pipe, dot)
	over := site{expr: shorten(expression(n.Pipe))}
	if len(n.Pipe.Cmds) == 1 && len(n.Pipe.Cmds[0].Args) == 1 {
		switch n.Pipe.Cmds[0].Args[0].(type) {
		case *parse.FieldNode, *parse.VariableNode, *parse.ChainNode, *parse.DotNode:
			over.asIs = true
		}
	}
	in.pipe(n.Pipe, dot, patient)
	n.Pipe.Cmds = append(n.Pipe.Cmds, in.call(n.Pipe.Pos, callIterate, in.add(over)))
	in.list(n.List, elements)
	n.List.Nodes = slices.Insert(n.List.Nodes, 0, in.tick(n.List.Pos))
	in.list(n.ElseList, dot)
	in.scope = in.scope[:depth]
}

// template makes `{{ template "x" . }}` the same as `{{ include "x" . }}`, which counts its depth.
func (in *instrumenter) template(n *parse.TemplateNode, dot origin) parse.Node {
	var data parse.Node = &parse.NilNode{NodeType: parse.NodeNil, Pos: n.Pos}
	if n.Pipe != nil {
		if len(n.Pipe.Decl) > 0 {
			in.problem(n, "a variable cannot be declared in a template action; declare it before")
		}
		data = n.Pipe
	}
	include := callOf(n.Pos, "include", stringOf(n.Pos, n.Name), data)
	action := &parse.ActionNode{NodeType: parse.NodeAction, Pos: n.Pos, Line: n.Line, Pipe: pipeOf(n.Pos, include)}
	in.action(action, dot)
	return action
}

// printsText are functions whose result is printed text already.
var printsText = map[string]bool{"include": true, "toYaml": true, "quote": true, "indent": true, "nindent": true}

func (in *instrumenter) action(n *parse.ActionNode, dot origin) {
	if len(n.Pipe.Decl) > 0 {
		in.checkDiscarded(n)
		in.pipe(n.Pipe, dot, patient)
		return
	}
	last := n.Pipe.Cmds[len(n.Pipe.Cmds)-1]
	if constant, ok := last.Args[0].(*parse.StringNode); ok && len(n.Pipe.Cmds) == 1 && len(last.Args) == 1 {
		in.checkMarks(n, constant.Text)
		return
	}
	from := in.originOf(n.Pipe, dot)
	printed := site{expr: shorten(expression(n.Pipe)), loose: from == values, key: from == mapKey}
	in.pipe(n.Pipe, dot, strict)
	if name, ok := last.Args[0].(*parse.IdentifierNode); ok && printsText[name.Ident] {
		return
	}
	n.Pipe.Cmds = append(n.Pipe.Cmds, in.call(n.Pos, callPrint, in.add(printed)))
}

// checkDiscarded catches the idiom of changing a map in place, which works elsewhere.
func (in *instrumenter) checkDiscarded(n *parse.ActionNode) {
	name, ok := n.Pipe.Cmds[len(n.Pipe.Cmds)-1].Args[0].(*parse.IdentifierNode)
	if !ok || n.Pipe.Decl[0].Ident[0] != "$_" {
		return
	}
	switch name.Ident {
	case "set", "unset", "merge", "mergeOverwrite", "mustMerge", "mustMergeOverwrite":
		in.problem(n, "%s changes nothing in place, it gives a changed copy: assign it, as in `{{ $map = %s $map ... }}`", name.Ident, name.Ident)
	}
}

// pipe rewrites a pipeline; m says what the absence of its result means.
func (in *instrumenter) pipe(p *parse.PipeNode, dot origin, m mode) {
	if in.depth++; in.depth > maxParentheses {
		in.problem(p, "parentheses are nested more than %d deep", maxParentheses)
		return
	}
	defer func() { in.depth-- }()
	from := in.originOf(p, dot)
	in.literalMessages(p)
	for i, cmd := range p.Cmds {
		wanted := m
		if i+1 < len(p.Cmds) {
			wanted = absentFor(p.Cmds[i+1].Args[0])
		}
		in.command(cmd, dot, wanted, i > 0)
	}
	in.declare(p, from)
}

// declare brings the variables that a pipeline declares into scope, or notes what it assigns.
func (in *instrumenter) declare(p *parse.PipeNode, from origin) {
	for i, v := range p.Decl {
		if i == 0 && len(p.Decl) == 2 {
			// The index or key of a range.
			in.setOrigin(v.Ident[0], mapKey, p.IsAssign)
			continue
		}
		in.setOrigin(v.Ident[0], from, p.IsAssign)
	}
}

func (in *instrumenter) setOrigin(name string, from origin, assign bool) {
	if !assign {
		in.scope = append(in.scope, variable{name, from})
		return
	}
	// An assignment may not be reached, so what it changes is not known any more.
	for i := range in.scope {
		if in.scope[i].name == name && in.scope[i].origin != from {
			in.scope[i].origin = other
		}
	}
}

// absentFor says what the absence of an argument means to a function.
func absentFor(callee parse.Node) mode {
	name, ok := callee.(*parse.IdentifierNode)
	if !ok {
		return strict
	}
	if isLogic(name.Ident) {
		return lenient
	}
	if f := functions[name.Ident]; f != nil {
		return f.absent
	}
	return strict
}

// isLogic says whether text/template evaluates a function itself, since it may not evaluate all of its arguments.
func isLogic(name string) bool { return name == "and" || name == "or" || name == "not" }

// literalMessages keeps values out of the messages of fail and required: what is shown is the author's literal text only.
func (in *instrumenter) literalMessages(p *parse.PipeNode) {
	fails := func(cmd *parse.CommandNode) bool { return len(cmd.Args) == 1 && cmd.Args[0].String() == "fail" }
	if last := slices.IndexFunc(p.Cmds, fails); last > 0 {
		// What is piped into fail is made its argument.
		made := &parse.PipeNode{NodeType: parse.NodePipe, Pos: p.Pos, Cmds: p.Cmds[:last:last]}
		p.Cmds = p.Cmds[last:]
		p.Cmds[0].Args = append(p.Cmds[0].Args, made)
	}
	for _, cmd := range p.Cmds {
		name := cmd.Args[0].String()
		if len(cmd.Args) < 2 || (name != "fail" && name != "required") || (cmd.Args[1].Type() == parse.NodeString && !in.foreign) {
			continue
		}
		message := "the template refuses what it was given; its message is made of values and is not shown"
		if literal := firstString(cmd.Args[1]); literal != "" && !in.foreign {
			message = literal + " (the values in this message are not shown)"
		}
		cmd.Args[1] = stringOf(cmd.Pos, message)
	}
}

// firstString finds the first string literal in an expression.
func firstString(n parse.Node) string {
	switch n := n.(type) {
	case *parse.StringNode:
		return n.Text
	case *parse.CommandNode:
		for _, arg := range n.Args {
			if s := firstString(arg); s != "" {
				return s
			}
		}
	case *parse.PipeNode:
		for _, cmd := range n.Cmds {
			if s := firstString(cmd); s != "" {
				return s
			}
		}
	}
	return ""
}
