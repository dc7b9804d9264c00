package integration_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/manifest"
	"github.com/gatewright/gatewright/test/kube"
)

// golden is what test/golden expects of a scenario, which it renders without a cluster. Here the same must come out of a cluster,
// so far as both can know it.
type golden struct {
	Gateways []struct {
		Gateway, Accepted string
		ListenerSets      []struct {
			ListenerSet, Accepted string
			Attached              bool
		}
		Objects []goldenObject
		Routes  []struct {
			Route, Parent, Accepted string
			Objects                 []goldenObject
		}
	}
}

type goldenObject struct {
	Kind     string
	Metadata struct{ Name, Namespace string }
}

// scene is what a cluster says of a scenario, and what is expected of it.
type scene struct {
	// Objects are all that are rendered, "Kind namespace/name", sorted.
	Objects []string
	// Verdicts are the conditions Accepted by object, "True/Reason: message"; of a route by object and parent.
	Verdicts map[string]string
	// Programmed holds the Gateways and ListenerSets that are Programmed, sorted.
	Programmed []string
}

// expected takes from a golden report what a cluster must say once all is ready.
func expected(t *testing.T, path ...string) scene {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{kube.RepoRoot()}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := yaml.Unmarshal(text, &g); err != nil {
		t.Fatal(err)
	}
	s := scene{Verdicts: map[string]string{}}
	for _, gw := range g.Gateways {
		s.Verdicts["Gateway/"+gw.Gateway] = gw.Accepted
		s.Programmed = append(s.Programmed, "Gateway/"+gw.Gateway)
		s.add(gw.Objects)
		for _, set := range gw.ListenerSets {
			s.Verdicts["ListenerSet/"+set.ListenerSet] = set.Accepted
			if set.Attached {
				s.Programmed = append(s.Programmed, "ListenerSet/"+set.ListenerSet)
			}
		}
		for _, route := range gw.Routes {
			s.Verdicts[route.Route+" under "+route.Parent] = route.Accepted
			s.add(route.Objects)
		}
	}
	slices.Sort(s.Objects)
	slices.Sort(s.Programmed)
	return s
}

func (s *scene) add(objects []goldenObject) {
	for _, o := range objects {
		s.Objects = append(s.Objects, fmt.Sprintf("%s %s/%s", o.Kind, o.Metadata.Namespace, o.Metadata.Name))
	}
}

// observed reads the same from the cluster, in these namespaces. ours tells the classes of the scenario from those of shadow Gateways.
func observed(ctx context.Context, blueprint string, ours gatewayv1.ObjectName, namespaces []string) (scene, error) {
	s := scene{Verdicts: map[string]string{}}
	for _, namespace := range namespaces {
		if err := s.observe(ctx, client.InNamespace(namespace), ours); err != nil {
			return s, err
		}
	}
	b := &v1alpha1.GatewayClassBlueprint{}
	if err := shared.client.Get(ctx, client.ObjectKey{Name: blueprint}, b); err != nil {
		return s, err
	}
	for _, kind := range b.Status.Kinds {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(kind.APIVersion)
		list.SetKind(kind.Kind + "List")
		if err := shared.client.List(ctx, list, client.HasLabels{v1alpha1.LabelOwnerUID}); err != nil {
			return s, err
		}
		for _, o := range list.Items {
			if slices.Contains(namespaces, o.GetNamespace()) {
				s.Objects = append(s.Objects, fmt.Sprintf("%s %s/%s", o.GetKind(), o.GetNamespace(), o.GetName()))
			}
		}
	}
	slices.Sort(s.Objects)
	slices.Sort(s.Programmed)
	return s, nil
}

func (s *scene) observe(ctx context.Context, in client.InNamespace, ours gatewayv1.ObjectName) error {
	var gateways gatewayv1.GatewayList
	var sets gatewayv1.ListenerSetList
	for _, list := range []client.ObjectList{&gateways, &sets} {
		if err := shared.client.List(ctx, list, in); err != nil {
			return err
		}
	}
	for _, gw := range gateways.Items {
		if gw.Spec.GatewayClassName == ours {
			s.judge("Gateway", &gw, gw.Status.Conditions)
		}
	}
	for _, set := range sets.Items {
		if !isRendered(&set) {
			s.judge("ListenerSet", &set, set.Status.Conditions)
		}
	}
	for _, kind := range gateway.RouteKinds {
		var routes unstructured.UnstructuredList
		routes.SetAPIVersion(gatewayv1.GroupVersion.String())
		routes.SetKind(string(kind) + "List")
		if err := shared.client.List(ctx, &routes, in); err != nil {
			return err
		}
		for i := range routes.Items {
			if err := s.judgeRoute(&routes.Items[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// isRendered tells a shadow, which is for somebody else to judge, from what people wrote.
func isRendered(o client.Object) bool { return o.GetLabels()[v1alpha1.LabelOwnerUID] != "" }

// judgeRoute notes what became of a route of any kind. All have the same status.
func (s *scene) judgeRoute(o *unstructured.Unstructured) error {
	var route struct {
		Status gatewayv1.RouteStatus `json:"status"`
	}
	if isRendered(o) {
		return nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &route); err != nil {
		return err
	}
	for _, parent := range route.Status.Parents {
		ref := parent.ParentRef
		namespace := o.GetNamespace()
		if ref.Namespace != nil {
			namespace = string(*ref.Namespace)
		}
		key := fmt.Sprintf("%s/%s under %s/%s/%s", o.GetKind(), client.ObjectKeyFromObject(o), *ref.Kind, namespace, ref.Name)
		s.Verdicts[key] = accepted(parent.Conditions)
	}
	return nil
}

func (s *scene) judge(kind string, o client.Object, conditions []metav1.Condition) {
	name := kind + "/" + client.ObjectKeyFromObject(o).String()
	s.Verdicts[name] = accepted(conditions)
	if meta.IsStatusConditionTrue(conditions, "Programmed") {
		s.Programmed = append(s.Programmed, name)
	}
}

func accepted(conditions []metav1.Condition) string {
	c := meta.FindStatusCondition(conditions, "Accepted")
	if c == nil {
		return "not reported"
	}
	return fmt.Sprintf("%s/%s: %s", c.Status, c.Reason, c.Message)
}

// scenario is a set of files that is applied as it is.
type scenario struct {
	files []string
	// namespaces are those of the scenario. Those that the files do not bring are made.
	namespaces []string
}

// apply applies a scenario as kubectl would, and removes all of it when the test ends.
func (s scenario) apply(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { s.remove(t) })
	for _, namespace := range s.namespaces {
		o := &unstructured.Unstructured{}
		o.SetAPIVersion("v1")
		o.SetKind("Namespace")
		o.SetName(namespace)
		applyObject(t, o)
	}
	for _, o := range s.objects(t) {
		applyObject(t, o)
	}
}

func applyObject(t *testing.T, o *unstructured.Unstructured) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s %s is applied", o.GetKind(), o.GetName()), func() error {
		// What samples share is applied by several tests at once.
		return shared.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(o.DeepCopy()),
			client.FieldOwner("by-hand"), client.ForceOwnership)
	})
}

