package render

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/internal/manifest"
)

// Run is one rendering of a Set. Every template is executed at most once with success. A Run belongs to one goroutine.
type Run struct {
	set     *Set
	context Context
	// variables of the context; .Resources is added for each template.
	variables map[string]any
	// outcomes of the set's units, in their order.
	outcomes []outcome
	// owners are the templates that rendered each object.
	owners  map[identity]string
	objects []Object
}

// outcome is what became of a template; of pending and failed, at most one is set.
type outcome struct {
	rendered bool
	objects  []*unstructured.Unstructured
	pending  *Pending
	failed   *Failed
}

// identity of an object: two that agree in it are the same to the API server, whatever their versions.
type identity struct {
	kind            schema.GroupKind
	namespace, name string
}

// identify an object. One that was rendered without a namespace may yet land in the parent's, since the scope of its kind is not
// known; within a Run, it is the same either way.
func (r *Run) identify(o *unstructured.Unstructured) identity {
	id := identity{kind: o.GroupVersionKind().GroupKind(), namespace: o.GetNamespace(), name: o.GetName()}
	if id.namespace == "" {
		id.namespace = r.context.Namespace
	}
	return id
}

// Start begins a rendering. The context must not change until the Run is done.
func (s *Set) Start(c Context) *Run {
	r := &Run{set: s, context: c, outcomes: make([]outcome, len(s.units)), owners: map[identity]string{}}
	r.variables = map[string]any{
		"Gateway":   orEmpty(c.Gateway),
		"Listeners": c.Listeners,
		"Values":    orEmpty(c.Values),
		"Class":     orEmpty(c.Class),
		"Hostnames": map[string]any{"Union": anyList(c.Hostnames.Union), "Intersection": anyList(c.Hostnames.Intersection)},
	}
	if c.Listeners == nil {
		r.variables["Listeners"] = []any{}
	}
	if s.routeKind != "" {
		r.variables["Route"], r.variables[string(s.routeKind)] = orEmpty(c.Route), orEmpty(c.Route)
		r.variables["ParentRef"] = orEmpty(c.ParentRef)
		r.variables["Rules"] = c.Rules
		if c.Rules == nil {
			r.variables["Rules"] = []any{}
		}
	}
	return r
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

func anyList(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// Advance renders every template that can be rendered now and was not yet, and returns the objects that are new, in order. A
// template can be rendered once every template that it reads is rendered and each object of those is among the observed ones.
func (r *Run) Advance(observed Observed) []Object {
	from := len(r.objects)
	cache := &observations{observed: observed, seen: map[string]liveObjects{}, missing: map[string]bool{}}
	for i, u := range r.set.units {
		if o := &r.outcomes[i]; !o.rendered && o.failed == nil {
			*o = r.render(u, cache)
			for _, object := range o.objects {
				r.objects = append(r.objects, Object{Template: u.source.name, Unstructured: object})
			}
		}
	}
	return slices.Clone(r.objects[from:])
}

// Result is what became of every template so far.
func (r *Run) Result() Result {
	result := Result{Objects: slices.Clone(r.objects)}
	for i, o := range r.outcomes {
		switch {
		case o.pending != nil:
			result.Pending = append(result.Pending, *o.pending)
		case o.failed != nil:
			result.Failed = append(result.Failed, *o.failed)
		case !o.rendered:
			name := r.set.units[i].source.name
			result.Pending = append(result.Pending, Pending{Template: name, Message: "was not rendered yet"})
		}
	}
	return result
}

func (r *Run) render(u *unit, cache *observations) outcome {
	root, pending := r.root(u, cache)
	if pending != nil {
		return outcome{pending: pending}
	}
	var docs []manifest.Document
	out, line, f := u.execute(root, func(printed []byte, bind manifest.Bind) (err error) {
		docs, err = manifest.DecodeBound(printed, bind)
		return err
	})
	if f != nil {
		pending, failed := r.judge(u, line, f)
		return outcome{pending: pending, failed: failed}
	}
	objects := make([]*unstructured.Unstructured, 0, len(docs))
	for _, doc := range docs {
		f := r.admit(u, doc)
		if f == nil {
			f = r.claim(doc.Unstructured, objects)
		}
		if f != nil {
			return outcome{failed: r.failed(u, out.sourceLine(doc.Line), f)}
		}
		objects = append(objects, doc.Unstructured)
	}
	for _, o := range objects {
		r.owners[r.identify(o)] = u.source.name
	}
	return outcome{rendered: true, objects: objects}
}

// claim refuses an object that was rendered already, and one too many.
func (r *Run) claim(o *unstructured.Unstructured, earlier []*unstructured.Unstructured) *fault {
	id := r.identify(o)
	if owner, taken := r.owners[id]; taken {
		return broken("template %s renders the same %s already; give one of them another name", owner, id.kind.Kind)
	}
	if slices.ContainsFunc(earlier, func(e *unstructured.Unstructured) bool { return r.identify(e) == id }) {
		return broken("the template renders two %s objects of the same name", id.kind.Kind)
	}
	if len(r.objects)+len(earlier)+1 > maxObjects {
		return broken("there are more than %d objects", maxObjects)
	}
	return nil
}

// judge turns a fault into one of the two results it may be.
func (r *Run) judge(u *unit, line int, f *fault) (*Pending, *Failed) {
	if !f.pending {
		return nil, r.failed(u, line, f)
	}
	waits := f.waits
	if len(waits) == 0 {
		waits = u.reads
	}
	waits = slices.Compact(slices.Sorted(slices.Values(waits)))
	return &Pending{Template: u.source.name, Waits: waits, Message: bounded("waits: " + f.Error())}, nil
}

func (r *Run) failed(u *unit, line int, f *fault) *Failed {
	return &Failed{Blueprint: r.set.blueprint, Template: u.source.name, Line: line, Message: bounded(f.Error())}
}

// bounded keeps a message short enough for a condition, whatever keys it names.
func bounded(message string) string {
	const most = 1000
	if len(message) <= most {
		return message
	}
	return strings.ToValidUTF8(message[:most], "") + "..."
}

// root makes what a template is given, or says what it still waits for.
func (r *Run) root(u *unit, cache *observations) (map[string]any, *Pending) {
	seen := resources{}
	var waits, messages []string
	for _, name := range u.reads {
		objects, missing := r.observe(name, cache)
		if missing != "" {
			waits = append(waits, name)
			messages = append(messages, fmt.Sprintf(".Resources.%s: %s", name, missing))
			continue
		}
		seen[name] = objects
	}
	if len(waits) > 0 {
		return nil, &Pending{Template: u.source.name, Waits: waits, Message: "waits for " + strings.Join(messages, "; ")}
	}
	root := maps.Clone(r.variables)
	root["Resources"] = seen
	return root, nil
}

// observations are what is observed during one Advance, copied for templates once.
type observations struct {
	observed Observed
	seen     map[string]liveObjects
	missing  map[string]bool
}

// observe gives the live objects of a template in the order in which it rendered them, or says why that is not possible yet.
func (r *Run) observe(name string, cache *observations) (objects liveObjects, missing string) {
	i := slices.IndexFunc(r.set.units, func(u *unit) bool { return u.source.name == name })
	switch o := r.outcomes[i]; {
	case o.failed != nil:
		return nil, "its template failed"
	case !o.rendered:
		return nil, "its template is not rendered yet"
	}
	if objects, ok := cache.seen[name]; ok {
		return objects, ""
	}
	if cache.missing[name] {
		return nil, "not there yet"
	}
	observed := map[identity]*unstructured.Unstructured{}
	for _, o := range cache.observed(name) {
		if o != nil {
			observed[r.identify(o)] = o
		}
	}
	objects = liveObjects{}
	for _, rendered := range r.outcomes[i].objects {
		o, ok := observed[r.identify(rendered)]
		if !ok {
			cache.missing[name] = true
			return nil, "not there yet"
		}
		objects = append(objects, liveCopy(o))
	}
	cache.seen[name] = objects
	return objects, ""
}
