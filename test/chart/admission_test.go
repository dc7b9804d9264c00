package chart

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/test/kube"
)

// attempt is something that the controller might do, with all rights that there are.
type attempt struct {
	// before is what is there, made by somebody else; nil if nothing is. object is what it becomes; nil if it is deleted.
	before, object map[string]any
	want           string
}

const (
	ofOurs  = "gatewright.dev/owner-uid"
	refused = "must not write what gives rights"
	created = "may create only"
	deleted = "may delete only"
	changed = "may change only"
	handed  = "may not hand"
)

// The admission policies are what is left if roles permit too much, or the controller is turned: so it is given all rights here.
func TestTheAPIServerHoldsTheControllerToItsOwnObjects(t *testing.T) {
	cluster := newCluster(t)
	if err := kube.InstallCRDs(t.Context(), kube.Config(t), kube.GatewayAPICRDs()); err != nil {
		t.Fatal(err)
	}
	for _, object := range render(t, cluster.namespace) {
		cluster.create(t, object, nil)
	}
	controller := cluster.controllerWithAllRights(t)
	configMap := func(labels, data map[string]any) map[string]any { return of("v1", "ConfigMap", labels, "data", data) }
	ours, others := map[string]any{ofOurs: "a"}, map[string]any{ofOurs: "b"}
	one, two := map[string]any{"a": "1"}, map[string]any{"a": "2"}
	listeners := func(port int64) map[string]any {
		return map[string]any{"gatewayClassName": "x", "listeners": []any{map[string]any{"name": "l", "port": port, "protocol": "HTTP"}}}
	}
	role := of("rbac.authorization.k8s.io/v1", "Role", ours, "rules", []any{})
	token := of("v1", "Secret", ours, "type", "kubernetes.io/service-account-token")
	token["metadata"].(map[string]any)["annotations"] = map[string]any{"kubernetes.io/service-account.name": "gatewright"}
	finalized := of("gateway.networking.k8s.io/v1", "Gateway", nil, "spec", listeners(80))
	finalized["metadata"].(map[string]any)["finalizers"] = []any{"gatewright.dev/test"}
	web := map[string]any{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "web"}
	policy := map[string]any{"targetRefs": []any{web}}
	report := map[string]any{"gateway": "a/web", "parent": "Gateway/a/web", "parentGeneration": int64(1)}
	attempts := map[string]attempt{
		"it makes what bears its label":                   {object: configMap(ours, one)},
		"it makes nothing else":                           {object: configMap(nil, one), want: created},
		"it changes what bears its label":                 {before: configMap(ours, one), object: configMap(ours, two)},
		"it changes nothing of others":                    {before: configMap(nil, one), object: configMap(nil, two), want: changed},
		"it does not take over what belongs to others":    {before: configMap(nil, one), object: configMap(ours, one), want: changed},
		"it does not hand what belongs to one to another": {before: configMap(ours, one), object: configMap(others, one), want: handed},
		"it does not let go of what it has made":          {before: configMap(ours, one), object: configMap(nil, one), want: handed},
		"it deletes what bears its label":                 {before: configMap(ours, one)},
		"it deletes nothing else":                         {before: configMap(nil, one), want: deleted},
		"it gives no rights":                              {object: role, want: refused},
		"it takes no rights":                              {before: role, want: refused},
		"it makes no token":                               {object: token, want: refused},
		"it makes other Secrets":                          {object: of("v1", "Secret", ours, "type", "Opaque")},
		"it makes no policy":                              {object: of("gatewright.dev/v1alpha1", "GatewayConfig", ours, "spec", policy), want: refused},
		"it puts finalizers on Gateways": {
			before: of("gateway.networking.k8s.io/v1", "Gateway", nil, "spec", listeners(80)), object: finalized},
		"it changes nothing else of Gateways": {
			before: of("gateway.networking.k8s.io/v1", "Gateway", nil, "spec", listeners(80)),
			object: of("gateway.networking.k8s.io/v1", "Gateway", nil, "spec", listeners(81)), want: changed},
		"it changes Gateways that it has made": {
			before: of("gateway.networking.k8s.io/v1", "Gateway", ours, "spec", listeners(80)),
			object: of("gateway.networking.k8s.io/v1", "Gateway", ours, "spec", listeners(81))},
		"it writes its reports": {object: of("gatewright.dev/v1alpha1", "Rendering", nil, "status", report)},
	}
	cluster.admissionIsOn(t, controller)
	for name, a := range attempts {
		t.Run(name, func(t *testing.T) {
			err := cluster.try(t, controller, a)
			switch {
			case a.want == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case a.want != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), a.want)):
				t.Errorf("want it to be forbidden with ...%s..., got %v", a.want, err)
			}
		})
	}
}

