package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/test/controller"
	"github.com/gatewright/gatewright/test/kube"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

// poll is how often a condition is looked at that is waited for.
const poll = 100 * time.Millisecond

// cluster is a control plane without nodes, with the controller and the player at work on it.
type cluster struct {
	config *rest.Config
	client client.Client
	// namespaces are those that are there before the suite makes some.
	namespaces []string
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, apiextensionsv1.AddToScheme, gatewayv1.Install, v1alpha1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

// newCluster starts everything. It ends with the test, and if that failed, the logs say more.
func newCluster(t *testing.T) *cluster {
	t.Helper()
	// Not a server that other test processes share: the controller would work on their Gateways too.
	t.Setenv("GATEWRIGHT_TEST_KUBECONFIG", "")
	server := kube.Shared(t)
	c := &cluster{config: kube.Config(t)}
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	if c.client, err = client.New(c.config, client.Options{Scheme: scheme}); err != nil {
		t.Fatal(err)
	}
	c.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.DefaultControllerNamespace}})
	c.create(t, &gatewayv1.GatewayClass{
		ObjectMeta: metav1.ObjectMeta{Name: innerClass}, Spec: gatewayv1.GatewayClassSpec{ControllerName: innerController},
	})
	if c.namespaces, err = c.listNamespaces(t.Context()); err != nil {
		t.Fatal(err)
	}
	startPlayer(t, c.config)
	startController(t, server)
	return c
}

// startPlayer has the player play until the test ends.
func startPlayer(t *testing.T, config *rest.Config) {
	t.Helper()
	log, err := os.Create(filepath.Join(t.ArtifactDir(), "player.log"))
	if err != nil {
		t.Fatal(err)
	}
	ctrl.SetLogger(zap.New(zap.WriteTo(log)))
	mgr, err := newPlayer(config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the player ended with %v", err)
		}
	})
}

// startController runs the controller until the test ends.
func startController(t *testing.T, server *kube.Server) {
	t.Helper()
	binary, err := controller.Build(t.TempDir(), os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	running, err := controller.Start(binary, server.Kubeconfig, "--leader-elect=false")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		log := filepath.Join(t.ArtifactDir(), "controller.log")
		if err := errors.Join(running.Stop(), running.WriteLog(log)); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the logs of the controller and of the player are in %s", t.ArtifactDir())
		}
	})
}

// install makes a run's class, waits until the controller accepts it, and returns it.
func (c *cluster) install(t *testing.T, r run) *gatewayv1.GatewayClass {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kube.RepoRoot(), "blueprints", r.blueprint, "blueprint.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	blueprint := &v1alpha1.GatewayClassBlueprint{}
	if err := yaml.UnmarshalStrict(text, blueprint); err != nil {
		t.Fatalf("reading blueprint %s: %v", r.blueprint, err)
	}
	blueprint.Name = r.class
	for _, feature := range r.lacks {
		supports := blueprint.Spec.Supports
		supports.Features = slices.DeleteFunc(supports.Features, func(name string) bool { return name == string(feature) })
	}
	c.create(t, blueprint)
	c.create(t, &v1alpha1.GatewayClassConfig{
		ObjectMeta: metav1.ObjectMeta{Namespace: v1alpha1.DefaultControllerNamespace, Name: r.class},
		Spec: v1alpha1.PolicySpec{
			TargetRef: &v1alpha1.PolicyTargetReference{
				Group: gatewayv1.GroupName, Kind: "GatewayClass", Name: gatewayv1.ObjectName(r.class),
			},
			ValuesBlocks: v1alpha1.ValuesBlocks{Override: &apiextensionsv1.JSON{Raw: []byte(r.values)}},
		},
	})
	class := &gatewayv1.GatewayClass{
		ObjectMeta: metav1.ObjectMeta{Name: r.class},
		Spec: gatewayv1.GatewayClassSpec{
			ControllerName: v1alpha1.ControllerName,
			ParametersRef: &gatewayv1.ParametersReference{
				Group: v1alpha1.GroupName, Kind: "GatewayClassBlueprint", Name: blueprint.Name,
			},
		},
	}
	c.create(t, class)
	c.await(t, "GatewayClass "+r.class+" is accepted", func(ctx context.Context) (string, bool) {
		if err := c.client.Get(ctx, client.ObjectKeyFromObject(class), class); err != nil {
			return err.Error(), false
		}
		return fmt.Sprint(class.Status.Conditions), meta.IsStatusConditionTrue(class.Status.Conditions, "Accepted")
	})
	return class
}

// namespacesAreGone waits until there are no other namespaces than before the suite made some.
func (c *cluster) namespacesAreGone(t *testing.T) {
	t.Helper()
	c.await(t, "the namespaces of the suite are gone", func(ctx context.Context) (string, bool) {
		now, err := c.listNamespaces(ctx)
		if err != nil {
			return err.Error(), false
		}
		return fmt.Sprint(now), slices.Equal(now, c.namespaces)
	})
}

func (c *cluster) listNamespaces(ctx context.Context) ([]string, error) {
	list := &corev1.NamespaceList{}
	if err := c.client.List(ctx, list); err != nil {
		return nil, err
	}
	var names []string
	for _, namespace := range list.Items {
		names = append(names, namespace.Name)
	}
	slices.Sort(names)
	return names, nil
}

func (c *cluster) create(t *testing.T, o client.Object) {
	t.Helper()
	if err := c.client.Create(t.Context(), o); err != nil {
		t.Fatalf("creating %T %s: %v", o, o.GetName(), err)
	}
}

// await ends the test if something does not come true in time, and tells what was found instead.
func (c *cluster) await(t *testing.T, what string, look func(context.Context) (found string, ok bool)) {
	t.Helper()
	var found string
	err := wait.PollUntilContextTimeout(t.Context(), poll, *patience, true, func(ctx context.Context) (ok bool, _ error) {
		found, ok = look(ctx)
		return ok, nil
	})
	if err != nil {
		t.Fatalf("waited %v until %s, found %s", *patience, what, found)
	}
}
