package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/render"
	"github.com/gatewright/gatewright/values"
)

// routesInputs are a Gateway with a ListenerSet and a route in namespaces of their own, whose labels policies could select.
func routesInputs(t *testing.T) Inputs {
	t.Helper()
	template := `apiVersion: v1
kind: ConfigMap
metadata: {name: {{ uniqueName .Route.metadata.name .ParentRef.kind .ParentRef.name }}}
data: {all: {{ toJson (list .Gateway .Listeners .Values .Hostnames .Class .Route .ParentRef) | quote }}}`
	meta := func(namespace, name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: namespace, Name: name}
	}
	all := gatewayv1.NamespacesFromAll
	kind, namespace := gateway.KindListenerSet, gatewayv1.Namespace("infra")
	anybody := &gatewayv1.AllowedRoutes{Namespaces: &gatewayv1.RouteNamespaces{From: &all}}
	objects := gateway.Objects{
		GatewayClasses: []*gatewayv1.GatewayClass{{ObjectMeta: meta("", "edge"), Spec: gatewayv1.GatewayClassSpec{
			ControllerName: v1alpha1.ControllerName,
			ParametersRef:  &gatewayv1.ParametersReference{Group: v1alpha1.GroupName, Kind: v1alpha1.KindGatewayClassBlueprint, Name: "small"},
		}}},
		Blueprints: []*v1alpha1.GatewayClassBlueprint{{ObjectMeta: meta("", "small"), Spec: v1alpha1.GatewayClassBlueprintSpec{
			HTTPRouteTemplate: &v1alpha1.RouteTemplate{ResourceTemplates: map[string]string{"route": template}},
		}}},
		Gateways: []*gatewayv1.Gateway{{ObjectMeta: meta("infra", "web"), Spec: gatewayv1.GatewaySpec{
			GatewayClassName: "edge",
			AllowedListeners: &gatewayv1.AllowedListeners{Namespaces: &gatewayv1.ListenerNamespaces{From: &all}},
			Listeners:        []gatewayv1.Listener{{Name: "http", Port: 80, Protocol: "HTTP", AllowedRoutes: anybody}},
		}}},
		ListenerSets: []*gatewayv1.ListenerSet{{ObjectMeta: meta("shop", "more"), Spec: gatewayv1.ListenerSetSpec{
			ParentRef: gatewayv1.ParentGatewayReference{Name: "web", Namespace: &namespace},
			Listeners: []gatewayv1.ListenerEntry{{Name: "http", Port: 81, Protocol: "HTTP", AllowedRoutes: anybody}},
		}}},
		Namespaces: []*corev1.Namespace{{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"tier": "gold"}}}},
		Configs: []*v1alpha1.GatewayConfig{{ObjectMeta: meta("shop", "gold"), Spec: v1alpha1.PolicySpec{
			TargetRef: &v1alpha1.PolicyTargetReference{
				Kind: "Namespace", Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}},
			},
			ValuesBlocks: v1alpha1.ValuesBlocks{Default: &apiextensionsv1.JSON{Raw: []byte(`{"gold": true}`)}},
		}}},
	}
	for _, name := range []string{"cart", "news"} {
		shop := gatewayv1.Namespace("shop")
		objects.Routes = append(objects.Routes, gateway.HTTPRoute(&gatewayv1.HTTPRoute{ObjectMeta: meta("shop", name), Spec: gatewayv1.HTTPRouteSpec{
			CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{
				{Kind: &kind, Namespace: &shop, Name: "more"}, {Namespace: &namespace, Name: "web"},
			}},
		}}))
	}
	snapshot, err := objects.Snapshot(types.NamespacedName{Namespace: "infra", Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	program, err := render.Compile(snapshot.Blueprint)
	if err != nil {
		t.Fatal(err)
	}
	in := Inputs{Snapshot: snapshot, Merged: gateway.Merge(snapshot), Program: program}
	for _, p := range snapshot.Policies {
		parsed, v := values.Parse(p)
		if !v.OK {
			t.Fatal(v.Message)
		}
		in.Policies = append(in.Policies, parsed)
	}
	return in
}

// rendered are the objects of renderings that need nothing live, by owner.
func rendered(t *testing.T, parents []*Parent) []map[string]any {
	t.Helper()
	var all []map[string]any
	for _, p := range parents {
		for _, o := range p.Advance(func(string) []*unstructured.Unstructured { return nil }) {
			all = append(all, o.Object)
		}
		for _, failed := range p.Result().Failed {
			t.Fatal(failed.Error())
		}
	}
	return all
}

func TestRoutesRenderAsEachRouteDoesByItself(t *testing.T) {
	in := routesInputs(t)
	var each []*Parent
	for _, attachment := range in.Merged.Attachments {
		each = append(each, Route(in, attachment)...)
	}
	want := rendered(t, each)
	if len(want) != 4 {
		t.Fatalf("want two routes under two parents, got %d objects", len(want))
	}
	if diff := cmp.Diff(want, rendered(t, Routes(in))); diff != "" {
		t.Errorf("together (-each +together):\n%s", diff)
	}
}

func TestReachesTellWhichNamespacesLeadToEachEnd(t *testing.T) {
	type end struct {
		Parent, Listener, Route string
		Gold                    bool
	}
	var got []end
	for _, reach := range Reaches(routesInputs(t)) {
		e := end{Parent: reach.Parent.String(), Gold: reach.Values.Tree["gold"] == true}
		if reach.Listener != nil {
			e.Listener = string(reach.Listener.Source.SectionName)
		}
		if reach.Route != nil {
			e.Route = reach.Route.Object.GetName()
		}
		got = append(got, e)
	}
	want := []end{
		{Parent: "infra/web"},
		{Parent: "infra/web", Listener: "http"},
		{Parent: "shop/more", Listener: "http", Gold: true},
		{Parent: "shop/more", Route: "cart", Gold: true},
		{Parent: "infra/web", Route: "cart", Gold: true},
		{Parent: "shop/more", Route: "news", Gold: true},
		{Parent: "infra/web", Route: "news", Gold: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ends of paths (-want +got):\n%s", diff)
	}
}
