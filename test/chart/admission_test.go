package chart

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
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
	// posted and put are subresources of what is there, if object goes to one of these.
	posted, put string
	// want is what the refusal says; empty if there is none.
	want string
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
	cluster.admissionIsOn(t, controller)
	cluster.attempts(t, controller, ownershipAttempts(cluster.namespace))
	cluster.attempts(t, controller, rightsAttempts(t))
	cluster.attempts(t, controller, commandAttempts())
}

// What an administrator permits is permitted, and nothing else along with it.
func TestAdministratorsMayPermitGroupsThatGiveRights(t *testing.T) {
	cluster := newCluster(t)
	permitted := `admissionPolicies={"permittedGroups":["rbac.authorization.k8s.io"],"permitServiceAccountTokens":true}`
	for _, object := range render(t, cluster.namespace, "--set-json", permitted) {
		cluster.create(t, object, nil)
	}
	controller := cluster.controllerWithAllRights(t)
	cluster.admissionIsOn(t, controller)
	cluster.attempts(t, controller, map[string]attempt{
		"it makes a role that bears its label":         {object: role(ours)},
		"it makes no other role":                       {object: role(nil), want: created},
		"it changes no role of others":                 {before: role(nil), object: role(ours), want: changed},
		"it deletes no role of others":                 {before: role(nil), want: deleted},
		"it makes a token that bears its label":        {object: token(ours)},
		"it makes no other token":                      {object: token(nil), want: created},
		"it registers no webhook or kind all the same": {object: customResource(ours), want: refused},
	})
}

// attempts has the controller try each, and compares the answers of the API server with what they are to be.
func (c cluster) attempts(t *testing.T, controller dynamic.Interface, all map[string]attempt) {
	t.Helper()
	for name, a := range all {
		t.Run(name, func(t *testing.T) {
			err := c.try(t, controller, a)
			switch {
			case a.want == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case a.want != "" && (!apierrors.IsForbidden(err) || !strings.Contains(err.Error(), a.want)):
				t.Errorf("want it to be forbidden with ...%s..., got %v", a.want, err)
			}
		})
	}
}

var (
	ours, others = map[string]any{ofOurs: "a"}, map[string]any{ofOurs: "b"}
	one, two     = map[string]any{"a": "1"}, map[string]any{"a": "2"}
)

func configMap(labels, data map[string]any) map[string]any {
	return of("v1", "ConfigMap", labels, "data", data)
}

func role(labels map[string]any) map[string]any {
	return of("rbac.authorization.k8s.io/v1", "Role", labels, "rules", []any{})
}

func token(labels map[string]any) map[string]any {
	secret := of("v1", "Secret", labels, "type", "kubernetes.io/service-account-token")
	return having(secret, "annotations", map[string]any{"kubernetes.io/service-account.name": "gatewright"})
}

// gateway is one with a listener at a port.
func gateway(labels map[string]any, port int64) map[string]any {
	return of("gateway.networking.k8s.io/v1", "Gateway", labels, "spec", map[string]any{
		"gatewayClassName": "x", "listeners": []any{map[string]any{"name": "l", "port": port, "protocol": "HTTP"}}})
}

