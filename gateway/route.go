package gateway

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// RouteKinds are the kinds of routes that Gateway API has, in the order in which they are reported.
var RouteKinds = []gatewayv1.Kind{KindHTTPRoute, KindGRPCRoute, KindTLSRoute, KindTCPRoute, KindUDPRoute}

// Route is a route of any kind, reduced to what attachment and references need.
type Route struct {
	// Kind of the route, in group gateway.networking.k8s.io.
	Kind gatewayv1.Kind
	// Object is the typed route.
	Object metav1.Object
	// ParentRefs of the route, as written.
	ParentRefs []gatewayv1.ParentReference
	// Hostnames of the route; empty means all, and always so for kinds that have none.
	Hostnames []gatewayv1.Hostname
	// Rules are the names of the route's rules, in order; empty for a rule that has none.
	Rules []gatewayv1.SectionName
	// Backends are all that the route refers to for its traffic, those of filters included, in the order of the route.
	Backends []Backend
}

// Backend is a reference of a route.
type Backend struct {
	// Path is the field that holds the reference, such as "spec.rules[0].backendRefs[1]".
	Path string
	// Ref is the reference as written.
	Ref gatewayv1.BackendObjectReference
}

// RouteOf reduces a route of any kind. It is false for an object that is none. The result shares its lists with the route.
func RouteOf(object metav1.Object) (Route, bool) {
	switch r := object.(type) {
	case *gatewayv1.HTTPRoute:
		return HTTPRoute(r), true
	case *gatewayv1.GRPCRoute:
		return grpcRoute(r), true
	case *gatewayv1.TLSRoute:
		route := Route{Kind: KindTLSRoute, Object: r, ParentRefs: r.Spec.ParentRefs, Hostnames: r.Spec.Hostnames}
		for i := range r.Spec.Rules {
			route.addRule(r.Spec.Rules[i].Name)
			route.addBackends(i, r.Spec.Rules[i].BackendRefs)
		}
		return route, true
	case *gatewayv1.TCPRoute:
		route := Route{Kind: KindTCPRoute, Object: r, ParentRefs: r.Spec.ParentRefs}
		for i := range r.Spec.Rules {
			route.addRule(r.Spec.Rules[i].Name)
			route.addBackends(i, r.Spec.Rules[i].BackendRefs)
		}
		return route, true
	case *gatewayv1.UDPRoute:
		route := Route{Kind: KindUDPRoute, Object: r, ParentRefs: r.Spec.ParentRefs}
		for i := range r.Spec.Rules {
			route.addRule(r.Spec.Rules[i].Name)
			route.addBackends(i, r.Spec.Rules[i].BackendRefs)
		}
		return route, true
	}
	return Route{}, false
}

// HTTPRoute reduces an HTTPRoute. The result shares its lists with the route.
func HTTPRoute(r *gatewayv1.HTTPRoute) Route {
	route := Route{Kind: KindHTTPRoute, Object: r, ParentRefs: r.Spec.ParentRefs, Hostnames: r.Spec.Hostnames}
	for i := range r.Spec.Rules {
		rule := &r.Spec.Rules[i]
		at := fmt.Sprintf("spec.rules[%d]", i)
		route.addRule(rule.Name)
		route.addHTTPFilters(at, rule.Filters)
		for j := range rule.BackendRefs {
			ref := &rule.BackendRefs[j]
			path := fmt.Sprintf("%s.backendRefs[%d]", at, j)
			route.addBackend(path, ref.BackendObjectReference)
			route.addHTTPFilters(path, ref.Filters)
		}
	}
	return route
}

func grpcRoute(r *gatewayv1.GRPCRoute) Route {
	route := Route{Kind: KindGRPCRoute, Object: r, ParentRefs: r.Spec.ParentRefs, Hostnames: r.Spec.Hostnames}
	for i := range r.Spec.Rules {
		rule := &r.Spec.Rules[i]
		at := fmt.Sprintf("spec.rules[%d]", i)
		route.addRule(rule.Name)
		route.addGRPCFilters(at, rule.Filters)
		for j := range rule.BackendRefs {
			ref := &rule.BackendRefs[j]
			path := fmt.Sprintf("%s.backendRefs[%d]", at, j)
			route.addBackend(path, ref.BackendObjectReference)
			route.addGRPCFilters(path, ref.Filters)
		}
	}
	return route
}

func (r *Route) addRule(name *gatewayv1.SectionName) {
	r.Rules = append(r.Rules, valueOr(name, ""))
}

func (r *Route) addBackend(path string, ref gatewayv1.BackendObjectReference) {
	r.Backends = append(r.Backends, Backend{Path: path, Ref: ref})
}

func (r *Route) addBackends(rule int, refs []gatewayv1.BackendRef) {
	for i := range refs {
		r.addBackend(fmt.Sprintf("spec.rules[%d].backendRefs[%d]", rule, i), refs[i].BackendObjectReference)
	}
}

func (r *Route) addHTTPFilters(at string, filters []gatewayv1.HTTPRouteFilter) {
	for i := range filters {
		if mirror := filters[i].RequestMirror; mirror != nil {
			r.addBackend(fmt.Sprintf("%s.filters[%d].requestMirror.backendRef", at, i), mirror.BackendRef)
		}
		if auth := filters[i].ExternalAuth; auth != nil {
			r.addBackend(fmt.Sprintf("%s.filters[%d].externalAuth.backendRef", at, i), auth.BackendRef)
		}
	}
}

func (r *Route) addGRPCFilters(at string, filters []gatewayv1.GRPCRouteFilter) {
	for i := range filters {
		if mirror := filters[i].RequestMirror; mirror != nil {
			r.addBackend(fmt.Sprintf("%s.filters[%d].requestMirror.backendRef", at, i), mirror.BackendRef)
		}
	}
}
