package render

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Program is a blueprint, compiled. It is safe for concurrent use.
type Program struct {
	// Gateway is rendered once for each Gateway; never nil.
	Gateway *Set
	// Routes are rendered once for each route and parent, by the kind of the route.
	Routes map[gatewayv1.Kind]*Set

	kinds         []schema.GroupVersionKind
	clusterScoped bool
}

// Compile turns a blueprint into a Program. The error is for people: every problem found, each naming field or template and line.
func Compile(b *v1alpha1.GatewayClassBlueprint) (*Program, error) {
	return nil, errors.New("not yet")
}

// Kinds are all kinds that objects of the program may have, sorted.
func (p *Program) Kinds() []schema.GroupVersionKind { return p.kinds }

// ClusterScopedPermitted says whether objects without a namespace may be applied.
func (p *Program) ClusterScopedPermitted() bool { return p.clusterScoped }

// Set is the templates that are rendered together for one Gateway or one route.
type Set struct{}

// Names of the templates, each after all that it reads by .Resources, else by name.
func (s *Set) Names() []string { return nil }

// Reads says whether the live objects of a template are read by another template or by the status template.
func (s *Set) Reads(name string) bool { return false }

// Start begins a rendering. The context must not change until the Run is done.
func (s *Set) Start(c Context) *Run { return &Run{} }

// Run is one rendering of a Set. Every template is executed at most once with success. A Run belongs to one goroutine.
type Run struct{}

// Advance renders every template that can be rendered now and was not yet, and returns the objects that are new, in order. A
// template can be rendered once each object of each template that it reads is among the observed ones.
func (r *Run) Advance(observed Observed) []Object { return nil }

// Result is what became of every template so far.
func (r *Run) Result() Result { return Result{} }

// Status renders the status template.
func (r *Run) Status(observed Observed) Status { return Status{} }
