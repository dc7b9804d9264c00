package golden

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"

	"github.com/gatewright/gatewright/test/kube"
)

func TestMain(m *testing.M) { os.Exit(kube.Run(m)) }

func TestTheAPIServerTakesEveryObjectThatIsRendered(t *testing.T) {
	config := kube.Config(t)
	if err := kube.InstallCRDs(t.Context(), config, kube.GatewayAPICRDs(), filepath.Join(kube.RepoRoot(), "test", "crds")); err != nil {
		t.Fatal(err)
	}
	discover, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(discover)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	// The namespaces of the cases are not made: what an API server thinks of an object does not depend on its namespace.
	namespace := kube.Namespace(t)
	for name, f := range folders(t) {
		for _, object := range rendered(t, f) {
			mapping, err := mapper.RESTMapping(object.GroupVersionKind().GroupKind(), object.GroupVersionKind().Version)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			object.SetNamespace(namespace)
			_, err = client.Resource(mapping.Resource).Namespace(namespace).Create(t.Context(), object, metav1.CreateOptions{
				DryRun: []string{metav1.DryRunAll}, FieldValidation: metav1.FieldValidationStrict,
			})
			if err != nil {
				t.Errorf("%s: %s %s: %v", name, object.GetKind(), object.GetName(), err)
			}
		}
	}
}

// rendered are all objects of a case.
func rendered(t *testing.T, f folder) []*unstructured.Unstructured {
	t.Helper()
	w, err := load(f.inputs, f.observed)
	if err != nil {
		t.Fatal(err)
	}
	var out []*unstructured.Unstructured
	collect := func(r *rendering) {
		if r == nil {
			return
		}
		for _, object := range r.Objects {
			out = append(out, &unstructured.Unstructured{Object: object})
		}
	}
	for _, gw := range judge(w).Gateways {
		collect(gw.rendering)
		for _, route := range gw.Routes {
			collect(route.rendering)
		}
	}
	return out
}
