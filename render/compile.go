package render

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/nearest"
)

// statusTemplate is how errors name the status template.
const statusTemplate = "status.template"

// The variables of the context.
var (
	gatewayVariables = []string{"Class", "Gateway", "Hostnames", "Listeners", "Resources", "Values"}
	routeVariables   = []string{"GRPCRoute", "HTTPRoute", "ParentRef", "Route", "Rules", "TCPRoute", "TLSRoute", "UDPRoute"}
)

// compiler collects what becomes a Program, and all that is wrong with the blueprint.
type compiler struct {
	blueprint *v1alpha1.GatewayClassBlueprint
	permits   permits
	sites     []site
	problems  []string
	kinds     map[schema.GroupVersionKind]bool

	// helpers are the trees that all templates share, as written and as rewritten, and what is known of them; nil if their text
	// cannot be parsed.
	writtenHelpers, helpers map[string]*parse.Tree
	helperFacts             map[string]*facts
	// tried are the names of all templates, those included that cannot be compiled.
	tried map[string]bool
}

// Compile turns a blueprint into a Program. The error is for people: every problem found, one a line, each naming the field or
// the template and its line. The blueprint is not changed.
func Compile(b *v1alpha1.GatewayClassBlueprint) (*Program, error) {
	c := &compiler{blueprint: b, permits: permitsOf(b.Spec.Permits), kinds: map[schema.GroupVersionKind]bool{}, tried: map[string]bool{}}
	c.compileHelpers()
	p := &Program{Gateway: &Set{}, Routes: map[gatewayv1.Kind]*Set{}, serviceAccount: c.serviceAccount()}
	if t := b.Spec.GatewayTemplate; t != nil {
		p.Gateway = c.set("gatewayTemplate", "", t.ResourceTemplates, t.Status)
	}
	for _, route := range routeTemplates(&b.Spec) {
		if t := route.template; t != nil {
			p.Routes[route.kind] = c.set(route.field, route.kind, t.ResourceTemplates, nil)
		}
	}
	c.countTemplates(p)
	c.checkPermits()
	sets := append(slices.Collect(maps.Values(p.Routes)), p.Gateway)
	c.readyWhen(sets)
	c.recreate(sets)
	if len(c.problems) > 0 {
		return nil, errors.New(strings.Join(c.problems, "\n"))
	}
	p.kinds, p.permits, p.read = sortKinds(c.kinds), c.permits, map[schema.GroupVersionKind]bool{}
	for _, set := range sets {
		set.blueprint, set.permits = b.Name, &p.permits
		for _, u := range set.all() {
			u.sites = c.sites
			set.uses = set.uses.and(u.uses)
		}
		set.depths = depthsOf(set.units)
		set.readKinds(p.read)
	}
	return p, nil
}

// countTemplates bounds those of all sets together; of one set that has too many, that is said already.
func (c *compiler) countTemplates(p *Program) {
	all := len(p.Gateway.units)
	for _, set := range p.Routes {
		all += len(set.units)
	}
	if all > maxTemplates {
		c.say("spec", 0, "there are %d templates in all, and at most %d are allowed", all, maxTemplates)
	}
}

// routeTemplate is what a blueprint has for one kind of routes; template is nil if it has nothing.
type routeTemplate struct {
	kind     gatewayv1.Kind
	field    string
	template *v1alpha1.RouteTemplate
}

// routeTemplates are those of every kind, in the order of the blueprint's fields, which is that of the problems.
func routeTemplates(spec *v1alpha1.GatewayClassBlueprintSpec) []routeTemplate {
	return []routeTemplate{
		{"HTTPRoute", "httpRouteTemplate", spec.HTTPRouteTemplate},
		{"GRPCRoute", "grpcRouteTemplate", spec.GRPCRouteTemplate},
		{"TLSRoute", "tlsRouteTemplate", spec.TLSRouteTemplate},
		{"TCPRoute", "tcpRouteTemplate", spec.TCPRouteTemplate},
		{"UDPRoute", "udpRouteTemplate", spec.UDPRouteTemplate},
	}
}

// all are the units of a set, with that of the status.
func (s *Set) all() []*unit {
	if s.status == nil {
		return s.units
	}
	return append(slices.Clone(s.units), s.status)
}

// say adds a problem; line is 0 where none can be named.
func (c *compiler) say(field string, line int, format string, args ...any) {
	if line > 0 {
		field += fmt.Sprintf(", line %d", line)
	}
	c.problems = append(c.problems, field+": "+fmt.Sprintf(format, args...))
}

