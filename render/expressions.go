package render

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"github.com/gatewright/gatewright/internal/nearest"
)

// command rewrites one command of a pipeline. wanted says what the absence of its result means, piped that it gets the result of
// the command before as its last argument.
func (in *instrumenter) command(cmd *parse.CommandNode, dot origin, wanted mode, piped bool) {
	switch first := cmd.Args[0].(type) {
	case *parse.IdentifierNode:
		in.function(cmd, first, piped)
		named := in.namesResource(cmd, dot)
		for i := 1; i < len(cmd.Args); i++ {
			cmd.Args[i] = in.argument(cmd.Args[i], dot, absentFor(first), named && i == 1)
			if isLogic(first.Ident) {
				cmd.Args[i] = in.condition(cmd.Args[i])
			}
		}
		return
	case *parse.PipeNode:
		in.pipe(first, dot, wanted)
	default:
		if isField(first) && len(cmd.Args) == 1 && !piped {
			cmd.Args = in.field(first, dot, wanted, false).Args
			return
		}
	}
	if len(cmd.Args) > 1 || (piped && !isConstant(cmd.Args[0])) {
		in.problem(cmd, "%s is not a function", shorten(cmd.Args[0].String()))
	}
}

// isConstant says whether the parser itself refuses a node in the middle of a pipeline.
func isConstant(n parse.Node) bool {
	switch n.Type() {
	case parse.NodeBool, parse.NodeDot, parse.NodeNil, parse.NodeNumber, parse.NodeString:
		return true
	}
	return false
}

// isField says whether a node takes a field of something.
func isField(n parse.Node) bool {
	switch n := n.(type) {
	case *parse.FieldNode, *parse.ChainNode:
		return true
	case *parse.VariableNode:
		return len(n.Ident) > 1
	}
	return false
}

// argument rewrites an argument of a function. named says that it is `.Resources`, followed by the literal name of a template.
func (in *instrumenter) argument(n parse.Node, dot origin, m mode, named bool) parse.Node {
	switch n := n.(type) {
	case *parse.PipeNode:
		in.pipe(n, dot, m)
		return n
	case *parse.IdentifierNode:
		in.function(commandOf(n), n, false)
		return n
	case *parse.StringNode:
		in.checkMarks(n, n.Text)
	}
	if isField(n) {
		return pipeOf(n.Position(), in.field(n, dot, m, named))
	}
	return n
}

// condition makes an argument of and, or and not fit for it.
func (in *instrumenter) condition(n parse.Node) parse.Node {
	var p *parse.PipeNode
	switch n := n.(type) {
	case *parse.PipeNode:
		p = n
	case *parse.VariableNode, *parse.DotNode, *parse.IdentifierNode:
		p = pipeOf(n.Position(), commandOf(n))
	default:
		return n
	}
	in.mayBeText(p)
	return p
}

// function checks a call: that the function exists, and that it gets as many arguments as it takes.
func (in *instrumenter) function(cmd *parse.CommandNode, name *parse.IdentifierNode, piped bool) {
	n := len(cmd.Args) - 1
	if piped {
		n++
	}
	least, most := 1, unlimited
	if name.Ident == "not" {
		most = 1
	}
	if !isLogic(name.Ident) {
		f, ok := functions[name.Ident]
		if !ok {
			in.unknownFunction(name)
			return
		}
		least, most = f.min, f.max
		in.facts.functions[name.Ident] = true
	}
	switch {
	case n < least && most == least:
		in.problem(cmd, "%s takes %s, and gets %d", name.Ident, counted(least), n)
	case n < least:
		in.problem(cmd, "%s takes at least %s, and gets %d", name.Ident, counted(least), n)
	case most != unlimited && n > most:
		in.problem(cmd, "%s takes at most %s, and gets %d", name.Ident, counted(most), n)
	}
	if name.Ident == "include" && len(cmd.Args) > 1 {
		if literal, ok := cmd.Args[1].(*parse.StringNode); ok {
			in.facts.includes[literal.Text] = in.source.line(cmd.Pos)
		} else {
			in.facts.computed = true
		}
	}
}

func counted(n int) string {
	if n == 1 {
		return "1 argument"
	}
	return strconv.Itoa(n) + " arguments"
}

// instead says what to write for functions that exist elsewhere and not here.
var instead = map[string]string{
	"squote":        "quote, since single quotes escape nothing",
	"lookup":        ".Resources, which holds the live objects of the blueprint's other templates",
	"now":           "a value: what is rendered must not depend on the time",
	"date":          "a value: what is rendered must not depend on the time",
	"randAlphaNum":  "uniqueName: what is rendered must not be random",
	"uuidv4":        "uniqueName, or .Gateway.metadata.uid: what is rendered must not be random",
	"env":           "a value: templates do not see the environment",
	"fromYamlArray": "fromYaml, which takes lists too",
	"fromJsonArray": "fromJson, which takes lists too",
}