func (s scenario) objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	var objects []*unstructured.Unstructured
	for _, file := range s.files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		documents, err := manifest.Decode(text)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for _, document := range documents {
			objects = append(objects, document.Unstructured)
		}
	}
	return objects
}

// remove deletes what no namespace takes along, then the namespaces, and waits until they are gone, so that the test can be run
// again. The blueprint is left to whoever shares it among scenarios.
func (s scenario) remove(t *testing.T) {
	t.Helper()
	var going []client.Object
	for _, o := range s.objects(t) {
		if o.GetKind() == "GatewayClass" || o.GetNamespace() == systemNamespace {
			going = append(going, o)
		}
	}
	for _, namespace := range s.namespaces {
		going = append(going, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	}
	remove(t, going...)
}

// remove deletes objects and waits until they are gone. The test's own context may have ended.
func remove(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, o := range objects {
		if err := shared.client.Delete(context.Background(), o); client.IgnoreNotFound(err) != nil {
			t.Errorf("removing %s: %v", o.GetName(), err)
		}
	}
	for _, o := range objects {
		err := wait.PollUntilContextTimeout(context.Background(), glance, patience, true, func(ctx context.Context) (bool, error) {
			return apierrors.IsNotFound(shared.client.Get(ctx, client.ObjectKeyFromObject(o), o)), nil
		})
		if err != nil {
			t.Errorf("%s %s does not go, finalizers %v", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), o.GetFinalizers())
		}
	}
}

func TestSamplesAppliedAsTheyAreConvergeToWhatIsRenderedOffline(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"quickstart":        {"quickstart", "quickstart-shop"},
		"tenants":           {"tenant-red", "tenant-blue"},
		"many-listenersets": {"many", "many-docs", "many-news", "many-shop", "many-stranger"},
	}
	t.Cleanup(func() { remove(t, &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: "shadow"}}) })
	for name, namespaces := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(filepath.Join(kube.RepoRoot(), "samples", name, "*.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			scenario{files, namespaces}.apply(t)
			becomes(t, "the sample is as expected", expected(t, "test", "golden", "testdata", "samples", name, "expected.yaml"),
				func() (scene, error) { return observed(t.Context(), "shadow", gatewayv1.ObjectName(name), namespaces) })
		})
	}
}

// The cases of these blueprints say what they render once other controllers have done their part, which the player plays here.
// They share the names of a class and a namespace, and so come one after the other.
//
//nolint:tparallel // see above: the subtests must not run beside each other
func TestBlueprintsThatStandOnOtherControllersConvergeToWhatIsRenderedOffline(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ blueprint, name string }{
		{"istio-ingress", "observed"}, {"istio-ingress", "route"}, {"aws-alb-crossplane", "observed"},
		{"shadow-gateway", "minimal"}, {"shadow-gateway", "many"}, {"shadow-gateway", "kinds"},
	} {
		t.Run(c.blueprint+" "+c.name, func(t *testing.T) {
			dir := filepath.Join(kube.RepoRoot(), "blueprints", c.blueprint)
			files := []string{filepath.Join(dir, "blueprint.yaml"), filepath.Join(dir, "cases", c.name, "input.yaml")}
			namespaces := namespacesOf(t, files[1])
			t.Cleanup(func() { remove(t, &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: c.blueprint}}) })
			scenario{files, namespaces}.apply(t)
			becomes(t, "the case is as expected", expected(t, "blueprints", c.blueprint, "cases", c.name, "expected.yaml"),
				func() (scene, error) { return observed(t.Context(), c.blueprint, "edge", namespaces) })
		})
	}
}

// namespacesOf are those that a file of objects names, but for the controller's own.
func namespacesOf(t *testing.T, file string) []string {
	t.Helper()
	var namespaces []string
	for _, o := range (scenario{files: []string{file}}).objects(t) {
		if namespace := o.GetNamespace(); namespace != "" && namespace != systemNamespace {
			namespaces = append(namespaces, namespace)
		}
	}
	slices.Sort(namespaces)
	return slices.Compact(namespaces)
}
