package kube_test

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"

	"github.com/gatewright/gatewright/test/kube"
)

func TestMain(m *testing.M) { os.Exit(kube.Run(m)) }

func TestInstallCRDsServesThemToAllWhoInstallAtOnce(t *testing.T) {
	config := kube.Config(t)
	var installers sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		installers.Go(func() {
			errs[i] = kube.InstallCRDs(t.Context(), config, kube.GatewayAPICRDs(), kube.OwnCRDs())
		})
	}
	installers.Wait()
	if diff := cmp.Diff(make([]error, len(errs)), errs); diff != "" {
		t.Fatalf("errors of the installers (-want +got):\n%s", diff)
	}

	client, err := versioned.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.GatewayV1().ListenerSets(kube.Namespace(t)).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Errorf("listing ListenerSets once their CRD is installed: %v", err)
	}
}

func TestInstallCRDsRefusesADirectoryWithoutCRDs(t *testing.T) {
	dir := t.TempDir()
	err := kube.InstallCRDs(t.Context(), kube.Config(t), dir)
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error = %v, want one that names %s", err, dir)
	}
}

func TestNamespacesAreDistinctAndGoWithTheirTest(t *testing.T) {
	client, err := kubernetes.NewForConfig(kube.Config(t))
	if err != nil {
		t.Fatal(err)
	}
	var first, second string
	t.Run("a test that makes two", func(t *testing.T) {
		first, second = kube.Namespace(t), kube.Namespace(t)
	})
	if first == second {
		t.Errorf("both namespaces are %s", first)
	}
	for _, name := range []string{first, second} {
		namespace, err := client.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{})
		gone := apierrors.IsNotFound(err) || err == nil && namespace.DeletionTimestamp != nil
		if !gone {
			t.Errorf("namespace %s stays after its test (error %v)", name, err)
		}
	}
}

func TestServerNamesTheAuditLogAndTheBinariesThatItStartedWith(t *testing.T) {
	server := kube.Shared(t)
	for _, path := range []string{server.AuditLog, server.Assets + "/kubectl"} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
