package desired

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/values"
)

func (in Inputs) values(target values.Target) values.Effective {
	return values.Compute(in.Blueprint, in.Policies, target)
}

// target is the path from the class down to the Gateway.
func (in Inputs) target() values.Target {
	t := values.Target{
		ControllerNamespace: in.ControllerNamespace,
		Class:               valuesObject(in.Snapshot.Class),
		Gateway:             valuesObject(in.Merged.Gateway),
		Namespaces:          make(map[string]map[string]string, len(in.Snapshot.Namespaces)),
	}
	for name, labels := range in.Snapshot.Namespaces {
		t.Namespaces[name] = labels
	}
	return t
}

// listenerTarget goes on to one listener of the Gateway or of a ListenerSet.
func (in Inputs) listenerTarget(l gateway.Listener) values.Target {
	t := in.target()
	if l.Source.Kind == gateway.KindListenerSet {
		t.ListenerSet = in.listenerSet(l.Source.Namespace, l.Source.Name)
	}
	t.Listener = &values.Listener{Name: string(l.Source.SectionName)}
	return t
}

// routeTarget goes on by what the route's parentRef declares, to the route.
func (in Inputs) routeTarget(route gateway.Route, parent gateway.Parent) values.Target {
	t := in.target()
	if parent.Key.Kind == gateway.KindListenerSet {
		t.ListenerSet = in.listenerSet(parent.Key.Namespace, parent.Key.Name)
	}
	if parent.Ref.SectionName != nil {
		t.Listener = &values.Listener{Name: string(*parent.Ref.SectionName)}
	}
	t.Route = &values.Route{Kind: string(route.Kind), Object: valuesObject(route.Object)}
	return t
}

func (in Inputs) listenerSet(namespace, name string) *values.Object {
	for _, set := range in.Snapshot.ListenerSets {
		if set.Namespace == namespace && set.Name == name {
			o := valuesObject(set)
			return &o
		}
	}
	return &values.Object{Namespace: namespace, Name: name}
}

func valuesObject(o metav1.Object) values.Object {
	return values.Object{Namespace: o.GetNamespace(), Name: o.GetName(), Labels: o.GetLabels()}
}

// GatewayValues are the effective values that the templates of the Gateway read.
func GatewayValues(in Inputs) values.Effective {
	return in.values(in.target())
}
