package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"

	"github.com/gatewright/gatewright/test/controller"
	"github.com/gatewright/gatewright/test/helm"
	"github.com/gatewright/gatewright/test/kube"
)

// The rights and the arguments of the chart are right if the controller, outside of the cluster but with nothing else, does
// its work: it makes a Gateway Programmed, and lets go of everything again.
func TestTheControllerWorksWithTheChartsRightsAndArguments(t *testing.T) {
	const namespace = "gatewright-system"
	server := ownServer(t)
	admin := kubectl{t, filepath.Join(server.Assets, "kubectl"), server.Kubeconfig}
	kubectl := func(args ...string) string {
		t.Helper()
		return admin.must("", args...)
	}

	env := []string{"KUBECONFIG=" + server.Kubeconfig}
	if _, err := helm.Run(t, env, "install", release, chartDir(), "--namespace", namespace, "--create-namespace"); err != nil {
		t.Fatal(err)
	}
	summed := "clusterrole/" + namespace + "-" + release + "-blueprints"
	kubectl("wait", "--for=jsonpath={.rules[0]}", "--timeout=60s", summed)
	args := deployment(t, render(t, namespace)).Spec.Template.Spec.Containers[0].Args
	token := kubectl("create", "token", release, "--namespace", namespace)
	log := startController(t, kubeconfigWith(t, server.Kubeconfig, token), args)

	kubectl("apply", "-f", filepath.Join(kube.RepoRoot(), "samples", "quickstart"))
	kubectl("wait", "--for=condition=Programmed", "--timeout=60s", "--namespace=quickstart", "gateway/web")
	// Each of these waits until the finalizers are gone.
	kubectl("delete", "httproutes,listenersets,gateways", "--all", "--all-namespaces", "--timeout=60s")
	kubectl("delete", "gatewayclasses", "--all", "--timeout=60s")
	kubectl("delete", "gatewayclassblueprints", "--all", "--timeout=60s")

	for line := range strings.Lines(log()) {
		if strings.Contains(line, "forbidden") {
			t.Errorf("the controller lacks a right: %s", line)
		}
	}
}

// ownServer starts an API server for one test alone, and not the one that other test processes share: the controller would work on their
// Gateways too.
func ownServer(t *testing.T) *kube.Server {
	t.Helper()
	t.Setenv("GATEWRIGHT_TEST_KUBECONFIG", "")
	server, err := kube.Start(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// kubeconfigWith writes a kubeconfig that has a token for all credentials, and returns its path.
func kubeconfigWith(t *testing.T, kubeconfig, token string) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	for user := range config.AuthInfos {
		config.AuthInfos[user] = &api.AuthInfo{Token: token}
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// startController builds the controller and runs it to the end of the test. It returns what reads the log so far.
func startController(t *testing.T, kubeconfig string, args []string) (log func() string) {
	t.Helper()
	binary, err := controller.Build(t.TempDir(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	running, err := controller.Start(binary, kubeconfig, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := running.Stop()
		if t.Failed() || err != nil {
			t.Errorf("error %v; the controller's log:\n%s", err, running.Log())
		}
	})
	return running.Log
}