// of is an object in short.
func of(apiVersion, kind string, labels map[string]any, field string, value any) map[string]any {
	return map[string]any{"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"labels": labels}, field: value}
}

// try has somebody else make what is there before, and then the controller do the rest. All of it goes with the test.
func (c cluster) try(t *testing.T, controller dynamic.Interface, a attempt) error {
	t.Helper()
	name := fmt.Sprintf("attempt-%d", time.Now().UnixNano())
	like := a.object
	if like == nil {
		like = a.before
	}
	resource := func(client dynamic.Interface) dynamic.ResourceInterface {
		acting := c
		acting.dynamic = client
		return acting.resource(t, c.placed(like, name))
	}
	// Not the test's own context, which has ended when what is left is removed.
	ctx := context.Background()
	t.Cleanup(func() {
		patch := []byte(`{"metadata": {"finalizers": null}}`)
		_, _ = resource(c.dynamic).Patch(ctx, name, "application/merge-patch+json", patch, metav1.PatchOptions{})
		_ = resource(c.dynamic).Delete(ctx, name, metav1.DeleteOptions{})
	})
	if a.before == nil {
		_, err := resource(controller).Create(ctx, c.placed(a.object, name), metav1.CreateOptions{})
		return err
	}
	there, err := resource(c.dynamic).Create(ctx, c.placed(a.before, name), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a.object == nil {
		return resource(controller).Delete(ctx, name, metav1.DeleteOptions{})
	}
	next := c.placed(a.object, name)
	next.SetResourceVersion(there.GetResourceVersion())
	_, err = resource(controller).Update(ctx, next, metav1.UpdateOptions{})
	return err
}

func (c cluster) placed(object map[string]any, name string) *unstructured.Unstructured {
	o := (&unstructured.Unstructured{Object: object}).DeepCopy()
	o.SetNamespace(c.namespace)
	o.SetName(name)
	return o
}

// controllerWithAllRights is a client with a token of the controller's account, which may do everything as far as roles go.
func (c cluster) controllerWithAllRights(t *testing.T) dynamic.Interface {
	t.Helper()
	c.create(t, c.bindingOfEverything(t), nil)
	answer, err := c.kubernetes.CoreV1().ServiceAccounts(c.namespace).CreateToken(t.Context(), release, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(kube.Config(t))
	config.BearerToken, config.QPS = answer.Status.Token, -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func (c cluster) bindingOfEverything(t *testing.T) *unstructured.Unstructured {
	t.Helper()
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": rbacv1.SchemeGroupVersion.String(), "kind": "ClusterRoleBinding",
		"metadata": map[string]any{"name": c.namespace + "-everything"},
		"roleRef":  map[string]any{"apiGroup": rbacv1.GroupName, "kind": "ClusterRole", "name": "cluster-admin"},
		"subjects": []any{map[string]any{"kind": "ServiceAccount", "name": release, "namespace": c.namespace}},
	}}
	return binding
}

// admissionIsOn waits until both policies are in effect: the API server takes a moment to see them.
func (c cluster) admissionIsOn(t *testing.T, controller dynamic.Interface) {
	t.Helper()
	for _, a := range []attempt{
		{object: of("v1", "ConfigMap", nil, "data", map[string]any{})},
		{object: of("rbac.authorization.k8s.io/v1", "Role", map[string]any{ofOurs: "a"}, "rules", []any{})},
	} {
		err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			return apierrors.IsForbidden(c.try(t, controller, a)), nil
		})
		if err != nil {
			t.Fatalf("no policy is in effect: %v", err)
		}
	}
}
