package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/cmd/gatewright/cli"
	"github.com/gatewright/gatewright/internal/intake"
	"github.com/gatewright/gatewright/internal/manifest"
	"github.com/gatewright/gatewright/test/kube"
)

func TestMain(m *testing.M) { os.Exit(kube.Run(m)) }

// world is testdata/world.yaml in a cluster and in a file.
type world struct {
	*testing.T
	// name is that of the namespace, and of what has none.
	name string
	// file holds what was applied, as it was written.
	file   string
	client dynamic.Interface
	mapper meta.RESTMapper
}

func newWorld(t *testing.T) *world {
	t.Helper()
	config := kube.Config(t)
	// The API server warns of the Secret that cannot be read.
	config.WarningHandler = rest.NoWarnings{}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, name: kube.Namespace(t), client: client, mapper: mapper(t)}
	template, err := os.ReadFile("testdata/world.yaml")
	if err != nil {
		t.Fatal(err)
	}
	certificate, key := keyPair(t)
	text := strings.NewReplacer("NAME", w.name, "CERTIFICATE", certificate, "KEY", key).Replace(string(template))
	w.file = filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(w.file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	docs, err := manifest.Decode([]byte(text))
	if err == nil {
		docs, err = manifest.Flatten(docs)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		w.create(doc.Unstructured)
	}
	return w
}

func mapper(t *testing.T) meta.RESTMapper {
	t.Helper()
	discover, err := discovery.NewDiscoveryClientForConfig(kube.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	groups, err := restmapper.GetAPIGroupResources(discover)
	if err != nil {
		t.Fatal(err)
	}
	return restmapper.NewDiscoveryRESTMapper(groups)
}

// create makes an object. What has no namespace does not go with one, and is deleted when the test ends.
func (w *world) create(o *unstructured.Unstructured) *unstructured.Unstructured {
	w.Helper()
	mapping, err := w.mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
	if err != nil {
		w.Fatal(err)
	}
	resource := w.client.Resource(mapping.Resource)
	made, err := resource.Namespace(o.GetNamespace()).Create(w.Context(), o, metav1.CreateOptions{})
	if err != nil {
		w.Fatalf("creating %s %s: %v", o.GetKind(), o.GetName(), err)
	}
	if o.GetNamespace() == "" {
		w.Cleanup(func() {
			// The test's own context has ended by now.
			if err := resource.Delete(context.Background(), o.GetName(), metav1.DeleteOptions{}); err != nil {
				w.Errorf("deleting %s %s: %v", o.GetKind(), o.GetName(), err)
			}
		})
	}
	return made
}

// run runs the tool and returns what it prints, and its exit code.
func run(args ...string) (stdout, stderr string, code int) {
	var out, errs bytes.Buffer
	code = cli.Run(append([]string{"gatewright"}, args...), "test", cli.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	return out.String(), errs.String(), code
}

// both runs the tool on the file and on the cluster, which must not make a difference, and returns what it prints.
func (w *world) both(args ...string) (stdout, stderr string, code int) {
	w.Helper()
	files, filesErr, filesCode := run(append(args, "-f", w.file)...)
	stdout, stderr, code = w.inCluster(args...)
	if diff := cmp.Diff(files, stdout); diff != "" {
		w.Errorf("%v: standard output (-files +cluster):\n%s", args, diff)
	}
	if diff := cmp.Diff(filesErr, stderr); diff != "" {
		w.Errorf("%v: standard error (-files +cluster):\n%s", args, diff)
	}
	if filesCode != code {
		w.Errorf("%v: exit code %d of files and %d of the cluster", args, filesCode, code)
	}
	return stdout, stderr, code
}

// inCluster runs the tool on the cluster.
func (w *world) inCluster(args ...string) (stdout, stderr string, code int) {
	return run(append(args, "--kubeconfig", kube.Shared(w).Kubeconfig)...)
}

// objects reads a printed list, without what only a cluster gives: uids, what refers to them, and the hash over it.
func (w *world) objects(text string) []map[string]any {
	w.Helper()
	var list struct {
		Items []map[string]any `json:"items"`
	}
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		w.Fatalf("%v in %q", err, text)
	}
	for _, object := range list.Items {
		unstructured.RemoveNestedField(object, "metadata", "ownerReferences")
		unstructured.RemoveNestedField(object, "metadata", "labels", v1alpha1.LabelOwnerUID)
		unstructured.RemoveNestedField(object, "metadata", "annotations", v1alpha1.AnnotationRendered)
	}
	return list.Items
}

func TestFilesAndClusterGiveTheSameObjects(t *testing.T) {
	w := newWorld(t)
	gw := w.name + "/web"
	files, filesErr, filesCode := run("render", "-f", w.file, "--gateway", gw, "-o", "json")
	cluster, clusterErr, clusterCode := w.inCluster("render", "--gateway", gw, "-o", "json")
	if diff := cmp.Diff(w.objects(files), w.objects(cluster)); diff != "" {
		t.Errorf("objects (-files +cluster):\n%s", diff)
	}
	if diff := cmp.Diff(filesErr, clusterErr); diff != "" {
		t.Errorf("standard error (-files +cluster):\n%s", diff)
	}
	var names []string
	for _, object := range w.objects(cluster) {
		names = append(names, fmt.Sprint(object["kind"], " ", object["metadata"].(map[string]any)["name"]))
	}
	want := []string{
		"PriorityClass " + w.name, "ConfigMap calls-route", "ConfigMap cart-route", "ConfigMap mail-route", "ConfigMap names-route",
		"ConfigMap stock-route", "ConfigMap web",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("rendered (-want +got):\n%s", diff)
	}
	if filesCode != 1 || clusterCode != 1 {
		t.Errorf("a template is pending: want exit code 1 of both, got %d of files and %d of the cluster", filesCode, clusterCode)
	}
}

func TestLiveObjectsOfTheClusterAreSeen(t *testing.T) {
	w := newWorld(t)
	gateways := schema.GroupVersionResource{Group: gatewayv1.GroupName, Version: "v1", Resource: "gateways"}
	gw, err := w.client.Resource(gateways).Namespace(w.name).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{
		"name": "web", "namespace": w.name,
		"labels": map[string]any{v1alpha1.LabelOwnerUID: string(gw.GetUID()), v1alpha1.LabelTemplate: "config"},
	}}}
	uid := string(w.create(config).GetUID())
	stdout, stderr, code := w.inCluster("render", "--gateway", w.name+"/web", "-o", "json")
	told := stderr[strings.LastIndex(strings.TrimSpace(stderr), "\n")+1:]
	if diff := cmp.Diff(fmt.Sprintf("Gateway %s/web: address: Hostname %s.example.com\n", w.name, uid), told); diff != "" || code != 0 {
		t.Errorf("exit code %d, the last line on standard error (-want +got):\n%s", code, diff)
	}
	var of []string
	for _, object := range w.objects(stdout) {
		if value, found, _ := unstructured.NestedString(object, "data", "of"); found {
			of = append(of, value)
		}
	}
	if diff := cmp.Diff([]string{uid}, of); diff != "" {
		t.Errorf("what the derived object says (-want +got):\n%s", diff)
	}
}

