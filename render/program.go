package render

import (
	"maps"
	"slices"

	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Program is a blueprint, compiled. It is safe for concurrent use.
type Program struct {
	// Gateway is rendered once for each Gateway; never nil.
	Gateway *Set
	// Routes are rendered once for each route and parent, by the kind of the route.
	Routes map[gatewayv1.Kind]*Set

	kinds   []schema.GroupVersionKind
	permits permits
	// read are the kinds of which the bodies of live objects are read.
	read map[schema.GroupVersionKind]bool
	// serviceAccount is the one as which objects are applied; empty for the controller itself.
	serviceAccount types.NamespacedName
}

// Kinds are all kinds that objects of the program may have, sorted.
func (p *Program) Kinds() []schema.GroupVersionKind { return slices.Clone(p.kinds) }

// ReadsBody says whether more may be read of live objects of a kind than their metadata: by a template that reads those of another, or
// by an expression that says when they are ready.
func (p *Program) ReadsBody(kind schema.GroupVersionKind) bool { return p.read[kind] }

// ServiceAccount is the one as which objects are applied; empty if it is the controller itself.
func (p *Program) ServiceAccount() types.NamespacedName { return p.serviceAccount }

// ClusterScopedPermitted says whether objects without a namespace may be applied.
func (p *Program) ClusterScopedPermitted() bool { return p.permits.clusterScoped }

// Set is the templates that are rendered together for one Gateway or one route.
type Set struct {
	blueprint string
	// routeKind is the kind of the route that the set is for; "" for a Gateway.
	routeKind gatewayv1.Kind
	// units are the resource templates in order of rendering.
	units   []*unit
	status  *unit
	permits *permits
	// ready are the expressions that say when objects of a template are ready, by its name.
	ready map[string]cel.Program
	// recreate are the templates whose objects may be deleted and created anew.
	recreate []string
	// uses and depths follow from the units; they are asked for with every target of values, and with every object.
	uses   Uses
	depths map[string]int
}

// Names of the templates, each after all that it reads by .Resources, else by name.
func (s *Set) Names() []string {
	names := make([]string, len(s.units))
	for i, u := range s.units {
		names[i] = u.source.name
	}
	return names
}

// Depth is how long the longest chain of templates is that a template reads, each by the one before; 0 if it reads none.
func (s *Set) Depth(name string) int { return s.depths[name] }

// depthsOf are the depths of all templates that read any, by name. The units are in the order of rendering.
func depthsOf(units []*unit) map[string]int {
	depths := map[string]int{}
	for _, u := range units {
		for _, read := range u.reads {
			depths[u.source.name] = max(depths[u.source.name], depths[read]+1)
		}
	}
	return depths
}

// Reads says whether the live objects of a template are read by another template or by the status template.
func (s *Set) Reads(name string) bool {
	return slices.ContainsFunc(s.units, func(u *unit) bool { return slices.Contains(u.reads, name) }) ||
		(s.status != nil && slices.Contains(s.status.reads, name))
}

// readKinds adds the kinds of objects that are read by a template, or by an expression that says when they are ready.
func (s *Set) readKinds(kinds map[schema.GroupVersionKind]bool) {
	for _, u := range s.units {
		if _, judged := s.ready[u.source.name]; judged || s.Reads(u.source.name) {
			maps.Copy(kinds, u.kinds)
		}
	}
}

// Recreates says whether objects of a template may be deleted and created anew where a change of them is refused, since a field is
// immutable.
func (s *Set) Recreates(template string) bool { return slices.Contains(s.recreate, template) }

// Uses are the parts of the context that its templates may read.
func (s *Set) Uses() Uses { return s.uses }
