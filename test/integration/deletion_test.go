package integration_test

import (
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// priorityClassTemplate yields a harmless object without a namespace.
const priorityClassTemplate = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: {{ .Gateway.metadata.namespace }}-{{ .Gateway.metadata.name }}
value: 1000
`

// clusterScoped permits a blueprint objects without a namespace.
func clusterScoped(spec *v1alpha1.GatewayClassBlueprintSpec) {
	spec.Permits = &v1alpha1.Permits{ClusterScoped: true}
}

// nothing is left of an owner.
var nothing = []string{}

// left are the rendered objects of an owner that are not gone, its Renderings included.
func (w *world) left(owner client.Object, kinds ...schema.GroupVersionKind) func() ([]string, error) {
	return func() ([]string, error) {
		list, err := names(w.children(owner, kinds...))()
		if err != nil {
			return nil, err
		}
		var reports v1alpha1.RenderingList
		if err := shared.client.List(w.Context(), &reports, client.InNamespace(owner.GetNamespace())); err != nil {
			return nil, err
		}
		for i := range reports.Items {
			if c := metav1.GetControllerOf(&reports.Items[i]); c != nil && c.UID == owner.GetUID() {
				list = append(list, "Rendering/"+reports.Items[i].Name)
			}
		}
		return append(nothing, list...), nil
	}
}

func TestADeletedGatewayLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate, "service": serviceTemplate, "priority": priorityClassTemplate}, clusterScoped)
	gw := w.gateway("edge")
	left := w.left(gw, configMaps, services, priorityClasses)
	priority := "PriorityClass/" + w.namespace + "-edge"
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	is(t, "the Gateway waits for what the garbage collector cannot reach", []string{v1alpha1.FinalizerClusterScoped}, w.finalizers(gw))
	is(t, "all is there", []string{"ConfigMap/edge", priority, "Service/edge", "Rendering/edge"}, left)

	w.delete(gw)
	w.gone(gw)
	becomes(t, "nothing is left", nothing, left)
}

func TestADeletedRouteLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"service": serviceTemplate}, forRoutes(routeTemplate))
	gw := w.gateway("edge")
	route := w.route("shop", toGateway("edge"))
	left := w.left(route, configMaps)
	becomes(t, "the route is accepted", map[string][]string{"Gateway/edge": routeStands}, w.routeReports("shop"))
	eventually(t, "the route has its object and its report", func() error {
		if found, err := left(); err != nil || len(found) != 2 {
			return fmt.Errorf("found %v (error %w)", found, err)
		}
		return nil
	})
	becomes(t, "the Gateway counts it", int32(1), w.attachedRoutes("edge"))
	unharmed := w.unharmed(gw)

	w.delete(route)
	w.gone(route)
	becomes(t, "nothing is left", nothing, left)
	becomes(t, "the Gateway counts it no more", int32(0), w.attachedRoutes("edge"))
	unharmed("the route's end")
}

// attachedRoutes is how many routes the Gateway's first listener counts.
func (w *world) attachedRoutes(gateway string) func() (int32, error) {
	return func() (int32, error) {
		gw := &gatewayv1.Gateway{}
		err := shared.client.Get(w.Context(), w.key(gateway), gw)
		if err != nil || len(gw.Status.Listeners) == 0 {
			return -1, err
		}
		return gw.Status.Listeners[0].AttachedRoutes, nil
	}
}

func TestAClassAndItsBlueprintStayWhileAGatewayNeedsThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"one": "1"})))
	class := newClass(w.name, w.name)
	gw := w.gateway("edge")
	before := w.settled("edge")

	w.delete(read(w, class))
	w.delete(blueprint)
	change(w, configMap("edge"), func(o *corev1.ConfigMap) { o.Data["one"] = "changed" })
	becomes(t, "the Gateway is kept in order", before, w.state("edge"))
	for _, o := range []client.Object{class, blueprint} {
		if read(w, o).GetDeletionTimestamp() == nil {
			t.Errorf("%T is not being deleted", o)
		}
	}

	w.delete(gw)
	w.gone(gw)
	w.gone(class)
	w.gone(blueprint)
	becomes(t, "nothing is left", nothing, w.left(gw, configMaps))
}

func TestAGatewayThatMovesToAnotherControllersClassIsGivenUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate, "priority": priorityClassTemplate}, clusterScoped, forRoutes(routeTemplate))
	w.create(&gatewayv1.GatewayClass{
		ObjectMeta: metav1.ObjectMeta{Name: w.name + "-theirs"}, Spec: gatewayv1.GatewayClassSpec{ControllerName: "example.com/theirs"},
	})
	gw := w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	w.listenerSet("shop", "edge", "shop.example.com")
	route := w.route("shop", toGateway("edge"))
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	becomes(t, "the set is in", setStands, w.setReport("shop"))
	becomes(t, "the route is accepted", map[string][]string{"Gateway/edge": routeStands}, w.routeReports("shop"))

	change(w, gw, func(gw *gatewayv1.Gateway) { gw.Spec.GatewayClassName = gatewayv1.ObjectName(w.name + "-theirs") })
	becomes(t, "nothing is left of the Gateway", nothing, w.left(gw, configMaps, priorityClasses))
	becomes(t, "nothing is left of its route", nothing, w.left(route, configMaps))
	becomes(t, "no finalizer holds the Gateway", nothing, w.finalizers(gw))
	becomes(t, "no finalizer holds the route", nothing, w.finalizers(route))
	becomes(t, "nothing is said of the set any more", setWaits, w.setReport("shop"))
	becomes(t, "nothing is said of the route any more", map[string][]string{}, w.routeReports("shop"))
}

// finalizers are those of an object as it is now.
func (w *world) finalizers(o client.Object) func() ([]string, error) {
	return func() ([]string, error) {
		err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(o), o)
		return append(nothing, o.GetFinalizers()...), err
	}
}

func TestAGatewayThatMovesToAnotherClassOfOursIsMadeOver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate, "service": serviceTemplate}, with(defaults(map[string]string{"class": "first"})))
	other := w.name + "-other"
	w.create(newBlueprint(other, templates{"values": valuesTemplate, "priority": priorityClassTemplate},
		clusterScoped, with(defaults(map[string]string{"class": "second"}))))
	w.create(newClass(other, other))
	gw := w.gateway("edge")
	children := names(w.children(gw, configMaps, services, priorityClasses))
	becomes(t, "the first class is rendered", []string{"ConfigMap/edge", "Service/edge"}, children)
	before := w.settled("edge")

	change(w, gw, func(gw *gatewayv1.Gateway) { gw.Spec.GatewayClassName = gatewayv1.ObjectName(other) })
	becomes(t, "the second class is rendered", []string{"ConfigMap/edge", "PriorityClass/" + w.namespace + "-edge"}, children)
	becomes(t, "with its values", map[string]string{"class": "second"}, w.data("edge"))
	if after := w.settled("edge"); after.UID != before.UID {
		t.Error("the object that both classes render was made anew")
	}

	w.delete(gw)
	w.gone(gw)
	becomes(t, "nothing is left", nothing, w.left(gw, configMaps, services, priorityClasses))
}

func TestANamespaceThatIsDeletedTakesEverythingAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate, "priority": priorityClassTemplate}, clusterScoped, forRoutes(routeTemplate),
		with(defaults(map[string]string{"one": "1"})))
	doomed := &world{T: t, namespace: w.newNamespace(nil), name: w.name}
	gw := doomed.gateway("edge")
	doomed.route("shop", toGateway("edge"))
	doomed.create(config("edge", target("Gateway", "edge"), defaults(map[string]string{"one": "2"})))
	becomes(t, "the Gateway is Programmed", programmed, doomed.gatewayConditions("edge"))

	namespace := read(w, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: doomed.namespace}})
	w.delete(namespace)
	w.gone(namespace)
	priority := &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: doomed.namespace + "-edge"}}
	if err := shared.client.Get(t.Context(), client.ObjectKeyFromObject(priority), priority); !apierrors.IsNotFound(err) {
		t.Errorf("the object without a namespace that was rendered for %s is there still (error %v)", gw.Name, err)
	}
}
