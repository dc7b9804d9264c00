package chart

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"

	"github.com/gatewright/gatewright/test/helm"
	"github.com/gatewright/gatewright/test/kube"
)

// A cluster is the API server with the CRDs that the chart's objects are of, and a namespace for them.
type cluster struct {
	namespace  string
	kubernetes kubernetes.Interface
	dynamic    dynamic.Interface
	mapper     *restmapper.DeferredDiscoveryRESTMapper
	helmEnv    []string
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	config := kube.Config(t)
	if err := kube.InstallCRDs(t.Context(), config, kube.OwnCRDs(), filepath.Join("testdata", "crds")); err != nil {
		t.Fatal(err)
	}
	c := connect(t, config)
	c.namespace, c.helmEnv = kube.Namespace(t), []string{"KUBECONFIG=" + kube.Shared(t).Kubeconfig}
	return c
}

// connect makes the clients of an API server.
func connect(t *testing.T, config *rest.Config) cluster {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return cluster{
		kubernetes: client,
		dynamic:    objects,
		mapper:     restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery())),
	}
}

// resource returns the client for an object's kind, and in its namespace if it has one.
func (c cluster) resource(t *testing.T, object *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	kind := object.GroupVersionKind()
	mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
	if err != nil {
		t.Fatal(err)
	}
	if object.GetNamespace() == "" {
		return c.dynamic.Resource(mapping.Resource)
	}
	return c.dynamic.Resource(mapping.Resource).Namespace(object.GetNamespace())
}

func TestAnAPIServerTakesEveryObjectAsItIs(t *testing.T) {
	for name, file := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t)
			objects := render(t, cluster.namespace, "--values", file)
			for _, dryRun := range [][]string{{metav1.DryRunAll}, nil} {
				for _, object := range objects {
					cluster.create(t, object, dryRun)
				}
			}
		})
	}
}

// create makes an object and removes it with the test. A field that the API server does not know is an error.
func (c cluster) create(t *testing.T, object *unstructured.Unstructured, dryRun []string) {
	t.Helper()
	client := c.resource(t, object)
	options := metav1.CreateOptions{DryRun: dryRun, FieldValidation: metav1.FieldValidationStrict}
	if _, err := client.Create(t.Context(), object, options); err != nil {
		t.Errorf("creating %s %s: %v", object.GetKind(), object.GetName(), err)
		return
	}
	if dryRun != nil {
		return
	}
	t.Cleanup(func() {
		// The test's own context has ended by now, and the namespace may be taking the object along.
		err := client.Delete(context.Background(), object.GetName(), metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("removing %s %s: %v", object.GetKind(), object.GetName(), err)
		}
	})
}

