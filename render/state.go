package render

import (
	"reflect"
	"strconv"
	"strings"
	"text/template"
)

// mode says what the absence of a field means where it stands.
type mode uint8

const (
	// strict: the field is needed. Absent in a live object, it is waited for; elsewhere it is an error.
	strict mode = iota
	// patient: absent in a live object, it is waited for; elsewhere it is nil (range, assignments, include, required).
	patient
	// lenient: it is nil. A condition or a function such as default asks for just that.
	lenient
)

// site is a place in a template that the compiler rewrote to a call of one of our functions, which gets the site's number.
type site struct {
	// expr is the author's spelling of the expression, for errors.
	expr string
	// base and path are the value that a field is taken from, "" for dot, and the keys to follow from there.
	base string
	path []string
	mode mode
	// loose marks a string straight out of .Values, see bindScalar.
	loose bool
	// key marks the key of a map that a range goes over.
	key bool
	// asIs says that a range goes over data as it is, not over what a function makes.
	asIs bool
	// values says that the value comes out of .Values.
	values bool
	// waits names the siblings that the expression reads, as far as it shows.
	waits []string
	// foreign says that the expression is not the author's, and must not be quoted.
	foreign bool
}

// state is one execution of one template. The functions of an engine are bound to one.
type state struct {
	unit   *unit
	engine *template.Template
	budget budget
	tokens []token
	// extra are the sites of texts that tpl brought in; their numbers go on after those of the program.
	extra []site
	// missed is the last field of a live object that a lenient expression of the current action found absent.
	missed *fault
	depth  int
}

func (s *state) reset() {
	clear(s.tokens)
	*s = state{unit: s.unit, engine: s.engine, budget: fullBudget(), tokens: s.tokens[:0]}
}

func (s *state) site(i int) *site {
	if i < len(s.unit.sites) {
		return &s.unit.sites[i]
	}
	return &s.extra[i-len(s.unit.sites)]
}

// tick stands first in every range and every template body.
func (s *state) tick() (string, error) {
	s.missed = nil
	return "", s.budget.spend(1)
}

// field evaluates `.a.b`, `$x.a.b` and `(...).a.b`.
func (s *state) field(root any, at int) (any, error) {
	if err := s.budget.spend(1); err != nil {
		return nil, err
	}
	site := s.site(at)
	value, mayCome := root, false
	for i, key := range site.path {
		mayCome = mayCome || isLive(value)
		if value == nil {
			return s.absent(site, i-1, mayCome)
		}
		if objects, ok := value.(liveObjects); ok {
			switch len(objects) {
			case 0:
				return s.absent(site, i-1, true)
			case 1:
				value = objects[0]
			default:
				return nil, broken("%s is a list of several objects; choose one with index, or use range", site.upTo(i-1))
			}
		}
		next, err := s.member(site, i, value, key)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return s.absent(site, i, mayCome)
		}
		value = next
	}
	return value, nil
}

// member takes one key of a map; nil if it is not there.
func (s *state) member(site *site, i int, value any, key string) (any, error) {
	switch m := value.(type) {
	case map[string]any:
		return m[key], nil
	case live:
		if next, ok := m[key]; ok {
			return next, nil
		}
		if (key == "data" || key == "stringData") && isSecret(m) {
			return nil, broken("%s cannot be read: templates do not see what is in a Secret", site.upTo(i))
		}
		return nil, nil
	case resources:
		if next, ok := m[key]; ok {
			return next, nil
		}
		return nil, broken("%s is not known here: the text of the template itself must name it", site.upTo(i))
	case map[string]string:
		if next, ok := m[key]; ok {
			return next, nil
		}
		return nil, nil
	}
	if site.foreign {
		key = "such field"
	} else {
		key = strconv.Quote(key)
	}
	return nil, broken("%s is %s, not a map, so it has no %s", site.upTo(i-1), describe(value), key)
}

