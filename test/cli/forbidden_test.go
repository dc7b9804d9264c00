package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gatewright/gatewright/test/kube"
)

// keyPair makes a certificate and its key, as a Secret holds them.
func keyPair(t *testing.T) (certificate, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"example.com"}}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	text := func(kind string, content []byte) string {
		return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: content}))
	}
	return text("CERTIFICATE", signed), text("PRIVATE KEY", encoded)
}

// viewer makes a user who may read some resources only, and returns a kubeconfig that acts as that user.
func (w *world) viewer(resources map[string][]string) string {
	w.Helper()
	var rules []any
	for group, names := range resources {
		rule := map[string]any{"apiGroups": []any{group}, "verbs": []any{"get", "list"}, "resources": []any{}}
		for _, name := range names {
			rule["resources"] = append(rule["resources"].([]any), name)
		}
		rules = append(rules, rule)
	}
	const group = "rbac.authorization.k8s.io"
	w.create(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "ClusterRole", "metadata": map[string]any{"name": w.name}, "rules": rules,
	}})
	w.create(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/v1", "kind": "ClusterRoleBinding", "metadata": map[string]any{"name": w.name},
		"roleRef":  map[string]any{"apiGroup": group, "kind": "ClusterRole", "name": w.name},
		"subjects": []any{map[string]any{"apiGroup": group, "kind": "User", "name": w.name}},
	}})
	config, err := clientcmd.LoadFromFile(kube.Shared(w).Kubeconfig)
	if err != nil {
		w.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = w.name
	}
	file := filepath.Join(w.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		w.Fatal(err)
	}
	return file
}

func TestWhatMayNotBeReadIsToldAndTheRestIsShown(t *testing.T) {
	w := newWorld(t)
	kubeconfig := w.viewer(map[string][]string{
		"gatewright.dev":            {"gatewayclassblueprints", "gatewayclassconfigs", "gatewayconfigs"},
		"gateway.networking.k8s.io": {"gatewayclasses", "gateways", "listenersets", "httproutes", "tcproutes"},
	})
	stdout, stderr, code := run("values", "--udproute", w.name+"/names", "--kubeconfig", kubeconfig)
	if stdout != "" || code != 1 || !strings.HasSuffix(stderr, fmt.Sprintf("Error: UDPRoute %s/names: not found\n", w.name)) {
		t.Errorf("a route that may not be read: exit code %d\n%s%s", code, stderr, stdout)
	}
	stdout, stderr, code = run("render", "--gateway", w.name+"/web", "-o", "json", "--kubeconfig", kubeconfig)
	if code != 1 {
		t.Errorf("a template is pending: want exit code 1, got %d", code)
	}
	var kinds []string
	for line := range strings.Lines(stderr) {
		if subject, _, found := strings.Cut(line, " is forbidden: "); found {
			kinds = append(kinds, strings.TrimPrefix(subject, "reading "))
		}
	}
	resource := func(group, name string) string { return name + "." + group + ": " + name + "." + group }
	gateways := func(name string) string { return resource("gateway.networking.k8s.io", name) }
	want := []string{
		"namespaces: namespaces", gateways("grpcroutes"), gateways("tlsroutes"), gateways("udproutes"), gateways("referencegrants"),
		"services: services", `secrets: secrets "unreadable"`,
		// These are live objects, for templates that read them.
		"configmaps: configmaps", resource("scheduling.k8s.io", "priorityclasses"),
	}
	if diff := cmp.Diff(want, kinds); diff != "" {
		t.Errorf("kinds that may not be read (-want +got):\n%s\n%s", diff, stderr)
	}
	// A certificate that may not be read is as good as one can be, so that the listener is there.
	if !strings.Contains(stdout, "https") {
		t.Errorf("the listener with a certificate is missing:\n%s", stdout)
	}
}

func TestWithoutThePoliciesNothingIsShown(t *testing.T) {
	w := newWorld(t)
	kubeconfig := w.viewer(map[string][]string{
		"gatewright.dev":            {"gatewayclassblueprints", "gatewayclassconfigs"},
		"gateway.networking.k8s.io": {"*"},
	})
	stdout, stderr, code := run("values", "--gateway", w.name+"/web", "--kubeconfig", kubeconfig)
	if stdout != "" || code != 1 || !strings.Contains(stderr, "Error: reading gatewayconfigs.gatewright.dev: ") {
		t.Errorf("exit code %d\n%s%s", code, stderr, stdout)
	}
}

func TestACertificateThatIsNotInTheClusterIsMissedThere(t *testing.T) {
	w := newWorld(t)
	secrets := w.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "secrets"})
	if err := secrets.Namespace(w.name).Delete(t.Context(), "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	_, stderr, _ := w.inCluster("render", "--gateway", w.name+"/web")
	if !strings.Contains(stderr, fmt.Sprintf("Gateway %s/web, listener https: references not resolved (InvalidCertificateRef)", w.name)) {
		t.Errorf("nothing is told of the certificate:\n%s", stderr)
	}
}

func TestTheDataOfSecretsIsNeverPrinted(t *testing.T) {
	w := newWorld(t)
	for _, args := range [][]string{
		{"render", "--gateway", w.name + "/web"},
		{"render", "--gateway", w.name + "/web", "-o", "json"},
		{"values", "--gateway", w.name + "/web"},
		{"values", "--gateway", w.name + "/web", "-o", "json"},
		{"reach", "gwcfg/" + w.name + "/web"},
	} {
		files, filesErr, _ := run(append(args, "-f", w.file)...)
		cluster, clusterErr, _ := w.inCluster(args...)
		if strings.Contains(files+filesErr+cluster+clusterErr, "this") {
			t.Errorf("%v prints data of a Secret:\n%s%s%s%s", args, files, filesErr, cluster, clusterErr)
		}
	}
}
