package render

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"sync"
	"text/template"
	"text/template/parse"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/internal/manifest"
)

// unit is one compiled template: a resource template or the status template.
type unit struct {
	source source
	// trees are the instrumented parse trees that it may execute, its own as mainTemplate. Engines share them.
	trees map[string]*parse.Tree
	sites []site
	// functions that the trees call.
	functions map[string]bool
	// reads are the siblings whose live objects it sees, sorted.
	reads []string
	// uses are the parts of the context that it may read.
	uses Uses
	// kinds that its objects may have; nil for the status template.
	kinds map[schema.GroupVersionKind]bool
	// lines are the lines on which its pieces of text start, by their first byte.
	lines map[*byte]int

	engines sync.Pool
}

// engine is a template that is ready to execute, with functions of its own: text/template binds functions to a template, not to
// an execution, and ours have a state. Engines are pooled, so that an execution costs no cloning.
type engine struct {
	template *template.Template
	state    *state
}

func (u *unit) engine() (*engine, error) {
	if e, ok := u.engines.Get().(*engine); ok {
		e.state.reset()
		return e, nil
	}
	s := &state{unit: u, budget: fullBudget()}
	t, err := newTemplate(s, u.trees, u.functions)
	if err != nil {
		return nil, err
	}
	s.engine = t
	return &engine{template: t, state: s}, nil
}

// newTemplate makes a template of trees, with functions bound to a state.
func newTemplate(s *state, trees map[string]*parse.Tree, called map[string]bool) (*template.Template, error) {
	bound := template.FuncMap{callField: s.field, callPrint: s.print, callIterate: s.iterate, callTick: s.tick, callTruth: s.truth}
	for name := range called {
		bound[name] = s.bind(name)
	}
	t := template.New("").Funcs(bound)
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		if _, err := t.AddParseTree(name, trees[name]); err != nil {
			return nil, err
		}
	}
	return t.Lookup(mainTemplate), nil
}

func (s *state) bind(name string) func(args ...any) (any, error) {
	f := functions[name]
	return func(args ...any) (any, error) { return s.invoke(name, f, args) }
}

// decode reads what a unit printed, with the values bound to it.
type decode func(printed []byte, bind manifest.Bind) error

// execute renders the unit and hands what it printed to read. The line of a fault is 0 if none can be named.
func (u *unit) execute(root map[string]any, read decode) (out *writer, line int, f *fault) {
	e, err := u.engine()
	if err != nil {
		return nil, 0, broken("the template cannot be prepared")
	}
	// A panic leaves the engine out of the pool: nobody knows what state it is in.
	defer func() {
		if recover() != nil {
			line, f = 0, broken("this cannot be evaluated with the values that it was given")
			return
		}
		u.engines.Put(e)
	}()
	out = &writer{budget: &e.state.budget, lines: u.lines}
	if err := e.template.Execute(out, root); err != nil {
		line, f := u.located(err)
		if line == 0 {
			line = out.lastLine()
		}
		return out, line, f
	}
	if err := read(out.buffer.Bytes(), e.state.bindScalar); err != nil {
		return out, out.lineOf(err), notYAML(err)
	}
	return out, 0, nil
}

// located says what ended an execution, and where: the line, and the action in its author's spelling.
func (u *unit) located(err error) (line int, f *fault) {
	line, column := lineOf(err)
	located := *faultOf(err)
	if action := actionAt(u.source.text, line, column); action != "" {
		located.message, located.within = action+": "+located.Error(), ""
	}
	return line, &located
}

// lineOf says which line of the template an error in its output comes from.
func (w *writer) lineOf(err error) int {
	var e *manifest.Error
	if !errors.As(err, &e) || e.Line == 0 {
		return 0
	}
	return w.sourceLine(min(e.Line, 1+bytes.Count(w.buffer.Bytes(), []byte("\n"))))
}

// notYAML says what is wrong with the output, and reminds of what a printed value is.
func notYAML(err error) *fault {
	var e *manifest.Error
	if !errors.As(err, &e) {
		return broken("what the template prints is not YAML")
	}
	hint := ""
	if e.Path == "" {
		hint = "; note that a printed value is always one scalar: to insert a map or a list, print it with toYaml and nindent"
	}
	return broken("line %d of what the template prints: %s%s", e.Line, (&manifest.Error{Path: e.Path, Message: e.Message}).Error(), hint)
}

// compiledText is a text that tpl brought in.
type compiledText struct {
	trees     map[string]*parse.Tree
	sites     []site
	functions map[string]bool
}

// compileText compiles a text at run time. Its fields are checked as those of a helper are.
func (u *unit) compileText(text string, first int) (*compiledText, error) {
	src := source{name: "tpl", text: text}
	if hasTokenMarks(text) {
		return nil, broken("the text has characters that are not allowed in a template")
	}
	own, p := src.parse()
	if p != nil {
		return nil, broken("the text is not a template (line %d)", p.line)
	}
	if len(own) > 1 {
		return nil, broken("the text must not define templates; define them in spec.helpers")
	}
	in := &instrumenter{source: src, first: first, foreign: true}
	main := own[mainTemplate]
	facts := in.tree(main, unknown)
	if len(in.problems) > 0 {
		return nil, broken("the text is not a template that can be used here (line %d)", in.problems[0].line)
	}
	trees := maps.Clone(u.trees)
	trees[mainTemplate] = main
	called := maps.Clone(u.functions)
	maps.Copy(called, facts.functions)
	return &compiledText{trees: trees, sites: in.sites, functions: called}, nil
}