func (in *instrumenter) unknownFunction(name *parse.IdentifierNode) {
	if better, ok := instead[name.Ident]; ok {
		in.problem(name, "there is no function %q; use %s", name.Ident, better)
		return
	}
	in.problem(name, "there is no function %q%s", name.Ident, nearest.Suggest(name.Ident, slices.Collect(maps.Keys(functions))))
}

// namesResource notes what `index .Resources "x"`, and get and hasKey likewise, read, and says whether it is such a call.
func (in *instrumenter) namesResource(cmd *parse.CommandNode, dot origin) bool {
	switch cmd.Args[0].String() {
	case "index", "get", "hasKey":
	default:
		return false
	}
	if len(cmd.Args) < 3 || !isField(cmd.Args[1]) {
		return false
	}
	name, ok := cmd.Args[2].(*parse.StringNode)
	from, path := in.fieldParts(cmd.Args[1], dot)
	if !ok || path[len(path)-1] != "Resources" || originOfField(from, path) == values {
		return false
	}
	switch line := in.source.line(cmd.Pos); {
	case len(path) > 1:
		in.facts.mayRead[name.Text] = line
	case from == root || from == unknown:
		in.facts.reads[name.Text] = line
	default:
		return false
	}
	return true
}

// fieldParts gives the origin of what a field is taken from, and the keys that follow.
func (in *instrumenter) fieldParts(n parse.Node, dot origin) (base origin, path []string) {
	switch n := n.(type) {
	case *parse.FieldNode:
		return dot, n.Ident
	case *parse.VariableNode:
		return in.originOfVariable(n.Ident[0]), n.Ident[1:]
	case *parse.ChainNode:
		return in.originOfNode(n.Node, dot), n.Field
	}
	return other, nil
}

// field makes the call that evaluates a field.
func (in *instrumenter) field(n parse.Node, dot origin, m mode, named bool) *parse.CommandNode {
	from, path := in.fieldParts(n, dot)
	in.checkRoot(n, from, path)
	in.noteReads(n, from, path, named)
	s := site{expr: shorten(expression(n)), path: path, mode: m, waits: resourcesIn(n.String())}
	s.values = originOfField(from, path) == values
	pos := n.Position()
	var base parse.Node = &parse.DotNode{NodeType: parse.NodeDot, Pos: pos}
	switch n := n.(type) {
	case *parse.VariableNode:
		s.base = n.Ident[0]
		base = &parse.VariableNode{NodeType: parse.NodeVariable, Pos: pos, Ident: n.Ident[:1]}
	case *parse.ChainNode:
		s.base = expression(n.Node)
		if n.Node.Type() == parse.NodePipe {
			s.base = "(" + s.base + ")"
		}
		base = in.argument(n.Node, dot, m, false)
	}
	call := in.call(pos, callField, in.add(s))
	call.Args = slices.Insert(call.Args, 1, base)
	return call
}

// checkRoot checks the name of a variable of the context, such as `.Gateway`.
func (in *instrumenter) checkRoot(n parse.Node, from origin, path []string) {
	if from != root || in.variables == nil {
		return
	}
	switch {
	case slices.Contains(in.variables, path[0]):
		if path[0] == "Hostnames" && len(path) > 1 && path[1] != "Union" && path[1] != "Intersection" {
			in.problem(n, "there is no .Hostnames.%s; there are .Hostnames.Union and .Hostnames.Intersection", path[1])
		}
	case slices.Contains(routeVariables, path[0]):
		in.problem(n, "there is no .%s here: it is only there in route templates of its kind", path[0])
	default:
		in.problem(n, "there is no .%s%s", path[0], nearest.Suggest("."+path[0], dotted(in.variables)))
	}
}

func dotted(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = "." + name
	}
	return out
}

// noteReads notes which siblings a field reads.
func (in *instrumenter) noteReads(n parse.Node, from origin, path []string, named bool) {
	if path[0] == "Resources" && (from == root || from == unknown) {
		switch {
		case len(path) > 1:
			in.facts.reads[path[1]] = in.source.line(n.Position())
		case !named:
			in.problem(n, "%s must be followed by the name of a template, written out: .Resources.name or (index .Resources \"name\"); "+
				"the order of rendering is made of these names", n.String())
		}
		return
	}
	// A helper may get the context as a part of its data, as in `dict "context" $`.
	if i := slices.Index(path, "Resources"); i >= 0 && i+1 < len(path) && from != values {
		in.facts.mayRead[path[i+1]] = in.source.line(n.Position())
	}
}

