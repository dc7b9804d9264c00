package intake

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/manifest"
)

const httpGateway = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: web}
spec:
  gatewayClassName: a
  listeners: [{name: http, port: 80, protocol: HTTP}]
`

func document(t *testing.T, text string) manifest.Document {
	t.Helper()
	docs, err := manifest.Decode([]byte(text))
	if err != nil || len(docs) != 1 {
		t.Fatalf("%d documents, %v", len(docs), err)
	}
	return docs[0]
}

func TestAddTakesAnObjectInWithItsDefaults(t *testing.T) {
	doc := document(t, httpGateway)
	before := doc.DeepCopy()
	var got gateway.Objects
	unknown, err := Add(&got, doc.Unstructured, "team")
	if err != nil || len(unknown) > 0 {
		t.Fatal(unknown, err)
	}
	same := gatewayv1.NamespacesFromSame
	want := gateway.Objects{Gateways: []*gatewayv1.Gateway{{
		TypeMeta:   metav1.TypeMeta{APIVersion: "gateway.networking.k8s.io/v1", Kind: "Gateway"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web"},
		Spec: gatewayv1.GatewaySpec{
			GatewayClassName: "a",
			Listeners: []gatewayv1.Listener{{
				Name: "http", Port: 80, Protocol: "HTTP",
				AllowedRoutes: &gatewayv1.AllowedRoutes{Namespaces: &gatewayv1.RouteNamespaces{From: &same}},
			}},
		},
	}}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("taken in (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before, doc.Unstructured); diff != "" {
		t.Errorf("the object itself changed (-before +after):\n%s", diff)
	}
}

func TestAddKnowsWhereObjectsLive(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want gateway.Objects
	}{
		"an object keeps the namespace that it names": {
			text: "{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {b: c}}}",
			want: gateway.Objects{Namespaces: []*corev1.Namespace{{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
				ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"b": "c"}},
			}}},
		},
		"a cluster-scoped object has no namespace, whatever it says": {
			text: "{apiVersion: gateway.networking.k8s.io/v1beta1, kind: GatewayClass, metadata: {name: a, namespace: b}}",
			want: gateway.Objects{GatewayClasses: []*gatewayv1.GatewayClass{{
				TypeMeta:   metav1.TypeMeta{APIVersion: "gateway.networking.k8s.io/v1beta1", Kind: "GatewayClass"},
				ObjectMeta: metav1.ObjectMeta{Name: "a"},
			}}},
		},
		"a Secret holds its text where an API server puts it": {
			text: "{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {a: YQ==, b: YQ==}, stringData: {b: b, c: c}}",
			want: gateway.Objects{Secrets: []*corev1.Secret{{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
				ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "a"},
				Data:       map[string][]byte{"a": []byte("a"), "b": []byte("b"), "c": []byte("c")},
			}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var got gateway.Objects
			if _, err := Add(&got, document(t, c.text).Unstructured, "team"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("taken in (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAddNamesWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		unknown []*Problem
		err     error
	}{
		"a field that the kind does not have is named by its path": {
			text: `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: a},
				spec: {gatewayClassName: a, listeners: [{name: a, port: 80, protocol: HTTP}, {name: b, prot: 81, protocol: HTTP}]}}`,
			unknown: []*Problem{{"spec.listeners[1].prot", "Gateway has no such field"}},
		},
		"a misspelled field of a policy is named": {
			text:    `{apiVersion: gatewright.dev/v1alpha1, kind: GatewayConfig, metadata: {name: a}, spec: {targetRef: {}, defaults: {a: 1}}}`,
			unknown: []*Problem{{"spec.defaults", "GatewayConfig has no such field"}},
		},
		"keys of a tree of values are nobody's business": {
			text: `{apiVersion: gatewright.dev/v1alpha1, kind: GatewayConfig, metadata: {name: a}, spec: {targetRef: {}, default: {defaults: {a: 1}}}}`,
		},
		"a value of the wrong type is named by its path": {
			text: `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: a}, spec: {listeners: [{name: a, port: "80"}]}}`,
			err:  &Problem{"spec.listeners.port", "must be a whole number in the range of the field, and is a string"},
		},
		"a number that is out of range is not quoted": {
			text: `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: a}, spec: {listeners: [{name: a, port: 99999999999}]}}`,
			err:  &Problem{"spec.listeners.port", "must be a whole number in the range of the field, and is a number"},
		},
		"a map where a list belongs is named": {
			text: `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {name: a}, spec: {listeners: {}}}`,
			err:  &Problem{"spec.listeners", "must be a list, and is a map"},
		},
		"a wrong type in what policies share is named as it is written": {
			text: `{apiVersion: gatewright.dev/v1alpha1, kind: GatewayConfig, metadata: {name: a}, spec: {constraints: [{name: 1}]}}`,
			err:  &Problem{"spec.constraints.name", "must be a string, and is a number"},
		},
		"a wrong type in what routes share is named as it is written": {
			text: `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: a}, spec: {parentRefs: [{name: a, port: true}]}}`,
			err:  &Problem{"spec.parentRefs.port", "must be a whole number in the range of the field, and is true or false"},
		},
		"a wrong type in a blueprint's values is named as it is written": {
			text: `{apiVersion: gatewright.dev/v1alpha1, kind: GatewayClassBlueprint, metadata: {name: a}, spec: {values: {constraints: 1}}}`,
			err:  &Problem{"spec.values.constraints", "must be a list, and is a number"},
		},
		"an object without a name cannot be told from others": {
			text: `{apiVersion: gateway.networking.k8s.io/v1, kind: Gateway, metadata: {}}`,
			err:  &Problem{"metadata.name", "every object must have one, and it must be a string"},
		},
		"data of a Secret that is not base64 is not quoted": {
			text: `{apiVersion: v1, kind: Secret, metadata: {name: a}, data: {key: "hush, hush"}}`,
			err:  &Problem{"", "holds a value that must be base64 and is not; a Secret takes plain text under stringData"},
		},
		"an unknown version is told the right one": {
			text: `{apiVersion: gateway.networking.k8s.io/v1alpha2, kind: HTTPRoute, metadata: {name: a}}`,
			err:  &Problem{"apiVersion", "this version of HTTPRoute is not known; write gateway.networking.k8s.io/v1"},
		},
		"a kind of the same name in another group plays no part": {
			text: `{apiVersion: networking.istio.io/v1, kind: Gateway, metadata: {name: a}}`,
			err:  ErrNoPart,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var objects gateway.Objects
			unknown, err := Add(&objects, document(t, c.text).Unstructured, "team")
			if diff := cmp.Diff(c.unknown, unknown); diff != "" {
				t.Errorf("unknown fields (-want +got):\n%s", diff)
			}
			if !errors.Is(err, c.err) && !cmp.Equal(c.err, err) {
				t.Errorf("want %v, got %v", c.err, err)
			}
			if err != nil && !cmp.Equal(gateway.Objects{}, objects) {
				t.Error("an object that cannot be taken in was taken in")
			}
		})
	}
}

func TestProblemsAreOneLine(t *testing.T) {
	for _, c := range []struct {
		problem Problem
		want    string
	}{
		{Problem{"spec.a", "must be a string"}, "spec.a: must be a string"},
		{Problem{"", "cannot be read"}, "cannot be read"},
	} {
		if got := c.problem.Error(); got != c.want {
			t.Errorf("want %q, got %q", c.want, got)
		}
	}
}
