package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// slimmed is a live object as a watch on whole objects keeps it.
func slimmed(live *unstructured.Unstructured) *unstructured.Unstructured {
	slim := live.DeepCopy()
	Slim(slim)
	return slim
}

// metadataOf is a live object as a watch on metadata keeps it.
func metadataOf(t *testing.T, live *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	metadata := &metav1.PartialObjectMetadata{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.DeepCopy().Object, metadata); err != nil {
		t.Fatal(err)
	}
	SlimMetadata(metadata)
	o, err := Live(metadata)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// role is of a kind whose rules the API server knows as a whole only.
const role = `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web, namespace: a, labels: {gatewright.dev/owner-uid: u1}, annotations: {gatewright.dev/rendered: h1}}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`

const roleFields = `{
  "f:metadata": {"f:labels": {"f:gatewright.dev/owner-uid": {}}, "f:annotations": {"f:gatewright.dev/rendered": {}}},
  "f:rules": {}
}`

// config is of a kind that the API server knows key by key.
const config = `
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: a, labels: {gatewright.dev/owner-uid: u1}, annotations: {gatewright.dev/rendered: h1}}
data: {key: value}
`

const configFields = `{
  "f:metadata": {"f:labels": {"f:gatewright.dev/owner-uid": {}}, "f:annotations": {"f:gatewright.dev/rendered": {}}},
  "f:data": {"f:key": {}}
}`

func TestWhatAWatchKeepsIsEnoughToDecide(t *testing.T) {
	const lost = `{
  "f:metadata": {"f:labels": {"f:gatewright.dev/owner-uid": {}}, "f:annotations": {"f:gatewright.dev/rendered": {}}}
}`
	for name, c := range map[string]struct {
		rendered, fields string
		// whole and metadata are what is to be done by what a watch of either sort keeps.
		whole, metadata Action
	}{
		"what is as rendered is left alone":                    {config, configFields, Keep, Keep},
		"what was changed is applied":                          {config, lost, Update, Update},
		"what the fields do not tell is seen in the body":      {role, roleFields, Keep, Look},
		"what was changed is not looked at for the rest of it": {role, lost, Update, Update},
		"what we never applied is not looked at either":        {role, `{}`, Update, Update},
	} {
		t.Run(name, func(t *testing.T) {
			rendered, live := object(t, c.rendered), applied(t, c.rendered, c.fields)
			got := []Action{
				For(rendered, live, owner, Fingerprint{}),
				For(rendered, slimmed(live), owner, Fingerprint{}),
				For(rendered, metadataOf(t, live), owner, Fingerprint{}),
			}
			if diff := cmp.Diff([]Action{c.whole, c.whole, c.metadata}, got); diff != "" {
				t.Errorf("as it is, slim, by its metadata: -want +got:\n%s", diff)
			}
			if got := For(rendered, metadataOf(t, live), owner, FingerprintOf(live)); got != Keep {
				t.Errorf("with the fingerprint of the last apply: %s, want Keep", got)
			}
		})
	}
}

func TestAFingerprintIsTheSameOfAllThatAWatchMayKeep(t *testing.T) {
	live := applied(t, service, serviceFields)
	want := FingerprintOf(live)
	got := []Fingerprint{FingerprintOf(slimmed(live)), FingerprintOf(slimmed(slimmed(live))), FingerprintOf(metadataOf(t, live))}
	if diff := cmp.Diff([]Fingerprint{want, want, want}, got); diff != "" {
		t.Errorf("slim, slim again, by its metadata: -want +got:\n%s", diff)
	}
	if want == (Fingerprint{}) || want == FingerprintOf(applied(t, service, `{"f:spec":{}}`)) {
		t.Error("it tells nothing")
	}
}

func TestSlimKeepsWhatIsReadAndNoMore(t *testing.T) {
	const kept = `
apiVersion: v1
kind: Secret
metadata: {name: web, namespace: a, uid: u2, labels: {a: b}, finalizers: [example.com/hold]}
type: Opaque
`
	want := object(t, kept)
	setOwnFields(want, `{"f:type":{}}`)
	secret := object(t, kept+"data: {key: dmFsdWU=}\nstringData: {key: value}\n")
	secret.SetManagedFields(applied(t, kept, `{"f:type": {}}`).GetManagedFields())
	if diff := cmp.Diff(want, slimmed(secret)); diff != "" {
		t.Errorf("a whole Secret: -want +got:\n%s", diff)
	}
	delete(want.Object, "type")
	if diff := cmp.Diff(want, metadataOf(t, secret)); diff != "" {
		t.Errorf("its metadata: -want +got:\n%s", diff)
	}
}