// tenantPolicy is a GatewayConfig.
func tenantPolicy(labels map[string]any) map[string]any {
	target := map[string]any{"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "web"}
	return of("gatewright.dev/v1alpha1", "GatewayConfig", labels, "spec", map[string]any{"targetRefs": []any{target}})
}

// having is an object with one more field of its metadata.
func having(object map[string]any, field string, value any) map[string]any {
	object["metadata"].(map[string]any)[field] = value
	return object
}

// ownershipAttempts are about whose an object is.
func ownershipAttempts(namespace string) map[string]attempt {
	owner := []any{map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "a"}}
	finalizers := []any{"gatewright.dev/test"}
	class := func() map[string]any {
		return of("gateway.networking.k8s.io/v1", "GatewayClass", nil, "spec", map[string]any{"controllerName": "example.com/none"})
	}
	blueprint := func() map[string]any {
		templates := map[string]any{"resourceTemplates": map[string]any{"a": "{}"}}
		return of("gatewright.dev/v1alpha1", "GatewayClassBlueprint", nil, "spec", map[string]any{"gatewayTemplate": templates})
	}
	report := of("gatewright.dev/v1alpha1", "Rendering", nil, "status",
		map[string]any{"gateway": "a/web", "parent": "Gateway/a/web", "parentGeneration": int64(1)})
	lease := func(holder string) map[string]any {
		return of("coordination.k8s.io/v1", "Lease", nil, "spec", map[string]any{"holderIdentity": holder})
	}
	return map[string]attempt{
		"it makes what bears its label":                  {object: configMap(ours, one)},
		"it makes nothing else":                          {object: configMap(nil, one), want: created},
		"it changes what bears its label":                {before: configMap(ours, one), object: configMap(ours, two)},
		"it changes nothing of others":                   {before: configMap(nil, one), object: configMap(nil, two), want: changed},
		"it puts no finalizers on what others have made": {before: configMap(nil, one), object: having(configMap(nil, one), "finalizers", finalizers), want: changed},
		"it does not take over what belongs to others":   {before: configMap(nil, one), object: configMap(ours, one), want: changed},
		"it puts a label back on what refers to its owner": {
			before: having(configMap(nil, one), "ownerReferences", owner), object: having(configMap(ours, two), "ownerReferences", owner)},
		"it does not refer to an owner itself for that": {
			before: configMap(nil, one), object: having(configMap(ours, two), "ownerReferences", owner), want: changed},
		"it does not hand what belongs to one to another": {before: configMap(ours, one), object: configMap(others, one), want: handed},
		"it does not let go of what it has made":          {before: configMap(ours, one), object: configMap(nil, one), want: handed},
		"it deletes what bears its label":                 {before: configMap(ours, one)},
		"it deletes nothing else":                         {before: configMap(nil, one), want: deleted},
		"it deletes no Gateway of others":                 {before: gateway(nil, 80), want: deleted},
		"it deletes no class":                             {before: class(), want: deleted},
		"it makes other Secrets":                          {object: of("v1", "Secret", ours, "type", "Opaque")},
		"it changes Secrets of its own":                   {before: of("v1", "Secret", ours, "data", map[string]any{}), object: of("v1", "Secret", ours, "data", map[string]any{"a": "eA=="})},
		"it changes no Secret of others":                  {before: of("v1", "Secret", nil, "data", map[string]any{}), object: of("v1", "Secret", nil, "data", map[string]any{"a": "eA=="}), want: changed},
		"it puts finalizers on Gateways":                  {before: gateway(nil, 80), object: having(gateway(nil, 80), "finalizers", finalizers)},
		"it puts finalizers on classes":                   {before: class(), object: having(class(), "finalizers", finalizers)},
		"it puts finalizers on blueprints":                {before: blueprint(), object: having(blueprint(), "finalizers", finalizers)},
		"it changes nothing else of Gateways":             {before: gateway(nil, 80), object: gateway(nil, 81), want: changed},
		"not their labels":                                {before: gateway(nil, 80), object: gateway(map[string]any{"a": "b"}, 80), want: changed},
		"not their annotations":                           {before: gateway(nil, 80), object: having(gateway(nil, 80), "annotations", map[string]any{"a": "b"}), want: changed},
		"not their owners":                                {before: gateway(nil, 80), object: having(gateway(nil, 80), "ownerReferences", owner), want: changed},
		"it changes Gateways that it has made":            {before: gateway(ours, 80), object: gateway(ours, 81)},
		"it reports on Gateways":                          {before: gateway(nil, 80), object: gateway(nil, 80), put: "status"},
		"it writes its reports":                           {object: report},
		"it deletes its reports":                          {before: report},
		"it tells of what happens": {object: map[string]any{"apiVersion": "v1", "kind": "Event",
			"metadata": map[string]any{}, "involvedObject": map[string]any{"namespace": namespace}, "reason": "Test"}},
		"it makes its lease": {object: lease("a")},
		"it takes its lease": {before: lease("a"), object: lease("b")},
	}
}

