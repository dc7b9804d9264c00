package desired

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/values"
)

// Reach is one path for which values are computed, and what they are: down to the Gateway, to one of its accepted listeners, or to
// a route under one parent that accepts it.
type Reach struct {
	// Parent is the Gateway or ListenerSet that the path ends at or, for a route, that the route is rendered under.
	Parent gateway.ParentKey
	// Listener is the listener that the path ends at; nil for other paths.
	Listener *gateway.Listener
	// Route is the route that the path ends at, and Under which of its parents it leads through; nil for other paths.
	Route *gateway.Route
	Under *gateway.Parent
	// Rule is the rule of the route that the path ends at; empty if it ends at the route.
	Rule gatewayv1.SectionName
	// Values are effective at the end of the path.
	Values values.Effective
}

// Reaches returns all paths of a Gateway: its own first, then those of its listeners, then those of its routes, each followed by those
// of its rules that have names, where any policy is about rules.
func Reaches(in Inputs) []Reach {
	gw := in.Merged.Gateway
	all := []Reach{{Parent: parentKey(gateway.KindGateway, gw.Namespace, gw.Name), Values: in.values(in.target())}}
	listeners := in.listenerValues()
	for i := range in.Merged.Listeners {
		if l := &in.Merged.Listeners[i]; l.Usable {
			key := parentKey(l.Source.Kind, l.Source.Namespace, l.Source.Name)
			all = append(all, Reach{Parent: key, Listener: l, Values: listeners[i]})
		}
	}
	for i := range in.Merged.Attachments {
		route := &in.Merged.Attachments[i].Route
		for j := range in.Merged.Attachments[i].Parents {
			if under := &in.Merged.Attachments[i].Parents[j]; under.Accepted.OK {
				v := in.values(in.routeTarget(*route, *under))
				all = append(all, Reach{Parent: under.Key, Route: route, Under: under, Values: v})
				all = append(all, in.ruleReaches(route, under, v)...)
			}
		}
	}
	return all
}

// ruleReaches are the paths of a route that go on to its rules. of are the values of the route.
func (in Inputs) ruleReaches(route *gateway.Route, under *gateway.Parent, of values.Effective) []Reach {
	if !in.narrowedToRules() {
		return nil
	}
	var reaches []Reach
	for i, v := range in.ruleValues(*route, *under, of) {
		if name := route.Rules[i]; name != "" {
			reaches = append(reaches, Reach{Parent: under.Key, Route: route, Under: under, Rule: name, Values: v})
		}
	}
	return reaches
}

// ruleValues are the values of each rule of a route under one parent. A rule without a name, of which no policy can speak, has those
// of the route.
func (in Inputs) ruleValues(route gateway.Route, under gateway.Parent, of values.Effective) []values.Effective {
	list := slices.Repeat([]values.Effective{of}, len(route.Rules))
	if !in.narrowedToRules() {
		return list
	}
	t := in.routeTarget(route, under)
	t.RulesUnread = in.rulesUnread(route.Kind)
	for i, name := range route.Rules {
		if name != "" {
			t.Route.Rule = string(name)
			list[i] = in.values(t)
		}
	}
	return list
}

func parentKey(kind gatewayv1.Kind, namespace, name string) gateway.ParentKey {
	key := gateway.ParentKey{Kind: kind}
	key.Namespace, key.Name = namespace, name
	return key
}

func (in Inputs) values(target values.Target) values.Effective {
	return values.Compute(in.Blueprint, in.Policies, target)
}

// unread are the kinds of templates that read nothing of what is said of listeners only: the values of listeners are read by any
// template, the values of a route by its own. Where templates are not known, all is read.
func (in Inputs) unread() []v1alpha1.AppliesTo {
	if in.Program == nil {
		return nil
	}
	of := in.Program.Gateway.Uses().ListenerValues
	byRoute := false
	for _, set := range in.Program.Routes {
		uses := set.Uses()
		of, byRoute = of || uses.ListenerValues, byRoute || uses.Values
	}
	return slices.DeleteFunc(slices.Clone(readers), func(a v1alpha1.AppliesTo) bool {
		return a == v1alpha1.AppliesToGateway && of || a == v1alpha1.AppliesToRoute && byRoute
	})
}

