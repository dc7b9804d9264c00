package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// inputsWith are a Gateway with one listener, a route and policies, each written as the spec of a GatewayConfig.
func inputsWith(t *testing.T, blueprint string, policies map[string]string) Inputs {
	t.Helper()
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "infra", Name: name} }
	b := blueprintOf(t, blueprint)
	objects := gateway.Objects{
		GatewayClasses: []*gatewayv1.GatewayClass{{ObjectMeta: metav1.ObjectMeta{Name: "edge"}, Spec: gatewayv1.GatewayClassSpec{
			ControllerName: v1alpha1.ControllerName,
			ParametersRef:  &gatewayv1.ParametersReference{Group: v1alpha1.GroupName, Kind: v1alpha1.KindGatewayClassBlueprint, Name: b.Name},
		}}},
		Blueprints: []*v1alpha1.GatewayClassBlueprint{b},
		Gateways: []*gatewayv1.Gateway{{ObjectMeta: meta("web"), Spec: gatewayv1.GatewaySpec{
			GatewayClassName: "edge", Listeners: []gatewayv1.Listener{{Name: "http", Port: 80, Protocol: "HTTP"}},
		}}},
		Routes: []gateway.Route{gateway.HTTPRoute(&gatewayv1.HTTPRoute{ObjectMeta: meta("cart"), Spec: gatewayv1.HTTPRouteSpec{
			CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{{Name: "web"}}},
		}})},
	}
	for name, spec := range policies {
		p := &v1alpha1.GatewayConfig{ObjectMeta: meta(name)}
		if err := yaml.UnmarshalStrict([]byte(spec), &p.Spec); err != nil {
			t.Fatal(err)
		}
		objects.Configs = append(objects.Configs, p)
	}
	snapshot, err := objects.Snapshot(types.NamespacedName{Namespace: "infra", Name: "web"})
	if err != nil {
		t.Fatal(err)
	}
	compiled, v := Compile(snapshot.Blueprint)
	if !v.OK {
		t.Fatal(v.Message)
	}
	in := Inputs{Snapshot: snapshot, Merged: gateway.Merge(snapshot), Program: compiled.Program, Blueprint: compiled.Values}
	for _, p := range snapshot.Policies {
		parsed, _ := values.Parse(p)
		in.Policies = append(in.Policies, parsed)
	}
	return in
}

// guarded has a schema with bounds and a secret, and templates that print the secret.
const guarded = `
values:
  schema:
    openAPIV3Schema:
      type: object
      properties:
        replicas: {type: integer, maximum: 10}
        timeout: {type: integer, maximum: 10}
        retries: {type: integer, maximum: 10}
        size: {type: integer, maximum: 10}
        token: {type: string, format: password}
gatewayTemplate:
  resourceTemplates:
    config: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: config}
      data:
        token: {{ .Values.token | default "" | quote }}
        listeners: {{ range .Listeners }}{{ .Values.token | default "" | quote }}{{ end }}
httpRouteTemplate:
  resourceTemplates:
    config: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: route}
      data: {listeners: {{ range .Listeners }}{{ .Values.token | default "" | quote }}{{ end }}}
`

const (
	onGateway  = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: web}\n"
	onListener = "targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: web, sectionName: http}\n"
)

