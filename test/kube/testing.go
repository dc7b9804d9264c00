package kube

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// process is the server of this test process. It starts on first use, so that a run of tests that need none, or of one
// test that needs none, costs nothing.
var process struct {
	sync.Mutex
	running bool
	server  *Server
	err     error
}

// Run runs the tests of a package, stops the server if one of them started it, and returns the exit code. It belongs into
// TestMain.
func Run(m *testing.M) int {
	process.running = true
	code := m.Run()
	if process.server == nil {
		return code
	}
	if err := process.server.Stop(); err != nil {
		fmt.Fprintf(os.Stderr, "stopping the API server: %v\n", err)
		return max(code, 1)
	}
	return code
}

// Shared returns the server of this test process and starts it if it must. It ends the test where that fails.
func Shared(t testing.TB) *Server {
	t.Helper()
	process.Lock()
	defer process.Unlock()
	if !process.running {
		t.Fatal("nobody would stop the API server; write: func TestMain(m *testing.M) { os.Exit(kube.Run(m)) }")
	}
	if process.server == nil && process.err == nil {
		process.server, process.err = Start(os.Stderr)
	}
	if process.err != nil {
		t.Fatal(process.err)
	}
	return process.server
}

// Config returns a new configuration for clients of the server of this test process.
func Config(t testing.TB) *rest.Config {
	t.Helper()
	config, err := Shared(t).Config()
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// Namespace makes a namespace that nobody else has and returns its name. It is deleted when the test ends, which takes
// all that is in it along.
func Namespace(t testing.TB) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(Config(t))
	if err != nil {
		t.Fatal(err)
	}
	namespaces := client.CoreV1().Namespaces()
	wanted := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	made, err := namespaces.Create(t.Context(), wanted, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("making a namespace: %v", err)
	}
	t.Cleanup(func() {
		// The test's own context has ended by now.
		if err := namespaces.Delete(context.Background(), made.Name, metav1.DeleteOptions{}); err != nil {
			t.Errorf("removing namespace %s: %v", made.Name, err)
		}
	})
	return made.Name
}