// absent decides what the absence of the i-th key of a site means.
func (s *state) absent(site *site, i int, mayCome bool) (any, error) {
	if mayCome {
		missed := &fault{pending: true, message: site.upTo(i) + " is not set yet", waits: site.waits}
		if site.mode != lenient {
			return nil, missed
		}
		s.missed = missed
		return nil, nil
	}
	if site.mode != strict {
		return nil, nil
	}
	if i < 0 && site.base == "" {
		return nil, broken("%s: there is nothing here to take it from", site.expr)
	}
	hint := "; test for it with if, or give a default with `| default`"
	if site.values {
		hint = "; give it a default in the blueprint's spec.values.default"
	}
	if i == len(site.path)-1 {
		return nil, broken("%s is not set%s", site.upTo(i), hint)
	}
	return nil, broken("%s is not set (in %s)%s", site.upTo(i), site.expr, hint)
}

// upTo spells a site's expression as far as the i-th key; -1 is its base.
func (s *site) upTo(i int) string {
	if s.foreign {
		return s.expr
	}
	if i < 0 {
		if s.base == "" {
			return "."
		}
		return shorten(s.base)
	}
	return shorten(s.base) + "." + strings.Join(s.path[:i+1], ".")
}

// iterate is the last function of the pipeline of every range.
func (s *state) iterate(at int, v any) (any, error) {
	s.missed = nil
	if v == nil {
		return nil, nil
	}
	if t, ok := v.(text); ok {
		v = string(t)
	}
	switch reflect.ValueOf(v).Kind() {
	case reflect.Map, reflect.Slice, reflect.Array:
		return v, nil
	case reflect.Int, reflect.Int64:
		// A number out of a value is a list that somebody mistyped, and may be huge; one that a function made is meant.
		if !s.site(at).asIs {
			return v, nil
		}
	}
	return nil, broken("range over %s: it is %s, not a list or a map", s.site(at).expr, describe(v))
}

// include renders a named template.
func (s *state) include(name string, data any) (any, error) {
	helper := s.engine.Lookup(name)
	if helper == nil || name == mainTemplate {
		// Names that are written out were checked before. This one is made of values.
		return nil, broken("there is no template of the name that is computed here; define it in spec.helpers")
	}
	out, err := s.nested(helper, data)
	if err != nil {
		f := *faultOf(err)
		if f.within == "" {
			line, _ := lineOf(err)
			f.within = within(name, helper.Tree.ParseName, line)
		}
		return nil, &f
	}
	return out, nil
}

// truth stands last in conditions: printed text is not empty even if all that it stands for is.
func (s *state) truth(v any) any {
	if t, ok := v.(text); ok && s.isEmpty(t) {
		return ""
	}
	return v
}

// nested executes a template within the current execution.
func (s *state) nested(t *template.Template, data any) (text, error) {
	if s.depth++; s.depth > maxDepth {
		return "", broken("templates include each other more than %d deep", maxDepth)
	}
	defer func() { s.depth-- }()
	out := &writer{budget: &s.budget}
	if err := t.Execute(out, data); err != nil {
		return "", err
	}
	return text(out.buffer.String()), nil
}

// tpl renders a string as a template. The result is a string like any other: it may come from anybody.
func (s *state) tpl(source string, data any) (any, error) {
	if len(source) > maxSource/4 {
		return nil, broken("tpl: the text is longer than %d bytes", maxSource/4)
	}
	// Every text gets a template of its own, which holds all helpers that it may include.
	if err := s.budget.spend(stepsPerText + len(s.unit.trees) + len(source)/bytesParsedPerStep); err != nil {
		return nil, err
	}
	added := len(s.extra)
	tree, err := s.unit.compileText(source, len(s.unit.sites)+added)
	if err != nil {
		return nil, err
	}
	s.extra = append(s.extra, tree.sites...)
	t, err := newTemplate(s, tree.trees, tree.functions)
	if err != nil {
		return nil, err
	}
	outer := s.engine
	s.engine = t
	defer func() { s.engine = outer }()
	out, err := s.nested(t, data)
	if err != nil {
		f := *faultOf(err)
		f.within = "in the text given to tpl"
		return nil, &f
	}
	return s.expand(out)
}