// serviceAccount reads spec.serviceAccountRef. What names nobody is refused: it must never be taken for the controller itself.
func (c *compiler) serviceAccount() types.NamespacedName {
	ref := c.blueprint.Spec.ServiceAccountRef
	if ref == nil {
		return types.NamespacedName{}
	}
	for _, field := range []struct {
		name, value string
		problems    []string
	}{
		{"namespace", ref.Namespace, validation.IsDNS1123Label(ref.Namespace)},
		{"name", ref.Name, validation.IsDNS1123Subdomain(ref.Name)},
	} {
		switch {
		case field.value == "":
			c.say("spec.serviceAccountRef."+field.name, 0, "is empty; name a ServiceAccount, or leave serviceAccountRef out")
		case len(field.problems) > 0:
			c.say("spec.serviceAccountRef."+field.name, 0, "cannot be the %s of a ServiceAccount: %s", field.name, field.problems[0])
		}
	}
	return types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
}

// compileHelpers compiles the blocks that all templates share. They do not know where they are called from, so what they read
// counts for every template that includes them.
func (c *compiler) compileHelpers() {
	const field = "spec.helpers"
	src := source{name: field, text: c.blueprint.Spec.Helpers}
	trees, p := src.parse()
	if p != nil {
		c.say(field, p.line, "%s", p.message)
		return
	}
	c.writtenHelpers = map[string]*parse.Tree{}
	for _, n := range trees[mainTemplate].Root.Nodes {
		if text, ok := n.(*parse.TextNode); !ok || strings.TrimSpace(string(text.Text)) != "" {
			c.say(field, src.line(n.Position()), "only {{ define }} blocks belong here; what stands outside of them is never rendered")
			break
		}
	}
	delete(trees, mainTemplate)
	for name, tree := range trees {
		c.writtenHelpers[name] = tree.Copy()
	}
	c.helperFacts = c.instrument(field, src, trees, nil)
	c.helpers = trees
}

// instrument rewrites all trees of a text; dots other than that of mainTemplate are unknown.
func (c *compiler) instrument(field string, src source, trees map[string]*parse.Tree, variables []string) map[string]*facts {
	learned := map[string]*facts{}
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		in := &instrumenter{source: src, variables: variables, first: len(c.sites)}
		dot := unknown
		if name == mainTemplate {
			dot = root
		}
		learned[name] = in.tree(trees[name], dot)
		c.sites = append(c.sites, in.sites...)
		for _, p := range in.problems {
			c.say(field, p.line, "%s", p.message)
		}
	}
	return learned
}

// templateName is what a template may be called: its name becomes the value of a label.
var templateName = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)

// set compiles the templates that are rendered together.
func (c *compiler) set(field string, routeKind gatewayv1.Kind, texts map[string]string, status *v1alpha1.StatusTemplate) *Set {
	s := &Set{routeKind: routeKind}
	names := slices.Sorted(maps.Keys(texts))
	if len(names) > maxTemplates {
		c.say("spec."+field, 0, "there are %d templates, and at most %d are allowed", len(names), maxTemplates)
		return s
	}
	variables := gatewayVariables
	if routeKind != "" {
		variables = append([]string{string(routeKind), "ParentRef", "Route", "Rules"}, gatewayVariables...)
	}
	graph := map[string][]string{}
	for _, name := range names {
		c.tried[name] = true
		where := field + " " + name
		if !templateName.MatchString(name) {
			c.say(where, 0, "the name of a template must be at most 63 letters, digits, '-', '_' or '.', and begin and end with a letter or digit")
			continue
		}
		u := c.unit(where, source{name: name, text: texts[name]}, variables, names)
		if u == nil {
			continue
		}
		s.units = append(s.units, u)
		graph[name] = u.reads
	}
	if status != nil && status.Template != "" {
		s.status = c.unit(field+" "+statusTemplate, source{name: statusTemplate, text: status.Template}, variables, names)
	}
	order, cycle := sortByReads(graph)
	if cycle != nil {
		c.say("spec."+field, 0, "templates wait for each other: %s", strings.Join(cycle, " reads "))
		return s
	}
	slices.SortFunc(s.units, func(a, b *unit) int {
		return slices.Index(order, a.source.name) - slices.Index(order, b.source.name)
	})
	return s
}

