package desired

import (
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/render"
)

// TestMarks promises what labels and annotations objects of a Gateway carry, and that no tenant can change those that say whose
// an object is, nor those that its template writes.
func TestMarks(t *testing.T) {
	blueprint := blueprintOf(t, `
gatewayTemplate:
  resourceTemplates:
    config: |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: x
        labels: {app: template, gateway.networking.k8s.io/gateway-class-name: template}
        annotations: {note: template}
httpRouteTemplate:
  resourceTemplates:
    route: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}"
`)
	program, err := render.Compile(blueprint)
	if err != nil {
		t.Fatal(err)
	}
	gw := &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: strings.Repeat("n", 70)}}
	gw.Spec.GatewayClassName = "edge"
	gw.Spec.Listeners = []gatewayv1.Listener{{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType}}
	gw.Spec.Infrastructure = &gatewayv1.GatewayInfrastructure{
		Labels: map[gatewayv1.LabelKey]gatewayv1.LabelValue{
			"team": "edge", "app": "tenant", "gatewright.dev/owner-uid": "tenant", "sub.gatewright.dev/x": "tenant",
			"gateway.networking.k8s.io/gateway-name": "tenant", "notgatewright.dev/x": "kept",
		},
		Annotations: map[gatewayv1.AnnotationKey]gatewayv1.AnnotationValue{
			"note": "tenant", "contact": "a: b\n---", "gatewright.dev/owner": "tenant", "gateway.networking.k8s.io/x": "tenant",
		},
	}
	parentRefs := gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{{Name: gatewayv1.ObjectName(gw.Name)}}}
	route := gateway.HTTPRoute(&gatewayv1.HTTPRoute{
		ObjectMeta: metav1.ObjectMeta{Namespace: "infra", Name: "route"}, Spec: gatewayv1.HTTPRouteSpec{CommonRouteSpec: parentRefs},
	})
	snapshot := gateway.Snapshot{Class: &gatewayv1.GatewayClass{}, Blueprint: blueprint, Gateway: gw, Routes: []gateway.Route{route}}
	in := Inputs{Snapshot: snapshot, Merged: gateway.Merge(snapshot), Program: program}

	type marked struct{ Labels, Annotations map[string]string }
	marksOn := func(p *Parent) marked {
		object := p.Advance(nil)[0]
		annotations := maps.Clone(object.GetAnnotations())
		delete(annotations, "gatewright.dev/rendered")
		return marked{object.GetLabels(), annotations}
	}
	want := marked{
		Labels: map[string]string{
			"app": "template", "team": "edge", "notgatewright.dev/x": "kept", "gatewright.dev/template": "config",
			"gateway.networking.k8s.io/gateway-name":       gateway.LabelValue(gw.Name),
			"gateway.networking.k8s.io/gateway-class-name": "template",
		},
		Annotations: map[string]string{"note": "template", "contact": "a: b\n---", "gatewright.dev/owner": "Gateway/infra/" + gw.Name},
	}
	if diff := cmp.Diff(want, marksOn(Gateway(in))); diff != "" {
		t.Errorf("marks on an object of the Gateway (-want +got):\n%s", diff)
	}
	want = marked{
		Labels:      map[string]string{"gatewright.dev/template": "route"},
		Annotations: map[string]string{"gatewright.dev/owner": "HTTPRoute/infra/route"},
	}
	if diff := cmp.Diff(want, marksOn(Routes(in)[0])); diff != "" {
		t.Errorf("marks on an object of a route (-want +got):\n%s", diff)
	}
}
