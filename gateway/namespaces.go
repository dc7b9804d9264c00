package gateway

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// namespaceRule says from which namespaces something may attach to an object.
type namespaceRule struct {
	from     gatewayv1.FromNamespaces
	selector *metav1.LabelSelector
	// home is the namespace that Same is relative to.
	home string
}

// listenerSetRule is how a Gateway lets ListenerSets in. The default is not at all.
func listenerSetRule(gw *gatewayv1.Gateway) namespaceRule {
	rule := namespaceRule{from: gatewayv1.NamespacesFromNone, home: gw.Namespace}
	if allowed := gw.Spec.AllowedListeners; allowed != nil && allowed.Namespaces != nil {
		rule.from = valueOr(allowed.Namespaces.From, rule.from)
		rule.selector = allowed.Namespaces.Selector
	}
	return rule
}

// routeRule is how a listener lets routes in. The default is its own namespace: for a listener of a ListenerSet that of
// the ListenerSet.
func routeRule(l *Listener) namespaceRule {
	rule := namespaceRule{from: gatewayv1.NamespacesFromSame, home: l.Source.Namespace}
	if allowed := l.Spec.AllowedRoutes; allowed != nil && allowed.Namespaces != nil {
		rule.from = valueOr(allowed.Namespaces.From, rule.from)
		rule.selector = allowed.Namespaces.Selector
	}
	return rule
}

// doorkeeper applies namespace rules to the namespaces of a snapshot. It reads each selector once, since a listener is
// asked for every one of its routes.
type doorkeeper struct {
	namespaces map[string]labels.Set
	// selectors holds what was read; nil for a selector that cannot be.
	selectors map[*metav1.LabelSelector]labels.Selector
}

func newDoorkeeper(namespaces map[string]labels.Set) doorkeeper {
	return doorkeeper{namespaces: namespaces, selectors: map[*metav1.LabelSelector]labels.Selector{}}
}

// admits says whether the rule lets something in from a namespace. What is in doubt lets nothing in: neither a selector
// that cannot be read nor a namespace that the snapshot does not know.
func (d doorkeeper) admits(rule namespaceRule, namespace string) bool {
	switch rule.from {
	case gatewayv1.NamespacesFromAll:
		return true
	case gatewayv1.NamespacesFromSame:
		return namespace == rule.home
	case gatewayv1.NamespacesFromSelector:
		set, known := d.namespaces[namespace]
		selector := d.selector(rule.selector)
		return known && selector != nil && selector.Matches(set)
	case gatewayv1.NamespacesFromNone:
	}
	return false
}

// understands is false for a rule whose selector cannot be read.
func (d doorkeeper) understands(rule namespaceRule) bool {
	return rule.from != gatewayv1.NamespacesFromSelector || d.selector(rule.selector) != nil
}

// selector reads a selector. It is nil for one that cannot be read; one that is missing selects nothing.
func (d doorkeeper) selector(s *metav1.LabelSelector) labels.Selector {
	if read, done := d.selectors[s]; done {
		return read
	}
	read, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		read = nil
	}
	d.selectors[s] = read
	return read
}