// unit compiles one template; nil if that is impossible.
func (c *compiler) unit(field string, src source, variables, siblings []string) *unit {
	own, p := src.parse()
	if p != nil {
		c.say(field, p.line, "%s", p.message)
		return nil
	}
	for _, name := range names(own) {
		if _, taken := c.helpers[name]; taken {
			c.say(field, 0, "%q is defined here and in spec.helpers; remove one", name)
		}
	}
	u := &unit{source: src, lines: textLines(src, own[mainTemplate])}
	if src.name != statusTemplate {
		u.kinds = c.unitKinds(field, src, own)
	}
	u.uses = usesOf(own, c.writtenHelpers)
	learned, trees := c.instrument(field, src, own, variables), maps.Clone(own)
	maps.Copy(learned, c.helperFacts)
	maps.Copy(trees, c.helpers)
	reads, mayRead := c.link(field, u, trees, learned)
	u.reads = c.settleReads(field, src.name, reads, mayRead, siblings)
	return u
}

// link follows includes from the main text, keeps the trees that can be reached, and gathers which siblings they read.
func (c *compiler) link(field string, u *unit, trees map[string]*parse.Tree, learned map[string]*facts) (reads, mayRead map[string]int) {
	u.trees, u.functions = map[string]*parse.Tree{}, map[string]bool{}
	reads, mayRead = map[string]int{}, map[string]int{}
	var visit func(name string)
	visit = func(name string) {
		if _, seen := u.trees[name]; seen {
			return
		}
		u.trees[name] = trees[name]
		f := learned[name]
		maps.Copy(u.functions, f.functions)
		copyLines(reads, f.reads, name == mainTemplate)
		copyLines(mayRead, f.mayRead, name == mainTemplate)
		for _, included := range slices.Sorted(maps.Keys(f.includes)) {
			if _, ok := trees[included]; !ok || included == mainTemplate {
				if c.helpers == nil {
					// It may be in the text that cannot be parsed.
					continue
				}
				suggestion := nearest.Suggest(included, names(trees))
				c.say(field, f.includes[included], "there is no template %q to include%s", included, suggestion)
				continue
			}
			visit(included)
		}
		// A computed name may be any; tpl may include anything too.
		if f.computed || f.functions["tpl"] {
			for _, name := range names(trees) {
				visit(name)
			}
		}
	}
	visit(mainTemplate)
	return reads, mayRead
}

// names are the names of define blocks, sorted.
func names(trees map[string]*parse.Tree) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		if name != mainTemplate {
			names = append(names, name)
		}
	}
	return names
}

// copyLines adds what a tree reads; the lines count only where they are those of the template itself.
func copyLines(to, from map[string]int, own bool) {
	for name, line := range from {
		if !own {
			line = 0
		}
		to[name] = max(to[name], line)
	}
}

// settleReads says which siblings a template reads: those that it reads for certain, which must exist, and those that it may read.
func (c *compiler) settleReads(field, self string, certain, possible map[string]int, siblings []string) []string {
	var reads []string
	for _, name := range slices.Sorted(maps.Keys(certain)) {
		switch {
		case name == self:
			c.say(field, certain[name], "a template cannot read its own live objects, since it would wait for itself")
		case !slices.Contains(siblings, name):
			c.say(field, certain[name], "there is no template %q to read by .Resources%s", name, nearest.Suggest(name, siblings))
		default:
			reads = append(reads, name)
		}
	}
	for name := range possible {
		if slices.Contains(siblings, name) && name != self && !slices.Contains(reads, name) {
			reads = append(reads, name)
		}
	}
	slices.Sort(reads)
	return reads
}

// textLines notes on which line each piece of text starts.
func textLines(src source, main *parse.Tree) map[*byte]int {
	lines := map[*byte]int{}
	var visit func(list *parse.ListNode)
	visit = func(list *parse.ListNode) {
		if list == nil {
			return
		}
		for _, n := range list.Nodes {
			switch n := n.(type) {
			case *parse.TextNode:
				if len(n.Text) > 0 {
					lines[&n.Text[0]] = src.line(n.Pos)
				}
			case *parse.IfNode:
				visit(n.List)
				visit(n.ElseList)
			case *parse.WithNode:
				visit(n.List)
				visit(n.ElseList)
			case *parse.RangeNode:
				visit(n.List)
				visit(n.ElseList)
			}
		}
	}
	visit(main.Root)
	return lines
}
