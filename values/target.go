package values

import (
	"slices"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Object is what of an object counts for targeting. Namespace is empty for a cluster-scoped one.
type Object struct {
	Namespace, Name string
	Labels          map[string]string
}

// Listener is a listener as its own Gateway or ListenerSet names it; Labels are those that ListenerLabels gives.
type Listener struct {
	Name   string
	Labels map[string]string
}

// Route is a route, and the rule in question if it is about one.
type Route struct {
	Kind string
	Object
	Rule string
}

// Target is what values are wanted for: the path from the class down to a Gateway, one of its listeners, or a route under
// one parent.
type Target struct {
	// ControllerNamespace is the namespace in which GatewayClassConfigs reach all Gateways of a class; empty
	// means v1alpha1.DefaultControllerNamespace.
	ControllerNamespace string
	// Class is the Gateway's GatewayClass.
	Class Object
	// Gateway is the Gateway, for a listener or a route too.
	Gateway Object
	// ListenerSet is on the path of its own listeners, and of routes whose parent it is.
	ListenerSet *Object
	// Listener belongs to ListenerSet if that is set, else to Gateway. A route has one if its parentRef names a section.
	Listener *Listener
	// Route is set for the values of route templates.
	Route *Route
	// Namespaces holds the labels of the namespaces on the path, by name. Without them no label selects a namespace.
	Namespaces map[string]map[string]string
	// AppliesTo is the kind of template that will read the values; empty means Route if Route is set, else Gateway.
	AppliesTo v1alpha1.AppliesTo
	// Unread are the kinds of templates that do not read what is said of listeners only. A target reference that is narrowed to
	// listeners, and is for such templates alone, is not accepted.
	Unread []v1alpha1.AppliesTo
	// RulesUnread says that the templates of the route read nothing of what is said of its rules. A target reference to a rule is
	// then not accepted.
	RulesUnread bool
}

// reads says whether any template that a target reference is for reads what is said of listeners only.
func (t *Target) reads(ref *targetRef) bool {
	wanted := ref.appliesTo
	if len(wanted) == 0 {
		wanted = []v1alpha1.AppliesTo{v1alpha1.AppliesToGateway, v1alpha1.AppliesToRoute}
	}
	return slices.ContainsFunc(wanted, func(a v1alpha1.AppliesTo) bool { return !slices.Contains(t.Unread, a) })
}

// reader is the kind of template that the values are for.
func (t *Target) reader() v1alpha1.AppliesTo {
	switch {
	case t.AppliesTo != "":
		return t.AppliesTo
	case t.Route != nil:
		return v1alpha1.AppliesToRoute
	default:
		return v1alpha1.AppliesToGateway
	}
}

func (t *Target) controllerNamespace() string {
	if t.ControllerNamespace == "" {
		return v1alpha1.DefaultControllerNamespace
	}
	return t.ControllerNamespace
}

// hop says which of the distinct namespaces on the path this is, the Gateway's being the first; -1 if it is none of them.
func (t *Target) hop(namespace string) int {
	switch {
	case namespace == t.Gateway.Namespace:
		return 0
	case t.ListenerSet != nil && namespace == t.ListenerSet.Namespace:
		return 1
	case t.Route != nil && namespace == t.Route.Namespace:
		return 2
	default:
		return -1
	}
}

// namespaceLevel is the level of a GatewayConfig that targets the namespace on the path that it is in.
func (t *Target) namespaceLevel(namespace string) Level {
	return [...]Level{LevelNamespace, LevelListenerSetNamespace, LevelRouteNamespace}[max(0, t.hop(namespace))]
}

// namespace is a namespace on the path as an object.
func (t *Target) namespace(name string) *Object {
	return &Object{Name: name, Labels: t.Namespaces[name]}
}

// variable is what expressions know of the target: the most specific object on the path.
func (t *Target) variable() map[string]any {
	kind, object, listener := kindGateway, &t.Gateway, ""
	if t.ListenerSet != nil {
		kind, object = kindListenerSet, t.ListenerSet
	}
	if t.Route != nil {
		kind, object = t.Route.Kind, &t.Route.Object
	}
	if t.Listener != nil {
		listener = t.Listener.Name
	}
	labels := object.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	return map[string]any{
		"kind": kind, "namespace": object.Namespace, "name": object.Name, "labels": labels,
		"gatewayClassName": t.Class.Name, "listener": listener,
	}
}