func TestThePodMeetsTheRestrictedStandardWhateverTheValues(t *testing.T) {
	for name, file := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster(t)
			namespaces := cluster.kubernetes.CoreV1().Namespaces()
			namespace, err := namespaces.Get(t.Context(), cluster.namespace, metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(namespace.Labels, map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
			if _, err := namespaces.Update(t.Context(), namespace, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			template := deployment(t, render(t, cluster.namespace, "--values", file)).Spec.Template
			pod := &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
			pod.Name = "controller"
			options := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
			if _, err := cluster.kubernetes.CoreV1().Pods(cluster.namespace).Create(t.Context(), pod, options); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestHelmInstallsUpgradesAndRemovesItAll(t *testing.T) {
	cluster := newCluster(t)
	files := valuesFiles(t)
	run := func(args ...string) {
		t.Helper()
		if _, err := helm.Run(t, cluster.helmEnv, append(args, "--namespace", cluster.namespace)...); err != nil {
			t.Fatal(err)
		}
	}

	run("install", release, chartDir(), "--dry-run=server")
	if got := cluster.left(t); len(got) > 0 {
		t.Errorf("a dry run leaves %v", got)
	}

	run("install", release, chartDir())
	before := cluster.summedRights(t)
	run("upgrade", release, chartDir(), "--set", "controller.replicas=2")
	if diff := cmp.Diff(before, cluster.summedRights(t)); diff != "" {
		t.Errorf("an upgrade changes what the cluster has summed up (-before +after):\n%s", diff)
	}
	run("upgrade", release, chartDir(), "--values", files["all"], "--set", "fullnameOverride=")

	run("uninstall", release)
	if got := cluster.left(t); len(got) > 0 {
		t.Errorf("uninstalling leaves %v", got)
	}
}

// summedRights returns the rights to what blueprints render, once the cluster has summed them up.
func (c cluster) summedRights(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	var rules []rbacv1.PolicyRule
	name := c.namespace + "-" + release + "-blueprints"
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		role, err := c.kubernetes.RbacV1().ClusterRoles().Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			rules = role.Rules
		}
		return len(rules) > 0, err
	})
	if err != nil {
		t.Fatalf("waiting for the rules of ClusterRole %s: %v", name, err)
	}
	return rules
}

func TestTheControllerMayDoWhatItMustAndNoMore(t *testing.T) {
	cluster := newCluster(t)
	for _, object := range render(t, cluster.namespace) {
		cluster.create(t, object, nil)
	}
	cluster.summedRights(t)

	for name, c := range map[string]struct {
		ask  authorizationv1.ResourceAttributes
		want bool
	}{
		"it reports on Gateways anywhere": {
			ask:  authorizationv1.ResourceAttributes{Group: "gateway.networking.k8s.io", Resource: "gateways", Subresource: "status", Verb: "update", Namespace: "any"},
			want: true,
		},
		"it makes what the default blueprint renders": {
			ask:  authorizationv1.ResourceAttributes{Resource: "services", Verb: "patch", Namespace: "any"},
			want: true,
		},
		"it holds its lease at home": {
			ask:  authorizationv1.ResourceAttributes{Group: "coordination.k8s.io", Resource: "leases", Verb: "update", Namespace: cluster.namespace},
			want: true,
		},
		"it holds no lease elsewhere": {
			ask: authorizationv1.ResourceAttributes{Group: "coordination.k8s.io", Resource: "leases", Verb: "update", Namespace: "any"},
		},
		"it makes nothing that no blueprint renders": {
			ask: authorizationv1.ResourceAttributes{Group: "apps", Resource: "deployments", Verb: "create", Namespace: "any"},
		},
		"it changes no policy": {
			ask: authorizationv1.ResourceAttributes{Group: "gatewright.dev", Resource: "gatewayconfigs", Verb: "update", Namespace: "any"},
		},
		"it deletes no Gateway": {
			ask: authorizationv1.ResourceAttributes{Group: "gateway.networking.k8s.io", Resource: "gateways", Verb: "delete", Namespace: "any"},
		},
		"it reads no Secret": {
			ask: authorizationv1.ResourceAttributes{Resource: "secrets", Verb: "get", Namespace: cluster.namespace},
		},
		"it gives no rights": {
			ask: authorizationv1.ResourceAttributes{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings", Verb: "create"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
				User: "system:serviceaccount:" + cluster.namespace + ":" + release, ResourceAttributes: &c.ask,
			}}
			answer, err := cluster.kubernetes.AuthorizationV1().SubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if answer.Status.Allowed != c.want {
				t.Errorf("allowed = %t, want %t", answer.Status.Allowed, c.want)
			}
		})
	}
}

// left returns what exists of the release, by kind and name.
func (c cluster) left(t *testing.T) []string {
	t.Helper()
	selector := metav1.ListOptions{LabelSelector: "app.kubernetes.io/part-of=gatewright,app.kubernetes.io/instance=" + release}
	var found []string
	seen := map[string]bool{}
	for _, object := range render(t, c.namespace, "--values", valuesFiles(t)["all"]) {
		place := object.GetKind() + " " + object.GetNamespace()
		if seen[place] {
			continue
		}
		seen[place] = true
		list, err := c.resource(t, object).List(t.Context(), selector)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			// Another test process may have a release of the same name in a namespace of its own.
			if item.GetNamespace() == c.namespace || strings.HasPrefix(item.GetName(), c.namespace+"-") {
				found = append(found, item.GetKind()+" "+item.GetName())
			}
		}
	}
	slices.Sort(found)
	return found
}
