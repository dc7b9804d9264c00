package integration_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers"
	"github.com/gatewright/gatewright/test/kube"
)

// systemNamespace is the controller's own.
const systemNamespace = v1alpha1.DefaultControllerNamespace

// shared is what all tests of the package have in common.
var shared struct {
	server *kube.Server
	// client reads from the API server itself, and is told apart from the manager by its user agent.
	client  client.Client
	manager *manager
}

func TestMain(m *testing.M) {
	flag.Parse()
	// Tests wait much more than they work, so there may be more of them at once than there are processors.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	// Not the server that other test processes share: two managers on one would both work on every Gateway.
	if err := os.Unsetenv("GATEWRIGHT_TEST_KUBECONFIG"); err != nil {
		return 1, err
	}
	logs := io.Discard
	if testing.Verbose() {
		logs = os.Stderr
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(logs)))

	if shared.server, err = kube.Start(os.Stderr); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.server.Stop()) }()
	if shared.client, err = newClient(); err != nil {
		return 1, err
	}
	if err := makeSystemNamespace(); err != nil {
		return 1, err
	}
	stopPlayer, err := startPlayer()
	if err != nil {
		return 1, err
	}
	defer stopPlayer()
	if shared.manager, err = startManager(); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shared.manager.stop()) }()
	code = m.Run()
	// A reconcile that panics is tried again, and tests may well pass all the same.
	panics, err := counted("controller_runtime_reconcile_panics_total")
	if err == nil && panics > 0 {
		err = fmt.Errorf("%v reconciles panicked; run with -v to see where", panics)
	}
	return code, err
}

func newClient() (client.Client, error) {
	config, err := shared.server.Config()
	if err != nil {
		return nil, err
	}
	config.UserAgent = "tests"
	scheme, err := controllers.Scheme()
	if err != nil {
		return nil, err
	}
	return client.New(config, client.Options{Scheme: scheme})
}