func TestRenderedObjectsBelongToTheirGateway(t *testing.T) {
	w := newWorld(t)
	stdout, _, _ := w.inCluster("render", "-n", w.name, "--gateway", "web", "-o", "json")
	var list unstructured.UnstructuredList
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Items {
		uid := o.GetLabels()[v1alpha1.LabelOwnerUID]
		owned := len(o.GetOwnerReferences()) == 1 && string(o.GetOwnerReferences()[0].UID) == uid
		if namespaced := o.GetNamespace() != ""; uid == "" || owned != namespaced {
			t.Errorf("%s %s: owner label %q, references %v", o.GetKind(), o.GetName(), uid, o.GetOwnerReferences())
		}
	}
}

func TestFilesAndClusterGiveTheSameValues(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{
		{"--gateway", w.name + "/web"},
		{"--gateway", w.name + "/web", "--listener", "https"},
		{"--httproute", w.name + "/cart"},
		{"--grpcroute", w.name + "/calls"},
		{"--tlsroute", w.name + "/mail"},
		{"--tcproute", w.name + "/stock"},
		{"--udproute", w.name + "/names"},
	} {
		for _, format := range []string{"json", "yaml", "table"} {
			stdout, stderr, code := w.both(append([]string{"values", "-o", format}, args...)...)
			if code != 0 || !strings.Contains(stdout, "good morning") {
				t.Errorf("%v: exit code %d\n%s%s", args, code, stderr, stdout)
			}
		}
	}
}

func TestFilesAndClusterGiveTheSameReach(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{
		{"gwcfg/" + w.name + "/web"},
		{"gwcfg/" + w.name + "/web", "greeting"},
		{"gwcfg/" + w.name + "/names"},
	} {
		for _, format := range []string{"json", "yaml", "table"} {
			stdout, stderr, code := w.both(append([]string{"reach", "-o", format}, args...)...)
			if code != 0 || !strings.Contains(stdout, "UDPRoute "+w.name+"/names under Gateway "+w.name+"/web, listener udp") {
				t.Errorf("%v: exit code %d\n%s%s", args, code, stderr, stdout)
			}
		}
	}
	_, stderr, _ := w.both("reach", "gwcfg/"+w.name+"/names")
	want := fmt.Sprintf("GatewayConfig %[1]s/names, target 2: not accepted (TargetNotFound): "+
		"there is no TCPRoute nowhere in namespace %[1]s, or it has no part in a Gateway of ours\n", w.name)
	if diff := cmp.Diff(want, stderr); diff != "" {
		t.Errorf("standard error (-want +got):\n%s", diff)
	}
}

func TestWhatIsNotInTheClusterIsNotFound(t *testing.T) {
	w := newWorld(t)
	stdout, stderr, code := w.inCluster("render", "--gateway", w.name+"/nobody")
	if stdout != "" || stderr != fmt.Sprintf("Error: Gateway %s/nobody: not found\n", w.name) || code != 1 {
		t.Errorf("exit code %d\n%s%s", code, stderr, stdout)
	}
}

func TestTheScopesThatAreKnownWithoutAClusterAreThoseOfTheAPIServer(t *testing.T) {
	discover, err := discovery.NewDiscoveryClientForConfig(kube.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	_, lists, err := discover.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range lists {
		gv, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			t.Fatal(err)
		}
		for _, resource := range list.APIResources {
			kind := schema.GroupKind{Group: gv.Group, Kind: resource.Kind}
			// What cannot be applied, or is a part of another object, is never rendered.
			if !slices.Contains(resource.Verbs, "patch") || strings.Contains(resource.Name, "/") || !ofKubernetes(gv.Group) {
				continue
			}
			if intake.ClusterScoped(kind) == resource.Namespaced {
				t.Errorf("%s: the API server says that namespaced is %t", kind, resource.Namespaced)
			}
		}
	}
}

// ofKubernetes says whether a group is of Kubernetes itself or of Gateway API; of others nobody can know the kinds.
func ofKubernetes(group string) bool {
	return !strings.Contains(group, ".") || strings.HasSuffix(group, ".k8s.io")
}