// resourcesIn finds the siblings that an expression names, for messages.
func resourcesIn(expr string) []string {
	var names []string
	for rest := expr; ; {
		_, after, found := strings.Cut(rest, ".Resources")
		if !found {
			return names
		}
		after = strings.TrimPrefix(strings.TrimLeft(after, " ."), `"`)
		if end := strings.IndexFunc(after, func(r rune) bool { return !isNameRune(r) }); end >= 0 {
			names, rest = append(names, after[:end]), after[end:]
		} else {
			names, rest = append(names, after), ""
		}
	}
}

func isNameRune(r rune) bool {
	return r == '-' || r == '_' || (r >= '0' && r <= '9') || (r >= 'a' && r <= 'z') || (r >= 'A' && r <= 'Z')
}

// passesOn are functions whose result is one of their arguments, or out of one.
var passesOn = map[string]bool{
	"default": true, "coalesce": true, "required": true, "get": true, "dig": true, "index": true, "first": true, "last": true,
}

// originOf says where the result of a pipeline comes from.
func (in *instrumenter) originOf(p *parse.PipeNode, dot origin) origin {
	result := other
	for i, cmd := range p.Cmds {
		if _, isCall := cmd.Args[0].(*parse.IdentifierNode); !isCall {
			result = in.originOfNode(cmd.Args[0], dot)
			continue
		}
		if i > 0 && result != values || !passesOn[cmd.Args[0].String()] {
			result = other
			continue
		}
		result = in.originOfArguments(cmd.Args[1:], dot, result)
	}
	return result
}

// originOfArguments is values if the arguments are, and what is piped to them; constants do not count.
func (in *instrumenter) originOfArguments(args []parse.Node, dot, piped origin) origin {
	for _, arg := range args {
		switch arg.Type() {
		case parse.NodeString, parse.NodeNumber, parse.NodeBool, parse.NodeNil:
			continue
		}
		if in.originOfNode(arg, dot) != values {
			return other
		}
		piped = values
	}
	return piped
}

func (in *instrumenter) originOfNode(n parse.Node, dot origin) origin {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.PipeNode:
		return in.originOf(n, dot)
	case *parse.VariableNode:
		if len(n.Ident) == 1 {
			return in.originOfVariable(n.Ident[0])
		}
	}
	if !isField(n) {
		return other
	}
	return originOfField(in.fieldParts(n, dot))
}

func (in *instrumenter) originOfVariable(name string) origin {
	for _, v := range slices.Backward(in.scope) {
		if v.name == name {
			return v.origin
		}
	}
	return other
}

func originOfField(base origin, path []string) origin {
	switch {
	case base == values:
		return values
	case (base == root || base == unknown) && path[0] == "Values":
		return values
	case base == unknown:
		return unknown
	}
	return other
}

// add gives a site its number.
func (in *instrumenter) add(s site) int {
	if s.foreign = in.foreign; s.foreign {
		s.expr = "an expression"
	}
	in.sites = append(in.sites, s)
	return in.first + len(in.sites) - 1
}

// call makes a call of one of our functions with a site.
func (in *instrumenter) call(pos parse.Pos, name string, site int) *parse.CommandNode {
	number := &parse.NumberNode{NodeType: parse.NodeNumber, Pos: pos, IsInt: true, Int64: int64(site), Text: strconv.Itoa(site)}
	return callOf(pos, name, number)
}

func callOf(pos parse.Pos, name string, args ...parse.Node) *parse.CommandNode {
	call := commandOf(parse.NewIdentifier(name).SetPos(pos))
	call.Args = append(call.Args, args...)
	return call
}

func commandOf(n parse.Node) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: n.Position(), Args: []parse.Node{n}}
}

func (in *instrumenter) tick(pos parse.Pos) parse.Node {
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: pos, Pipe: pipeOf(pos, callOf(pos, callTick))}
}

func stringOf(pos parse.Pos, text string) *parse.StringNode {
	return &parse.StringNode{NodeType: parse.NodeString, Pos: pos, Quoted: strconv.Quote(text), Text: text}
}

func pipeOf(pos parse.Pos, cmd *parse.CommandNode) *parse.PipeNode {
	return &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{cmd}}
}

// expression spells a node as its author did, without the variable that it is assigned to.
func expression(n parse.Node) string {
	if p, ok := n.(*parse.PipeNode); ok && len(p.Decl) > 0 {
		_, after, _ := strings.Cut(p.String(), "= ")
		return after
	}
	return n.String()
}