// rightsAttempts are about what gives rights, in each of the groups where that is.
func rightsAttempts(t *testing.T) map[string]attempt {
	t.Helper()
	request, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, newKey(t))
	if err != nil {
		t.Fatal(err)
	}
	csr := of("certificates.k8s.io/v1", "CertificateSigningRequest", ours, "spec", map[string]any{
		"signerName": "kubernetes.io/kube-apiserver-client", "usages": []any{"client auth"},
		"request": base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: request}))})
	account := map[string]any{"group": "", "kind": "Namespace", "name": "x"}
	classConfig := func(labels map[string]any) map[string]any {
		return of("gatewright.dev/v1alpha1", "GatewayClassConfig", labels, "spec", map[string]any{"targetRefs": []any{account}})
	}
	service := having(of("apiregistration.k8s.io/v1", "APIService", ours, "spec", map[string]any{
		"group": "attempts.example.com", "version": "v2", "groupPriorityMinimum": int64(1), "versionPriority": int64(1),
	}), "name", "v2.attempts.example.com")
	webhooks := of("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration", ours, "webhooks", []any{})
	return map[string]attempt{
		"it gives no rights":                     {object: role(ours), want: refused},
		"it changes no rights":                   {before: role(ours), object: having(role(ours), "annotations", map[string]any{"a": "b"}), want: refused},
		"it takes no rights":                     {before: role(ours), want: refused},
		"it asks for no certificate":             {object: csr, want: refused},
		"it registers no kind":                   {object: customResource(ours), want: refused},
		"it registers no API":                    {object: service, want: refused},
		"it registers no webhook":                {object: webhooks, want: refused},
		"it makes no token in a Secret":          {object: token(ours), want: refused},
		"it makes no policy":                     {object: tenantPolicy(ours), want: refused},
		"it changes no policy":                   {before: tenantPolicy(ours), object: having(tenantPolicy(ours), "annotations", map[string]any{"a": "b"}), want: refused},
		"it changes no policy of the provider's": {before: classConfig(ours), object: having(classConfig(ours), "annotations", map[string]any{"a": "b"}), want: refused},
		"it deletes no policy":                   {before: tenantPolicy(ours), want: refused},
		"it makes no policy of the provider's":   {object: classConfig(ours), want: refused},
		"it deletes no policy of the provider's": {before: classConfig(ours), want: refused},
	}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func customResource(labels map[string]any) map[string]any {
	schema := map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}}
	return having(of("apiextensions.k8s.io/v1", "CustomResourceDefinition", labels, "spec", map[string]any{
		"group": "attempts.example.com", "scope": "Namespaced",
		"names":    map[string]any{"kind": "Attempt", "plural": "attempts"},
		"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "schema": schema}},
	}), "name", "attempts.attempts.example.com")
}

