package desired

import (
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/render"
	"github.com/gatewright/gatewright/values"
)

// context gathers what is the same to all templates of a set, as far as they read it. listeners are the values of listeners,
// nil where they are not read.
func (in Inputs) context(uses render.Uses, listeners []values.Effective) render.Context {
	c := render.Context{
		Gateway:   objectMap(string(gateway.KindGateway), in.Merged.EffectiveGateway()),
		Hostnames: render.Hostnames(in.Merged.Hostnames),
		Class:     objectMap("GatewayClass", in.Snapshot.Class),
	}
	if uses.Listeners {
		c.Listeners = in.listeners(listeners)
	}
	return c
}

// listenerValues are the values that are effective for each merged listener; nothing for one that is not accepted. Where no
// policy is narrowed to listeners, all those of one object have the same.
func (in Inputs) listenerValues() []values.Effective {
	narrowed := slices.ContainsFunc(in.Policies, (*values.Policy).TargetsListeners)
	bySource := map[gateway.ParentKey]values.Effective{}
	list := make([]values.Effective, len(in.Merged.Listeners))
	for i, l := range in.Merged.Listeners {
		if !l.Usable {
			continue
		}
		key := parentKey(l.Source.Kind, l.Source.Namespace, l.Source.Name)
		effective, known := bySource[key]
		if !known || narrowed {
			effective = in.values(in.listenerTarget(l))
			bySource[key] = effective
		}
		list[i] = effective
	}
	return list
}

// listeners are `.Listeners`: the accepted ones, each with its source and its values, if those are read.
func (in Inputs) listeners(effective []values.Effective) []any {
	var list []any
	for i := range in.Merged.Listeners {
		l := &in.Merged.Listeners[i]
		if !l.Usable {
			continue
		}
		m := toMap(l.Effective(in.Merged.Gateway.Namespace))
		m["source"] = map[string]any{
			"kind": string(l.Source.Kind), "namespace": l.Source.Namespace, "name": l.Source.Name,
			"sectionName": string(l.Source.SectionName),
		}
		if effective != nil {
			m["Values"] = effective[i].Tree
		}
		list = append(list, m)
	}
	return list
}

// rulesList is `.Rules`: the rules of the route by their names, each with its values.
func rulesList(route gateway.Route, effective []values.Effective) []any {
	list := make([]any, 0, len(route.Rules))
	for i, name := range route.Rules {
		list = append(list, map[string]any{"name": string(name), "Values": effective[i].Tree})
	}
	return list
}

// routeMap is `.Route`.
func routeMap(route gateway.Route) map[string]any {
	return objectMap(string(route.Kind), route.Object)
}

// parentMap is `.ParentRef`: the parent as the route names it, with what it leaves out filled in and the merged listeners that it
// attaches to. Shadow routes need those names, since a route that names a shadow Gateway alone would reach all its listeners.
func parentMap(merged gateway.Merged, parent gateway.Parent) map[string]any {
	m := toMap(parent.Ref)
	m["group"] = gatewayv1.GroupName
	m["kind"] = string(parent.Key.Kind)
	m["namespace"] = parent.Key.Namespace
	m["name"] = parent.Key.Name
	names := []any{}
	for _, name := range merged.ListenerNames(parent) {
		names = append(names, string(name))
	}
	m["listeners"] = names
	hostnames := []any{}
	for _, hostname := range parent.Hostnames {
		hostnames = append(hostnames, string(hostname))
	}
	m["hostnames"] = hostnames
	return m
}

// objectMap is an object as templates see it: without its status and the API server's bookkeeping, which change all the time
// without meaning anything for what is rendered, and without what kubectl apply notes down.
func objectMap(kind string, object metav1.Object) map[string]any {
	m := toMap(object)
	m["apiVersion"] = gatewayv1.GroupVersion.String()
	m["kind"] = kind
	delete(m, "status")
	if metadata, ok := m["metadata"].(map[string]any); ok {
		for _, field := range []string{"managedFields", "resourceVersion", "generation", "selfLink", "finalizers"} {
			delete(metadata, field)
		}
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		}
	}
	return m
}

// toMap goes by JSON, so that templates see exactly what users wrote, under the names that they wrote.
func toMap(object any) map[string]any {
	m := map[string]any{}
	text, err := json.Marshal(object)
	if err == nil {
		err = utiljson.Unmarshal(text, &m)
	}
	if err != nil || m == nil {
		// API types encode to a JSON object, always; nil becomes an empty one.
		return map[string]any{}
	}
	return m
}
