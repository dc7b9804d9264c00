package chart

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/gatewright/gatewright/test/kube"
)

// newClusterWithDeployer is a cluster with the chart, which lets the controller act as the ServiceAccount deployer; there is another one
// beside it. It returns the configuration of a client that has the controller's token.
func newClusterWithDeployer(t *testing.T) (cluster, *rest.Config) {
	t.Helper()
	c := newCluster(t)
	for _, name := range []string{"deployer", "other"} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := c.kubernetes.CoreV1().ServiceAccounts(c.namespace).Create(t.Context(), account, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	named := fmt.Sprintf(`impersonation={"serviceAccounts":[{"namespace":%q,"name":"deployer"}]}`, c.namespace)
	for _, object := range render(t, c.namespace, "--set-json", named) {
		c.create(t, object, nil)
	}
	answer, err := c.kubernetes.CoreV1().ServiceAccounts(c.namespace).CreateToken(t.Context(), release, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(kube.Config(t))
	config.BearerToken, config.QPS = answer.Status.Token, -1
	return c, config
}

// actingAs is a client's configuration that acts as somebody else.
func actingAs(config *rest.Config, who rest.ImpersonationConfig) *rest.Config {
	acting := rest.CopyConfig(config)
	acting.Impersonate = who
	return acting
}

func TestTheControllerActsAsTheServiceAccountsThatAreNamedAndAsNobodyElse(t *testing.T) {
	c, config := newClusterWithDeployer(t)
	user := func(name string) string { return "system:serviceaccount:" + c.namespace + ":" + name }
	// The API server says who it takes the request to come from.
	ask := func(who rest.ImpersonationConfig) (authenticationv1.UserInfo, error) {
		client, err := kubernetes.NewForConfig(actingAs(config, who))
		if err != nil {
			t.Fatal(err)
		}
		review, err := client.AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil {
			return authenticationv1.UserInfo{}, err
		}
		return review.Status.UserInfo, nil
	}
	deployer := rest.ImpersonationConfig{UserName: user("deployer")}
	var got authenticationv1.UserInfo
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		var err error
		got, err = ask(deployer)
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("it may not act as the ServiceAccount that is named: %v", err)
	}
	want := authenticationv1.UserInfo{
		Username: deployer.UserName,
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + c.namespace, "system:authenticated"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the API server adds the groups of a ServiceAccount (-want +got):\n%s", diff)
	}

	for name, who := range map[string]rest.ImpersonationConfig{
		"not as another ServiceAccount beside it":      {UserName: user("other")},
		"not as one of that name in another namespace": {UserName: "system:serviceaccount:default:deployer"},
		"not as a person": {UserName: "deployer"},
		"not as a member of a group that is not its own": {UserName: user("deployer"), Groups: []string{"system:masters"}},
	} {
		t.Run(name, func(t *testing.T) {
			if info, err := ask(who); !apierrors.IsForbidden(err) {
				t.Errorf("want it to be forbidden, got %v and the error %v", info, err)
			}
		})
	}
}

// The roles of an account that the controller acts as are the administrator's affair. Whatever they permit, the admission policies hold
// it to the same rules.
func TestWhomTheControllerActsAsIsHeldToTheSameRules(t *testing.T) {
	c, config := newClusterWithDeployer(t)
	everything := c.bindingOfEverything(t)
	everything.Object["subjects"] = []any{map[string]any{"kind": "ServiceAccount", "name": "deployer", "namespace": c.namespace}}
	c.create(t, everything, nil)
	deployer, err := dynamic.NewForConfig(actingAs(config, rest.ImpersonationConfig{UserName: "system:serviceaccount:" + c.namespace + ":deployer"}))
	if err != nil {
		t.Fatal(err)
	}
	c.mayDoEverything(t, deployer)
	c.admissionIsOn(t, deployer)

	const notItsOwn = "own kinds are not written as a ServiceAccount"
	report := of("gatewright.dev/v1alpha1", "Rendering", ours, "status",
		map[string]any{"gateway": "a/web", "parent": "Gateway/a/web", "parentGeneration": int64(1)})
	blueprint := func() map[string]any {
		templates := map[string]any{"resourceTemplates": map[string]any{"a": "{}"}}
		return of("gatewright.dev/v1alpha1", "GatewayClassBlueprint", ours, "spec", map[string]any{"gatewayTemplate": templates})
	}
	c.attempts(t, deployer, map[string]attempt{
		"it makes what bears Gatewright's label":      {object: configMap(ours, one)},
		"it makes nothing else":                       {object: configMap(nil, one), want: created},
		"it changes what bears the label":             {before: configMap(ours, one), object: configMap(ours, two)},
		"it takes no finalizer from what others made": {before: having(gateway(nil, 80), "finalizers", []any{"gatewright.dev/test"}), object: gateway(nil, 80), want: changed},
		"it changes nothing of others":                {before: configMap(nil, one), object: configMap(nil, two), want: changed},
		"it takes over nothing of others":             {before: configMap(nil, one), object: configMap(ours, one), want: changed},
		"it hands nothing from one to another":        {before: configMap(ours, one), object: configMap(others, one), want: handed},
		"it deletes what bears the label":             {before: configMap(ours, one)},
		"it deletes nothing of others":                {before: configMap(nil, one), want: deleted},
		"it gives no rights":                          {object: role(ours), want: refused},
		"it takes no rights":                          {before: role(ours), want: refused},
		"it makes no token in a Secret":               {object: token(ours), want: refused},
		"it registers no kind":                        {object: customResource(ours), want: refused},
		"it writes no report":                         {object: report, want: notItsOwn},
		"it deletes no report":                        {before: report, want: notItsOwn},
		"it changes no blueprint":                     {before: blueprint(), object: having(blueprint(), "finalizers", []any{"gatewright.dev/test"}), want: notItsOwn},
		"it records nothing in a blueprint's status":  {before: blueprint(), object: blueprint(), put: "status", want: notItsOwn},
	})
}

// mayDoEverything waits until somebody may write whatever it likes, as far as roles go.
func (c cluster) mayDoEverything(t *testing.T, client dynamic.Interface) {
	t.Helper()
	object := c.placed(t, configMap(ours, one), "first")
	acting := c
	acting.dynamic = client
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		_, last = acting.resource(t, object).Create(ctx, &unstructured.Unstructured{Object: object.Object}, metav1.CreateOptions{})
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("it may not write: %v", last)
	}
}
