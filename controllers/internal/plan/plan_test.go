package plan

import (
	stdcmp "cmp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/desired"
)

const owner types.UID = "u1"

// object reads YAML. Tests write what a reader of the API server would see.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		t.Fatal(err)
	}
	return o
}

// applied returns a live object of which our field manager owns the given fields, and somebody else some status.
func applied(t *testing.T, text, fields string) *unstructured.Unstructured {
	t.Helper()
	o := object(t, text)
	o.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: "other", Operation: metav1.ManagedFieldsOperationUpdate, FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:phase":{}}}`)},
		{Manager: "gatewright", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields)},
	})
	return o
}

const service = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: a, labels: {gatewright.dev/owner-uid: u1}, annotations: {gatewright.dev/rendered: h1}}
spec:
  type: ClusterIP
  selector: {app: web}
  ports: [{name: http, port: 80}]
`

// serviceFields is what the API server notes down for that Service: ports merge by port and protocol, which it defaulted.
const serviceFields = `{
  "f:metadata": {"f:labels": {"f:gatewright.dev/owner-uid": {}}, "f:annotations": {"f:gatewright.dev/rendered": {}}},
  "f:spec": {"f:type": {}, "f:selector": {}, "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}}}}
}`

func TestFor(t *testing.T) {
	withoutType := `{
  "f:metadata": {"f:labels": {"f:gatewright.dev/owner-uid": {}}, "f:annotations": {"f:gatewright.dev/rendered": {}}},
  "f:spec": {"f:selector": {}, "f:ports": {"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}}}}
}`
	withoutPort := `{
  "f:metadata": {"f:labels": {"f:gatewright.dev/owner-uid": {}}, "f:annotations": {"f:gatewright.dev/rendered": {}}},
  "f:spec": {"f:type": {}, "f:selector": {}, "f:ports": {"k:{\"port\":81,\"protocol\":\"TCP\"}": {".": {}, "f:name": {}, "f:port": {}}}}
}`
	// What somebody takes away goes from our fields too.
	withoutLabel := strings.Replace(serviceFields, `"f:labels": {"f:gatewright.dev/owner-uid": {}}, `, "", 1)
	edit := func(o *unstructured.Unstructured, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
		change(o)
		return o
	}
	partial := applied(t, service, withoutType)
	cases := map[string]struct {
		live       *unstructured.Unstructured
		remembered Fingerprint
		want       Action
	}{
		"an object that is not there is created": {nil, Fingerprint{}, Create},
		"an object as rendered is left alone":    {applied(t, service, serviceFields), Fingerprint{}, Keep},
		"an object rendered otherwise before is applied": {
			edit(applied(t, service, serviceFields), func(o *unstructured.Unstructured) {
				o.SetAnnotations(map[string]string{"gatewright.dev/rendered": "h0"})
			}), Fingerprint{}, Update},
		"a field that somebody else took over is applied":         {applied(t, service, withoutType), Fingerprint{}, Update},
		"a list item that somebody else took out is applied":      {applied(t, service, withoutPort), Fingerprint{}, Update},
		"an object that we never applied is applied":              {object(t, service), Fingerprint{}, Update},
		"fields that the API server drops do not look like drift": {partial, FingerprintOf(partial), Keep},
		"a fingerprint of another state proves nothing":           {applied(t, service, withoutType), FingerprintOf(applied(t, service, serviceFields)), Update},
		"an object of another parent is refused": {
			edit(applied(t, service, serviceFields), func(o *unstructured.Unstructured) {
				o.SetLabels(map[string]string{"gatewright.dev/owner-uid": "u2"})
			}), Fingerprint{}, Refuse},
		"an object without an owner is refused": {
			edit(applied(t, service, serviceFields), func(o *unstructured.Unstructured) { o.SetLabels(nil) }), Fingerprint{}, Refuse},
		"an object that lost our label, but refers to the parent and was applied by us, is mended": {
			edit(applied(t, service, withoutLabel), func(o *unstructured.Unstructured) {
				o.SetLabels(nil)
				o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Gateway", Name: "g", UID: owner}})
			}), Fingerprint{}, Update},
		"a reference to the parent alone makes no object ours": {
			edit(object(t, service), func(o *unstructured.Unstructured) {
				o.SetLabels(nil)
				o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Gateway", Name: "g", UID: owner}})
			}), Fingerprint{}, Refuse},
		"an owned object that is being deleted is waited for": {
			edit(applied(t, service, serviceFields), func(o *unstructured.Unstructured) {
				now := metav1.Now()
				o.SetDeletionTimestamp(&now)
			}), Fingerprint{}, Wait},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := For(object(t, service), c.live, owner, c.remembered); got != c.want {
				t.Errorf("For() = %s, want %s", got, c.want)
			}
		})
	}
}

func TestUnchangedReadsFieldSets(t *testing.T) {
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, annotations: {gatewright.dev/rendered: h}}\n"
	const metadata = `"f:metadata":{"f:annotations":{"f:gatewright.dev/rendered":{}}}`
	cases := map[string]struct {
		rendered, fields string
		want             bool
		live             string // as rendered, if empty
	}{
		"an atomic list is covered as a whole":                      {"spec: {args: [a, b]}", `"f:spec":{"f:args":{}}`, true, ""},
		"a set is covered value by value":                           {"spec: {args: [a, b]}", `"f:spec":{"f:args":{"v:\"a\"":{},"v:\"b\"":{}}}`, true, ""},
		"a value missing from a set is not covered":                 {"spec: {args: [a, b]}", `"f:spec":{"f:args":{"v:\"a\"":{}}}`, false, ""},
		"a map of which all members were taken over is not covered": {"spec: {a: 1}", `"f:spec":{}`, false, "spec: {a: 9}"},
		"an empty map is covered as a leaf":                         {"spec: {emptyDir: {}}", `"f:spec":{"f:emptyDir":{}}`, true, ""},
		"a field that is not in the set is not covered":             {"data: {k: v}", `"f:spec":{}`, false, ""},
		"a list item with other keys is not covered":                {"spec: {l: [{name: x, v: 1}]}", `"f:spec":{"f:l":{"k:{\"name\":\"y\"}":{"f:name":{},"f:v":{}}}}`, false, ""},
		"a list item with a field lost is not covered":              {"spec: {l: [{name: x, v: 1}]}", `"f:spec":{"f:l":{"k:{\"name\":\"x\"}":{"f:name":{}}}}`, false, ""},
		"a list item with all its fields is covered":                {"spec: {l: [{name: x, v: 1}]}", `"f:spec":{"f:l":{"k:{\"name\":\"x\"}":{"f:name":{},"f:v":{}}}}`, true, ""},
		"more fields than rendered do not matter":                   {"data: {k: v}", `"f:data":{"f:k":{},"f:old":{}}`, true, ""},
		"a field set that is no map proves nothing":                 {"data: {k: v}", `"f:data":[]`, false, ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			live := applied(t, head+stdcmp.Or(c.live, c.rendered), "{"+metadata+","+c.fields+"}")
			if got := Unchanged(object(t, head+c.rendered), live, Fingerprint{}); got != c.want {
				t.Errorf("Unchanged() = %v, want %v", got, c.want)
			}
		})
	}
}

func TestPrune(t *testing.T) {
	ours := func(name string, change func(*unstructured.Unstructured)) *unstructured.Unstructured {
		o := applied(t, service, serviceFields)
		o.SetName(name)
		o.SetOwnerReferences([]metav1.OwnerReference{{Kind: "Gateway", Name: "g", UID: owner}})
		if change != nil {
			change(o)
		}
		return o
	}
	rendered := ours("rendered", nil)
	stale := ours("stale", nil)
	older := ours("older", nil)
	clusterScoped := ours("cluster", func(o *unstructured.Unstructured) { o.SetNamespace(""); o.SetOwnerReferences(nil) })
	cloned := ours("cloned", func(o *unstructured.Unstructured) { o.SetManagedFields(nil) })
	unreferenced := ours("unreferenced", func(o *unstructured.Unstructured) { o.SetOwnerReferences(nil) })
	foreign := ours("foreign", func(o *unstructured.Unstructured) { o.SetLabels(nil) })
	going := ours("going", func(o *unstructured.Unstructured) { now := metav1.Now(); o.SetDeletionTimestamp(&now) })

	standing := func(name, order string) *unstructured.Unstructured {
		return ours(name, func(o *unstructured.Unstructured) {
			o.SetAnnotations(map[string]string{v1alpha1.AnnotationOrder: order})
		})
	}
	middle, top, alsoTop, goingTop := standing("middle", "1"), standing("top", "2"), standing("also-top", "2"), standing("going-top", "2")
	goingTop.SetDeletionTimestamp(going.GetDeletionTimestamp())

	cases := map[string]struct {
		owned   []*unstructured.Unstructured
		settled bool
		want    Pruning
	}{
		"what is rendered stays": {[]*unstructured.Unstructured{rendered}, true, Pruning{}},
		"what is not rendered goes": {
			[]*unstructured.Unstructured{older, rendered, stale}, true, Pruning{Delete: []*unstructured.Unstructured{older, stale}}},
		"what stands on others goes before them": {
			[]*unstructured.Unstructured{stale, top, middle, alsoTop}, true,
			Pruning{Delete: []*unstructured.Unstructured{top, alsoTop}, Later: []*unstructured.Unstructured{stale, middle}}},
		"what others stand on waits until these are gone": {
			[]*unstructured.Unstructured{stale, goingTop, middle}, true, Pruning{Later: []*unstructured.Unstructured{stale, middle}}},
		"nothing goes while anything is pending or failed": {
			[]*unstructured.Unstructured{stale}, false, Pruning{Held: []*unstructured.Unstructured{stale}}},
		"a cluster-scoped object needs no owner reference": {
			[]*unstructured.Unstructured{clusterScoped}, true, Pruning{Delete: []*unstructured.Unstructured{clusterScoped}}},
		"a copy that carries our label, but that we did not apply, stays": {
			[]*unstructured.Unstructured{cloned}, true, Pruning{Kept: []*unstructured.Unstructured{cloned}}},
		"a namespaced object without a reference to the parent stays": {
			[]*unstructured.Unstructured{unreferenced}, true, Pruning{Kept: []*unstructured.Unstructured{unreferenced}}},
		"an object of somebody else is not looked at":     {[]*unstructured.Unstructured{foreign}, true, Pruning{}},
		"an object that is being deleted is left to that": {[]*unstructured.Unstructured{going}, true, Pruning{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := Prune(map[desired.Identity]bool{desired.IdentityOf(rendered): true}, c.owned, owner, c.settled)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Prune(): -want +got:\n%s", diff)
			}
		})
	}
}