// narrowedToRules says whether any policy is about rules of routes.
func (in Inputs) narrowedToRules() bool {
	return slices.ContainsFunc(in.Policies, (*values.Policy).TargetsRules)
}

// rulesUnread says that no template for routes of a kind reads what is said of rules only.
func (in Inputs) rulesUnread(kind gatewayv1.Kind) bool {
	if in.Program == nil {
		return false
	}
	set, ok := in.Program.Routes[kind]
	return !ok || !set.Uses().Rules
}

// readers are all kinds of templates.
var readers = []v1alpha1.AppliesTo{v1alpha1.AppliesToGateway, v1alpha1.AppliesToRoute}

// target is the path from the class down to the Gateway.
func (in Inputs) target() values.Target {
	t := values.Target{
		ControllerNamespace: in.ControllerNamespace,
		Class:               valuesObject(in.Snapshot.Class),
		Gateway:             valuesObject(in.Merged.Gateway),
		Namespaces:          map[string]map[string]string{},
		Unread:              in.unread(),
	}
	in.leadThrough(&t, in.Merged.Gateway)
	return t
}

// leadThrough puts the namespace of an object on the path. A Gateway may have ListenerSets in thousands of namespaces, and the
// path to each leads through one.
func (in Inputs) leadThrough(t *values.Target, o metav1.Object) {
	if labels, known := in.Snapshot.Namespaces[o.GetNamespace()]; known {
		t.Namespaces[o.GetNamespace()] = labels
	}
}

// listenerTarget goes on to one listener of the Gateway or of a ListenerSet.
func (in Inputs) listenerTarget(l gateway.Listener) values.Target {
	t := in.target()
	var source metav1.Object = in.Merged.Gateway
	if l.Source.Kind == gateway.KindListenerSet {
		source = in.listenerSet(l.Source.Namespace, l.Source.Name)
		in.leadThrough(&t, source)
		set := valuesObject(source)
		t.ListenerSet = &set
	}
	t.Listener = listenerOf(source, l)
	return t
}

// listenerOf names a listener with the labels that policies select it by. An annotation that cannot be read counts as absent.
func listenerOf(source metav1.Object, l gateway.Listener) *values.Listener {
	labels, _ := values.ListenerLabels(source.GetLabels(), source.GetAnnotations(),
		string(l.Source.SectionName), string(l.Spec.Protocol), l.Spec.Port)
	return &values.Listener{Name: string(l.Source.SectionName), Labels: labels}
}

// routeTarget goes on by what the route's parentRef declares, to the route.
func (in Inputs) routeTarget(route gateway.Route, parent gateway.Parent) values.Target {
	t := in.target()
	if parent.Key.Kind == gateway.KindListenerSet {
		source := in.listenerSet(parent.Key.Namespace, parent.Key.Name)
		in.leadThrough(&t, source)
		set := valuesObject(source)
		t.ListenerSet = &set
	}
	if parent.Ref.SectionName != nil {
		for _, l := range in.Merged.Listeners {
			if l.Source.Kind == parent.Key.Kind && l.Source.Namespace == parent.Key.Namespace &&
				l.Source.Name == parent.Key.Name && l.Source.SectionName == *parent.Ref.SectionName {
				t.Listener = in.listenerTarget(l).Listener
			}
		}
	}
	in.leadThrough(&t, route.Object)
	t.Route = &values.Route{Kind: string(route.Kind), Object: valuesObject(route.Object)}
	return t
}

// listenerSet finds one of the snapshot's ListenerSets. What is merged stems from the snapshot, so there is one.
func (in Inputs) listenerSet(namespace, name string) *gatewayv1.ListenerSet {
	i := slices.IndexFunc(in.Merged.ListenerSets, func(set gateway.ListenerSet) bool {
		return set.Object.Namespace == namespace && set.Object.Name == name
	})
	if i < 0 {
		return &gatewayv1.ListenerSet{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	}
	return in.Merged.ListenerSets[i].Object
}

func valuesObject(o metav1.Object) values.Object {
	return values.Object{Namespace: o.GetNamespace(), Name: o.GetName(), Labels: o.GetLabels()}
}
