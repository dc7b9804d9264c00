package chart

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// deployment returns the one Deployment among the objects.
func deployment(t *testing.T, objects []*unstructured.Unstructured) appsv1.Deployment {
	t.Helper()
	found := find(objects, "Deployment")
	if len(found) != 1 {
		t.Fatalf("found %d Deployments, want 1", len(found))
	}
	var typed appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(found[0].Object, &typed, true); err != nil {
		t.Fatal(err)
	}
	return typed
}

func TestTheControllerRunsRestricted(t *testing.T) {
	pod := deployment(t, render(t, "gatewright-system")).Spec.Template.Spec
	type restrictions struct {
		Pod       *corev1.PodSecurityContext
		Container *corev1.SecurityContext
	}
	user := int64(65532)
	want := restrictions{
		Pod: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), RunAsUser: &user, RunAsGroup: &user,
			SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Container: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false), ReadOnlyRootFilesystem: new(true),
			Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
	got := restrictions{Pod: pod.SecurityContext, Container: pod.Containers[0].SecurityContext}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("restrictions (-want +got):\n%s", diff)
	}
}

func TestTheControllerIsToldWhatTheValuesSay(t *testing.T) {
	for name, c := range map[string]struct {
		values []string
		want   []string
	}{
		"the defaults are said in full, so that the controller's own do not matter": {
			want: []string{
				"--controller-namespace=edge", "--leader-elect=true", "--max-concurrent-reconciles=8",
				"--health-probe-bind-address=:8081", "--metrics-bind-address=:8080",
			},
		},
		"values and further arguments arrive": {
			values: []string{"--set-json", `controller={"leaderElection":false,"maxConcurrentReconciles":3,"healthPort":91,"extraArgs":["--a=b"]}`},
			want: []string{
				"--controller-namespace=edge", "--leader-elect=false", "--max-concurrent-reconciles=3",
				"--health-probe-bind-address=:91", "--metrics-bind-address=:8080", "--a=b",
			},
		},
		"metrics that are off are not served": {
			values: []string{"--set", "metrics.enabled=false"},
			want: []string{
				"--controller-namespace=edge", "--leader-elect=true", "--max-concurrent-reconciles=8",
				"--health-probe-bind-address=:8081", "--metrics-bind-address=0",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			container := deployment(t, render(t, "edge", c.values...)).Spec.Template.Spec.Containers[0]
			if diff := cmp.Diff(c.want, container.Args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheMemoryLimitIsTheCollectorsToo(t *testing.T) {
	limit := corev1.EnvVar{Name: "GOMEMLIMIT", ValueFrom: &corev1.EnvVarSource{
		ResourceFieldRef: &corev1.ResourceFieldSelector{Resource: "limits.memory"},
	}}
	for name, c := range map[string]struct {
		values []string
		want   []corev1.EnvVar
	}{
		"with a limit":           {want: []corev1.EnvVar{limit}},
		"with another one":       {values: []string{"--set", "resources.limits.memory=1Gi"}, want: []corev1.EnvVar{limit}},
		"without a memory limit": {values: []string{"--set", "resources.limits=null"}},
		"without any resources":  {values: []string{"--set", "resources=null"}},
	} {
		t.Run(name, func(t *testing.T) {
			container := deployment(t, render(t, "edge", c.values...)).Spec.Template.Spec.Containers[0]
			if diff := cmp.Diff(c.want, container.Env); diff != "" {
				t.Errorf("environment (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheImageIsNamedByTagOrDigest(t *testing.T) {
	const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	for name, c := range map[string]struct {
		values []string
		want   string
	}{
		"the version of the chart's app is the tag": {want: "gatewright/gatewright-controller:0.1.0"},
		"another tag and repository":                {values: []string{"--set", "image.tag=x,image.repository=a/b"}, want: "a/b:x"},
		"a digest wins over a tag":                  {values: []string{"--set", "image.tag=x,image.digest=" + digest}, want: "gatewright/gatewright-controller@" + digest},
	} {
		t.Run(name, func(t *testing.T) {
			got := deployment(t, render(t, "edge", c.values...)).Spec.Template.Spec.Containers[0].Image
			if got != c.want {
				t.Errorf("image = %s, want %s", got, c.want)
			}
		})
	}
}

func TestNames(t *testing.T) {
	for name, c := range map[string]struct {
		values []string
		want   []string
	}{
		"a release named after the chart does not repeat it": {
			want: []string{
				"ClusterRole edge-gatewright", "Deployment gatewright", "Service gatewright-metrics", "ServiceAccount gatewright",
			},
		},
		"another name of the chart follows the release's": {
			values: []string{"--set", "nameOverride=gw"},
			want: []string{
				"ClusterRole edge-gatewright-gw", "Deployment gatewright-gw", "Service gatewright-gw-metrics",
				"ServiceAccount gatewright-gw",
			},
		},
		"a full name replaces both, and the namespace is not repeated": {
			values: []string{"--set", "fullnameOverride=edge"},
			want:   []string{"ClusterRole edge", "Deployment edge", "Service edge-metrics", "ServiceAccount edge"},
		},
		"a ServiceAccount may have a name of its own": {
			values: []string{"--set", "serviceAccount.name=sa"},
			want: []string{
				"ClusterRole edge-gatewright", "Deployment gatewright", "Service gatewright-metrics", "ServiceAccount sa",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := render(t, "edge", c.values...)
			var got []string
			for _, kind := range []string{"ClusterRole", "Deployment", "Service", "ServiceAccount"} {
				var names []string
				for _, object := range find(objects, kind) {
					names = append(names, kind+" "+object.GetName())
				}
				// Of several ClusterRoles, the controller's own has the shortest name.
				got = append(got, slices.Min(names))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLabelsOfTheUsersNeverReplaceThoseThatSelect(t *testing.T) {
	objects := render(t, "edge",
		"--set-json", `commonLabels={"app.kubernetes.io/name":"other","team":"a"}`,
		"--set-json", `podLabels={"app.kubernetes.io/instance":"other","team":"b"}`)
	d := deployment(t, objects)
	type labels struct{ Selector, Pod map[string]string }
	want := labels{
		Selector: map[string]string{"app.kubernetes.io/name": "gatewright", "app.kubernetes.io/instance": "gatewright"},
		Pod: map[string]string{
			"app.kubernetes.io/name": "gatewright", "app.kubernetes.io/instance": "gatewright",
			"app.kubernetes.io/component": "controller", "app.kubernetes.io/part-of": "gatewright",
			"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/version": "0.1.0", "helm.sh/chart": "gatewright-0.1.0",
			"team": "b",
		},
	}
	got := labels{Selector: d.Spec.Selector.MatchLabels, Pod: d.Spec.Template.Labels}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func TestADisruptionBudgetComesWithTheSecondReplica(t *testing.T) {
	for name, c := range map[string]struct {
		values []string
		want   int
	}{
		"one replica could never be moved under a budget": {want: 0},
		"two replicas are protected":                      {values: []string{"--set", "controller.replicas=2"}, want: 1},
		"unless the budget is switched off":               {values: []string{"--set", "controller.replicas=2,podDisruptionBudget.enabled=false"}, want: 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := len(find(render(t, "edge", c.values...), "PodDisruptionBudget")); got != c.want {
				t.Errorf("found %d PodDisruptionBudgets, want %d", got, c.want)
			}
		})
	}
}
