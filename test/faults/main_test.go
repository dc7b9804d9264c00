package faults_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/gatewright/gatewright/controllers"
	"github.com/gatewright/gatewright/test/controller"
	"github.com/gatewright/gatewright/test/faults/faultproxy"
	"github.com/gatewright/gatewright/test/kube"
)

// all has every fault happen at every write, which takes minutes.
var all = flag.Bool("all", false, "have every fault happen, at every write")

// shared is what all tests have in common. They run one after the other: a fault hits whatever the controller is at.
var shared struct {
	server *kube.Server
	config *rest.Config
	// client goes to the API server itself, past all faults.
	client    client.Client
	discovery discovery.DiscoveryInterface
	// binary is the controller's.
	binary string
	// proxy is what controllers under test reach the API server by; kubeconfig says so.
	proxy      *faultproxy.Proxy
	kubeconfig string
}

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	ctrl.SetLogger(zap.New(zap.WriteTo(io.Discard)))
	// Not the server that other test processes share: these tests kill it.
	if err := os.Unsetenv("GATEWRIGHT_TEST_KUBECONFIG"); err != nil {
		return 1, err
	}
	dir, err := os.MkdirTemp("", "gatewright-faults-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if shared.binary, err = controller.Build(dir, os.Stderr); err != nil {
		return 1, err
	}
	if shared.server, err = kube.Start(os.Stderr); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.server.Stop()) }()
	if shared.config, err = shared.server.Config(); err != nil {
		return 1, err
	}
	scheme, err := controllers.Scheme()
	if err != nil {
		return 1, err
	}
	if shared.client, err = client.New(shared.config, client.Options{Scheme: scheme}); err != nil {
		return 1, err
	}
	if shared.discovery, err = discovery.NewDiscoveryClientForConfig(shared.config); err != nil {
		return 1, err
	}
	if shared.proxy, err = faultproxy.New(shared.config); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.proxy.Close()) }()
	shared.kubeconfig = filepath.Join(dir, "kubeconfig")
	if err := shared.proxy.WriteKubeconfig(shared.kubeconfig); err != nil {
		return 1, err
	}
	code = m.Run()
	if *all {
		results.print(os.Stdout)
	}
	return code, nil
}
