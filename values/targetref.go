package values

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// The kinds that policies may target.
const (
	kindNamespace    = "Namespace"
	kindGatewayClass = "GatewayClass"
	kindGateway      = "Gateway"
	kindListenerSet  = "ListenerSet"
)

// groups are the groups of the kinds that policies may target.
var groups = map[string]string{
	kindNamespace:    "",
	kindGatewayClass: gatewayv1.GroupName,
	kindGateway:      gatewayv1.GroupName,
	kindListenerSet:  gatewayv1.GroupName,
	"HTTPRoute":      gatewayv1.GroupName,
	"GRPCRoute":      gatewayv1.GroupName,
	"TLSRoute":       gatewayv1.GroupName,
	"TCPRoute":       gatewayv1.GroupName,
	"UDPRoute":       gatewayv1.GroupName,
}

// targetRef is a target reference as it was understood.
type targetRef struct {
	// index in the policy's list, for status.
	index int
	kind  string
	// objects selects by labels; where it is nil, name names the one object.
	objects labels.Selector
	name    string
	// section names a listener or rule, listeners selects listeners by labels; at most one of them is set.
	section   string
	listeners labels.Selector
	appliesTo []v1alpha1.AppliesTo
}

// parseTargetRef reads one target reference of a policy of the given kind, or says what is wrong with it.
func parseTargetRef(policyKind string, index int, r *v1alpha1.PolicyTargetReference) (targetRef, error) {
	ref := targetRef{index: index, kind: string(r.Kind), name: string(r.Name), appliesTo: slices.Clone(r.AppliesTo)}
	if err := checkKind(policyKind, r); err != nil {
		return ref, err
	}
	if err := checkSections(r); err != nil {
		return ref, err
	}
	if (r.Name == "") == (r.Selector == nil) {
		return ref, errors.New("needs exactly one of name and selector; write `selector: {}` to target all of its kind")
	}
	for _, template := range r.AppliesTo {
		if template != v1alpha1.AppliesToGateway && template != v1alpha1.AppliesToRoute {
			return ref, fmt.Errorf("has appliesTo %q; write %s, %s or both", template, v1alpha1.AppliesToGateway, v1alpha1.AppliesToRoute)
		}
	}
	if r.SectionName != nil {
		ref.section = string(*r.SectionName)
	}
	var err error
	if ref.objects, err = parseSelector("selector", r.Selector); err != nil {
		return ref, err
	}
	ref.listeners, err = parseSelector("listenerSelector", r.ListenerSelector)
	return ref, err
}

// checkKind holds a reference's kind against what a policy of the given kind may target.
func checkKind(policyKind string, r *v1alpha1.PolicyTargetReference) error {
	kind := string(r.Kind)
	group, known := groups[kind]
	byClass := kind == kindGatewayClass || kind == kindNamespace
	switch {
	case !known:
		return fmt.Errorf("has kind %q; write GatewayClass, Namespace, Gateway, ListenerSet, HTTPRoute, GRPCRoute, TLSRoute, TCPRoute or UDPRoute", kind)
	case string(r.Group) != group:
		return fmt.Errorf("has group %q; write %q for kind %s", r.Group, group, kind)
	case policyKind == v1alpha1.KindGatewayClassConfig && !byClass:
		return fmt.Errorf("has kind %s, but a GatewayClassConfig may target GatewayClass and Namespace only; use a GatewayConfig", kind)
	case policyKind == v1alpha1.KindGatewayConfig && kind == kindGatewayClass:
		return fmt.Errorf("has kind %s, but a GatewayConfig may not target it; use a GatewayClassConfig", kind)
	}
	return nil
}

// checkSections holds sectionName and listenerSelector against the reference's kind.
func checkSections(r *v1alpha1.PolicyTargetReference) error {
	kind := string(r.Kind)
	switch {
	case r.SectionName == nil && r.ListenerSelector == nil:
		return nil
	case r.SectionName != nil && r.ListenerSelector != nil:
		return errors.New("has both sectionName and listenerSelector; keep one of them")
	case kind == kindGatewayClass || kind == kindNamespace:
		return fmt.Errorf("has sectionName or listenerSelector, but %s has no sections", kind)
	case r.ListenerSelector != nil && kind != kindGateway && kind != kindListenerSet:
		return fmt.Errorf("has listenerSelector, but %s has rules, not listeners; name one by sectionName", kind)
	case r.SectionName != nil && *r.SectionName == "":
		return fmt.Errorf("has an empty sectionName; leave it out to target the whole %s", kind)
	}
	return nil
}

// parseSelector reads a label selector; nil stays nil, which is not the selector of all.
func parseSelector(field string, s *metav1.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return nil, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return nil, fmt.Errorf("has a %s that cannot be read: %w", field, err)
	}
	return selector, nil
}

