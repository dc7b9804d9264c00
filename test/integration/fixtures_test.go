package integration_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Templates of the tests' blueprints. Each yields one object named after the Gateway or route that it is rendered for.
const (
	// valuesTemplate writes the effective values, which must be strings, into a ConfigMap.
	valuesTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}
data: {{ toYaml .Values | nindent 2 }}
`
	// listenersTemplate writes a line for each merged listener.
	listenersTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-listeners
data:
  listeners: |
    {{- range .Listeners }}
    {{ .hostname }}:{{ .port }} of {{ .source.kind }} {{ .source.name }}
    {{- end }}
`
	// serviceTemplate depends on nothing but the Gateway's name.
	serviceTemplate = `
apiVersion: v1
kind: Service
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  ports:
    - port: 80
`
	// shadowTemplate yields a Gateway of the class that the value "class" names.
	shadowTemplate = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: {{ .Gateway.metadata.name }}-shadow
spec:
  gatewayClassName: {{ .Values.class }}
  listeners: {{ toYaml .Gateway.spec.listeners | nindent 4 }}
`
)

// templates are those of a blueprint by their names.
type templates map[string]string

// class makes a blueprint with these Gateway templates, and the world's GatewayClass for it.
func (w *world) class(t templates, adjust ...func(*v1alpha1.GatewayClassBlueprintSpec)) *v1alpha1.GatewayClassBlueprint {
	w.Helper()
	blueprint := newBlueprint(w.name, t, adjust...)
	w.create(blueprint)
	w.create(newClass(w.name, w.name))
	return blueprint
}

func newBlueprint(name string, t templates, adjust ...func(*v1alpha1.GatewayClassBlueprintSpec)) *v1alpha1.GatewayClassBlueprint {
	blueprint := &v1alpha1.GatewayClassBlueprint{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       v1alpha1.GatewayClassBlueprintSpec{GatewayTemplate: &v1alpha1.GatewayTemplate{ResourceTemplates: t}},
	}
	for _, change := range adjust {
		change(&blueprint.Spec)
	}
	return blueprint
}

// newClass refers to a blueprint; to none if that is empty.
func newClass(name, blueprint string) *gatewayv1.GatewayClass {
	class := &gatewayv1.GatewayClass{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       gatewayv1.GatewayClassSpec{ControllerName: v1alpha1.ControllerName},
	}
	if blueprint != "" {
		class.Spec.ParametersRef = &gatewayv1.ParametersReference{
			Group: v1alpha1.GroupName, Kind: v1alpha1.KindGatewayClassBlueprint, Name: blueprint,
		}
	}
	return class
}

// with gives a blueprint values.
func with(blocks v1alpha1.ValuesBlocks) func(*v1alpha1.GatewayClassBlueprintSpec) {
	return func(spec *v1alpha1.GatewayClassBlueprintSpec) {
		spec.Values = &v1alpha1.BlueprintValues{ValuesBlocks: blocks}
	}
}

// defaults are a block of defaults.
func defaults(tree map[string]string) v1alpha1.ValuesBlocks {
	return v1alpha1.ValuesBlocks{Default: tree2JSON(tree)}
}

func tree2JSON(tree any) *apiextensionsv1.JSON {
	raw, err := json.Marshal(tree)
	if err != nil {
		panic(err)
	}
	return &apiextensionsv1.JSON{Raw: raw}
}

// newGateway is a Gateway of the world's class with one HTTP listener. Whatever else it has is adjusted.
func (w *world) newGateway(name string, adjust ...func(*gatewayv1.Gateway)) *gatewayv1.Gateway {
	gw := &gatewayv1.Gateway{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: gatewayv1.GatewaySpec{
			GatewayClassName: gatewayv1.ObjectName(w.name),
			Listeners:        []gatewayv1.Listener{httpListener("own", gatewayv1.Hostname(name+".example.com"))},
		},
	}
	for _, change := range adjust {
		change(gw)
	}
	return gw
}

// gateway makes a Gateway.
func (w *world) gateway(name string, adjust ...func(*gatewayv1.Gateway)) *gatewayv1.Gateway {
	w.Helper()
	gw := w.newGateway(name, adjust...)
	w.create(gw)
	return gw
}

// admitting lets a Gateway take in ListenerSets of these namespaces.
func admitting(from gatewayv1.FromNamespaces) func(*gatewayv1.Gateway) {
	return func(gw *gatewayv1.Gateway) {
		gw.Spec.AllowedListeners = &gatewayv1.AllowedListeners{Namespaces: &gatewayv1.ListenerNamespaces{From: &from}}
	}
}

func httpListener(name gatewayv1.SectionName, hostname gatewayv1.Hostname) gatewayv1.Listener {
	return gatewayv1.Listener{Name: name, Port: 80, Protocol: gatewayv1.HTTPProtocolType, Hostname: &hostname}
}

// newListenerSet is a ListenerSet with one HTTP listener for each hostname, named "l0", "l1" and so on.
func newListenerSet(name, gateway string, hostnames ...gatewayv1.Hostname) *gatewayv1.ListenerSet {
	set := &gatewayv1.ListenerSet{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       gatewayv1.ListenerSetSpec{ParentRef: gatewayv1.ParentGatewayReference{Name: gatewayv1.ObjectName(gateway)}},
	}
	for i, hostname := range hostnames {
		set.Spec.Listeners = append(set.Spec.Listeners, gatewayv1.ListenerEntry(httpListener(gatewayv1.SectionName(fmt.Sprintf("l%d", i)), hostname)))
	}
	return set
}

// listenerSet makes a ListenerSet for a Gateway beside it.
func (w *world) listenerSet(name, gateway string, hostnames ...gatewayv1.Hostname) *gatewayv1.ListenerSet {
	w.Helper()
	set := newListenerSet(name, gateway, hostnames...)
	w.create(set)
	return set
}

// label gives the world's namespace these labels and no others.
func label(w *world, labels map[string]string) {
	w.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	change(w, namespace, func(n *corev1.Namespace) { n.Labels = labels })
}

func labelled(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// newRoute is an HTTPRoute with these parents.
func newRoute(name string, parents ...gatewayv1.ParentReference) *gatewayv1.HTTPRoute {
	return &gatewayv1.HTTPRoute{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       gatewayv1.HTTPRouteSpec{CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: parents}},
	}
}

// route makes an HTTPRoute with these parents.
func (w *world) route(name string, parents ...gatewayv1.ParentReference) *gatewayv1.HTTPRoute {
	w.Helper()
	route := newRoute(name, parents...)
	w.create(route)
	return route
}

func toGateway(name gatewayv1.ObjectName) gatewayv1.ParentReference {
	return gatewayv1.ParentReference{Name: name}
}

func toListenerSet(name gatewayv1.ObjectName) gatewayv1.ParentReference {
	group, kind := gatewayv1.Group(gatewayv1.GroupName), gatewayv1.Kind("ListenerSet")
	return gatewayv1.ParentReference{Group: &group, Kind: &kind, Name: name}
}

// target is what a policy is attached to.
func target(kind gatewayv1.Kind, name string) v1alpha1.PolicyTargetReference {
	group := gatewayv1.Group(gatewayv1.GroupName)
	if kind == "Namespace" {
		group = ""
	}
	return v1alpha1.PolicyTargetReference{Group: group, Kind: kind, Name: gatewayv1.ObjectName(name)}
}

// classConfig is a GatewayClassConfig in the world's namespace.
func classConfig(name string, target v1alpha1.PolicyTargetReference, blocks v1alpha1.ValuesBlocks) *v1alpha1.GatewayClassConfig {
	return &v1alpha1.GatewayClassConfig{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policySpec(target, blocks)}
}

// config is a GatewayConfig in the world's namespace.
func config(name string, target v1alpha1.PolicyTargetReference, blocks v1alpha1.ValuesBlocks) *v1alpha1.GatewayConfig {
	return &v1alpha1.GatewayConfig{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: policySpec(target, blocks)}
}

func policySpec(target v1alpha1.PolicyTargetReference, blocks v1alpha1.ValuesBlocks) v1alpha1.PolicySpec {
	return v1alpha1.PolicySpec{TargetRefs: []v1alpha1.PolicyTargetReference{target}, ValuesBlocks: blocks}
}

// gatewayConditions are a Gateway's conditions Accepted and Programmed, as told.
func (w *world) gatewayConditions(name string) func() ([]string, error) {
	return func() ([]string, error) {
		gw := &gatewayv1.Gateway{}
		err := shared.client.Get(w.Context(), w.key(name), gw)
		return summary(gw.Status.Conditions, gw.Generation), err
	}
}

// summary tells the conditions that sum up the others, and leaves out those that say which policies have a say.
func summary(conditions []metav1.Condition, generation int64) []string {
	return slices.DeleteFunc(told(conditions, generation), func(condition string) bool {
		return !strings.HasPrefix(condition, "Accepted=") && !strings.HasPrefix(condition, "Programmed=")
	})
}

// programmed are the conditions of a Gateway of which all is well.
var programmed = []string{"Accepted=True/Accepted", "Programmed=True/Programmed"}

// fresh makes a Gateway with a name of its own.
func (w *world) fresh(prefix string) *gatewayv1.Gateway {
	w.Helper()
	gw := w.newGateway(prefix)
	gw.Name, gw.GenerateName = "", prefix+"-"
	w.create(gw)
	return gw
}

func configMap(name string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
}
