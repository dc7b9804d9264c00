package render

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Context is what templates see. Trees are as decoded from JSON: map[string]any, []any, string, bool, int64, float64, nil. They
// are never changed, and may be shared with other goroutines that only read.
type Context struct {
	// Gateway is `.Gateway`: the Gateway as a map, its spec.listeners already merged.
	Gateway map[string]any
	// Listeners is `.Listeners`: the merged listeners, each a map.
	Listeners []any
	// Route is `.Route`, and also `.HTTPRoute`, `.GRPCRoute`, ... after its kind; nil for a Gateway.
	Route map[string]any
	// ParentRef is `.ParentRef`: the parent that the route is rendered for; nil for a Gateway.
	ParentRef map[string]any
	// Rules is `.Rules`: a map for each rule of the route, with its name and its values; nil for a Gateway.
	Rules []any
	// Values is `.Values`: the effective values.
	Values map[string]any
	// Hostnames is `.Hostnames`.
	Hostnames Hostnames
	// Class is `.Class`: the GatewayClass as a map.
	Class map[string]any
	// Namespace is that of the Gateway or route: where namespaced objects land.
	Namespace string
}

// Hostnames are the hostnames of listeners and routes, each list sorted.
type Hostnames struct {
	// Union holds every hostname once.
	Union []string
	// Intersection is Union without the names that a wildcard of it covers.
	Intersection []string
}

// Observed hands out the live objects of a template as they were last seen; what is not there yet is left out.
type Observed func(template string) []*unstructured.Unstructured

// Object is an object as a template rendered it. Its namespace is filled in, unless the blueprint permits cluster-scoped objects
// and the template left it out: only the API server knows the scope of a kind, so that case is the caller's to complete. The
// object is the caller's to change, but for its kind and name, by which the Run knows it again.
type Object struct {
	// Template that rendered the object.
	Template string
	*unstructured.Unstructured
}

// Pending is a template that cannot be rendered yet. It is not broken, and its objects are not unwanted.
type Pending struct {
	// Template that waits.
	Template string
	// Waits names the templates whose live objects it waits for, sorted.
	Waits []string
	// Message tells people what is missing, e.g. "waits for .Resources.config: not there yet".
	Message string
}

// Failed is a template that is broken, or that what it was given breaks.
type Failed struct {
	// Blueprint and Template say whose text it is.
	Blueprint, Template string
	// Line is the line of the template text, from 1; 0 if no line can be named.
	Line int
	// Message tells people what is wrong and what to write instead. It holds no values.
	Message string
}

// Error is the whole story in one line.
func (f Failed) Error() string {
	where := fmt.Sprintf("blueprint %s, template %s", f.Blueprint, f.Template)
	if f.Line > 0 {
		where += fmt.Sprintf(", line %d", f.Line)
	}
	return where + ": " + f.Message
}

// Result is what became of every template of a Set so far. A template that rendered to nothing appears nowhere.
type Result struct {
	// Objects in order of rendering.
	Objects []Object
	// Pending templates, in the order of Set.Names.
	Pending []Pending
	// Failed templates, in the order of Set.Names.
	Failed []Failed
}

// Status is what a blueprint reports upwards for a Gateway. At most one of the three is set.
type Status struct {
	// Addresses for Gateway.status.addresses; empty if the blueprint has no status template.
	Addresses []gatewayv1.GatewayStatusAddress
	// Pending is set while the status template waits for a live object or a field of one.
	Pending *Pending
	// Failed is set if the status template is broken.
	Failed *Failed
}