// selects says whether the reference means this object, its kind and namespace aside.
func (r *targetRef) selects(o *Object) bool {
	if r.objects != nil {
		return r.objects.Matches(labels.Set(o.Labels))
	}
	return r.name == o.Name
}

// rank is the exact place of a policy in the order of precedence: its level and, for levels 3 and 4, which exist once for
// each namespace on the path, how far down the path the policy's namespace is.
type rank struct {
	level Level
	hop   int
}

func (r rank) compare(other rank) int {
	return cmp.Or(cmp.Compare(r.level, other.level), cmp.Compare(r.hop, other.hop))
}

// narrowed says whether the reference is to listeners of a Gateway or ListenerSet.
func (r *targetRef) narrowed() bool {
	return r.listeners != nil || r.section != "" && (r.kind == kindGateway || r.kind == kindListenerSet)
}

// ofRule says whether the reference is to a rule of routes.
func (r *targetRef) ofRule() bool {
	return r.section != "" && r.kind != kindGateway && r.kind != kindListenerSet
}

// place finds the most specific rank at which the policy matches the target, and the indexes of all references that do. No
// indexes means that it does not match. Those that would match, but are not accepted, are refused.
func (p *Policy) place(t *Target) (best rank, matching, refused []int) {
	for i := range p.refs {
		ref := &p.refs[i]
		at, ok := p.rankOf(ref, t)
		if !ok || !appliesTo(ref, t) {
			continue
		}
		if ref.narrowed() && !t.reads(ref) || ref.ofRule() && t.RulesUnread {
			refused = append(refused, ref.index)
			continue
		}
		matching = append(matching, ref.index)
		if at.compare(best) > 0 {
			best = at
		}
	}
	return best, matching, refused
}

// appliesTo says whether the templates that the values are for shall see those of the reference.
func appliesTo(ref *targetRef, t *Target) bool {
	return len(ref.appliesTo) == 0 || slices.Contains(ref.appliesTo, t.reader())
}

// rankOf is the rank at which one reference matches the target.
func (p *Policy) rankOf(ref *targetRef, t *Target) (rank, bool) {
	if p.kind == v1alpha1.KindGatewayClassConfig {
		return p.classRank(ref, t)
	}
	namespace := p.meta.Namespace
	switch ref.kind {
	case kindNamespace:
		return rank{level: t.namespaceLevel(namespace)}, t.hop(namespace) >= 0 && ref.selects(t.namespace(namespace))
	case kindGateway:
		if t.Gateway.Namespace != namespace || !ref.selects(&t.Gateway) {
			return rank{}, false
		}
		listener := t.Listener
		if t.ListenerSet != nil {
			listener = nil // it is not the Gateway's own
		}
		return listenerRank(ref, listener, LevelGatewaySelected)
	case kindListenerSet:
		if t.ListenerSet == nil || t.ListenerSet.Namespace != namespace || !ref.selects(t.ListenerSet) {
			return rank{}, false
		}
		return listenerRank(ref, t.Listener, LevelListenerSetSelected)
	default:
		if t.Route == nil || t.Route.Kind != ref.kind || t.Route.Namespace != namespace || !ref.selects(&t.Route.Object) {
			return rank{}, false
		}
		return routeRank(ref, t.Route)
	}
}

// classRank is rankOf for a GatewayClassConfig. In the controller's namespace it is level 2 only.
func (p *Policy) classRank(ref *targetRef, t *Target) (rank, bool) {
	namespace := p.meta.Namespace
	global := namespace == t.controllerNamespace()
	hop := t.hop(namespace)
	switch {
	case ref.kind == kindGatewayClass && global:
		return rank{level: LevelClassGlobal}, ref.selects(&t.Class)
	case ref.kind == kindGatewayClass:
		return rank{LevelClassLocal, hop}, hop >= 0 && ref.selects(&t.Class)
	default:
		return rank{LevelClassNamespace, hop}, !global && hop >= 0 && ref.selects(t.namespace(namespace))
	}
}

// listenerRank is the rank of a reference to a Gateway or ListenerSet that is on the path. The levels from selected on are,
// in this order: the object by selector, by name, its listener by selector, by name.
func listenerRank(ref *targetRef, listener *Listener, selected Level) (rank, bool) {
	switch {
	case ref.section != "":
		return rank{level: selected + 3}, listener != nil && listener.Name == ref.section
	case ref.listeners != nil:
		return rank{level: selected + 2}, listener != nil && ref.listeners.Matches(labels.Set(listener.Labels))
	case ref.objects != nil:
		return rank{level: selected}, true
	default:
		return rank{level: selected + 1}, true
	}
}

// routeRank is the rank of a reference to the route.
func routeRank(ref *targetRef, route *Route) (rank, bool) {
	switch {
	case ref.section != "":
		return rank{level: LevelRule}, route.Rule == ref.section
	case ref.objects != nil:
		return rank{level: LevelRouteSelected}, true
	default:
		return rank{level: LevelRoute}, true
	}
}