func TestHeldNamesPolicyPathAndWhatIsWrong(t *testing.T) {
	held := func(message string) *verdict.Verdict {
		v := verdict.No(v1alpha1.ReasonFailed, "%s", message)
		return &v
	}
	const much = " should be less than or equal to 10 (GatewayConfig/infra/p default)"
	cases := map[string]struct {
		policies map[string]string
		want     *verdict.Verdict
	}{
		"values as the schema says": {map[string]string{"p": onGateway + "default: {replicas: 5}"}, nil},
		"a value out of bounds":     {map[string]string{"p": onGateway + "default: {replicas: 50}"}, held("/replicas" + much)},
		"a value of another type":   {map[string]string{"p": onGateway + "default: {replicas: never-shown}"}, held("/replicas must be of type integer (GatewayConfig/infra/p default)")},
		"a map where there is none": {map[string]string{"p": onGateway + "default: {replicas: {never: shown}}"}, held("/replicas must be of type integer (GatewayConfig/infra/p default)")},
		"a value of a listener":     {map[string]string{"p": onListener + "default: {replicas: 50}"}, held("/replicas" + much)},
		"a guard that cannot be read": {map[string]string{"p": onGateway + "override: []"},
			held("GatewayConfig/infra/p is invalid and carries overrides or constraints; mend it, its status says how")},
		"more than a message holds": {map[string]string{"p": onGateway + "default: {replicas: 50, timeout: 50, retries: 50, size: 50}"},
			held("/replicas" + much + "; /retries" + much + "; /size" + much + "; and 1 more")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Gateway(inputsWith(t, guarded, c.policies)).Held()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestHeldUntilAccepted promises when what there is of a Gateway that is not accepted goes on.
func TestHeldUntilAccepted(t *testing.T) {
	notAccepted := func(why string) *verdict.Verdict {
		v := verdict.No(v1alpha1.ReasonInvalid, "the Gateway is not accepted: %s", why)
		return &v
	}
	noListener := "0 of 1 listeners are valid; left out are http (UnsupportedProtocol); their conditions in status.listeners say why"
	invalidListener := func(gw *gatewayv1.Gateway) { gw.Spec.Listeners[0].Protocol = "example.com/odd" }
	noSuchParameters := func(gw *gatewayv1.Gateway) {
		gw.Spec.Infrastructure = &gatewayv1.GatewayInfrastructure{
			ParametersRef: &gatewayv1.LocalParametersReference{Group: v1alpha1.GroupName, Kind: v1alpha1.KindGatewayConfig, Name: "none"},
		}
	}
	const noParameters = "spec.infrastructure.parametersRef names a GatewayConfig that does not exist in the namespace of the Gateway; " +
		"create it, or remove the reference"
	for name, c := range map[string]struct {
		change func(*gatewayv1.Gateway)
		begun  func() bool
		want   *verdict.Verdict
	}{
		"what is accepted begins":                               {nil, func() bool { return false }, nil},
		"what has no valid listener does not begin":             {invalidListener, func() bool { return false }, notAccepted(noListener)},
		"nor if nobody knows whether it has begun":              {invalidListener, nil, notAccepted(noListener)},
		"what has begun goes on without a valid listener":       {invalidListener, func() bool { return true }, nil},
		"what lacks its parameters stays as it is, in any case": {noSuchParameters, func() bool { return true }, notAccepted(noParameters)},
	} {
		t.Run(name, func(t *testing.T) {
			in := inputsWith(t, guarded, nil)
			if in.Begun = c.begun; c.change != nil {
				c.change(in.Snapshot.Gateway)
				in.Merged = gateway.Merge(in.Snapshot)
			}
			for _, parent := range append([]*Parent{Gateway(in)}, Routes(in)...) {
				if diff := cmp.Diff(c.want, parent.Held()); diff != "" {
					t.Errorf("%s (-want +got)\n%s", parent.Owner, diff)
				}
			}
		})
	}
}

func TestRedactedHidesWhatTemplatesPrint(t *testing.T) {
	in := inputsWith(t, guarded, map[string]string{
		"p": onGateway + "default: {token: of-the-gateway}", "q": onListener + "default: {token: of-the-listener}",
	})
	var got []any
	for _, parent := range append([]*Parent{Gateway(in)}, Routes(in)...) {
		for _, object := range parent.Advance(ObservedIn(nil, "")) {
			before := object.DeepCopy()
			got = append(got, parent.Redacted(object.Unstructured).Object["data"])
			if diff := cmp.Diff(before, object.Unstructured); diff != "" {
				t.Errorf("the object changed (-before +after)\n%s", diff)
			}
		}
	}
	want := []any{
		map[string]any{"token": "(redacted)", "listeners": "(redacted)"},
		map[string]any{"listeners": "(redacted)"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