// commandAttempts are about subresources: what runs commands, moves Pods, hands out tokens.
func commandAttempts() map[string]attempt {
	containers := map[string]any{"containers": []any{map[string]any{"name": "a", "image": "a"}}}
	pod := func() map[string]any { return of("v1", "Pod", ours, "spec", containers) }
	account := of("v1", "ServiceAccount", ours, "automountServiceAccountToken", false)
	selector := map[string]any{"a": "b"}
	template := map[string]any{"metadata": map[string]any{"labels": selector}, "spec": containers}
	deployment := of("apps/v1", "Deployment", ours, "spec", map[string]any{
		"replicas": int64(1), "selector": map[string]any{"matchLabels": selector}, "template": template})
	service := of("v1", "Service", ours, "spec", map[string]any{"ports": []any{map[string]any{"port": int64(80)}}})
	return map[string]attempt{
		"it makes Services":                {object: service},
		"it makes accounts":                {object: account},
		"it makes Pods":                    {object: pod()},
		"it runs no command in a Pod":      {before: pod(), object: of("v1", "PodExecOptions", nil, "command", []any{"sh"}), posted: "exec", want: refused},
		"it attaches to no Pod":            {before: pod(), object: of("v1", "PodAttachOptions", nil, "stdin", true), posted: "attach", want: refused},
		"it opens no port of a Pod":        {before: pod(), object: of("v1", "PodPortForwardOptions", nil, "ports", []any{}), posted: "portforward", want: refused},
		"it speaks to no Pod":              {before: pod(), object: of("v1", "PodProxyOptions", nil, "path", "/"), posted: "proxy", want: refused},
		"it speaks to no Service":          {before: service, object: of("v1", "ServiceProxyOptions", nil, "path", "/"), posted: "proxy", want: refused},
		"it puts no container into a Pod":  {before: pod(), object: pod(), put: "ephemeralcontainers", want: refused},
		"it drives no Pod away":            {before: pod(), object: of("policy/v1", "Eviction", nil, "deleteOptions", map[string]any{}), posted: "eviction", want: refused},
		"it puts no Pod on a node":         {before: pod(), object: of("v1", "Binding", nil, "target", map[string]any{"kind": "Node", "name": "a"}), posted: "binding", want: refused},
		"it reports on no Pod":             {before: pod(), object: pod(), put: "status", want: refused},
		"it takes no token of an account":  {before: account, object: of("authentication.k8s.io/v1", "TokenRequest", nil, "spec", map[string]any{"audiences": []any{}}), posted: "token", want: refused},
		"it scales nothing by another way": {before: deployment, object: of("autoscaling/v1", "Scale", nil, "spec", map[string]any{"replicas": int64(2)}), put: "scale", want: refused},
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
	like := a.before
	if like == nil {
		like = a.object
	}
	like = c.placed(t, like, name).Object
	resource := func(client dynamic.Interface) dynamic.ResourceInterface {
		acting := c
		acting.dynamic = client
		return acting.resource(t, &unstructured.Unstructured{Object: like})
	}
	// Not the test's own context, which has ended when what is left is removed.
	ctx := context.Background()
	t.Cleanup(func() {
		name, now := (&unstructured.Unstructured{Object: like}).GetName(), int64(0)
		patch := []byte(`{"metadata": {"finalizers": null}}`)
		_, _ = resource(c.dynamic).Patch(ctx, name, "application/merge-patch+json", patch, metav1.PatchOptions{})
		_ = resource(c.dynamic).Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: &now})
	})
	if a.before == nil {
		_, err := resource(controller).Create(ctx, &unstructured.Unstructured{Object: like}, metav1.CreateOptions{})
		return err
	}
	there, err := resource(c.dynamic).Create(ctx, &unstructured.Unstructured{Object: like}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if a.object == nil {
		return resource(controller).Delete(ctx, name, metav1.DeleteOptions{})
	}
	next := (&unstructured.Unstructured{Object: a.object}).DeepCopy()
	next.SetNamespace(there.GetNamespace())
	next.SetName(there.GetName())
	if a.posted != "" {
		_, err = resource(controller).Create(ctx, next, metav1.CreateOptions{}, a.posted)
		return err
	}
	next.SetResourceVersion(there.GetResourceVersion())
	_, err = resource(controller).Update(ctx, next, metav1.UpdateOptions{}, slices.DeleteFunc([]string{a.put}, func(s string) bool { return s == "" })...)
	return err
}

// placed gives an object a name, unless it has one that must be, and the test's namespace if its kind is in namespaces.
func (c cluster) placed(t *testing.T, object map[string]any, name string) *unstructured.Unstructured {
	t.Helper()
	o := (&unstructured.Unstructured{Object: object}).DeepCopy()
	mapping, err := c.mapper.RESTMapping(o.GroupVersionKind().GroupKind(), o.GroupVersionKind().Version)
	if err != nil {
		t.Fatal(err)
	}
	if mapping.Scope.Name() == meta.RESTScopeNameNamespace {
		o.SetNamespace(c.namespace)
	}
	if o.GetName() == "" {
		o.SetName(name)
	}
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
		{object: tenantPolicy(ours)},
	} {
		err := wait.PollUntilContextTimeout(t.Context(), 100*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
			return apierrors.IsForbidden(c.try(t, controller, a)), nil
		})
		if err != nil {
			t.Fatalf("no policy is in effect: %v", err)
		}
	}
}
