package integration_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

const (
	// routeTemplate yields a ConfigMap for a route under one parent, with what is known of that parent.
	routeTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .HTTPRoute.metadata.name }}-{{ .ParentRef.name }}
data:
  under: {{ .ParentRef.kind }} {{ .ParentRef.name }}
  listeners: {{ .ParentRef.listeners | toJson | quote }}
  hostnames: {{ .ParentRef.hostnames | toJson | quote }}
`
	// shadowRouteTemplate yields an HTTPRoute for the shadow Gateway that shadowTemplate yields.
	shadowRouteTemplate = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata:
  name: {{ .HTTPRoute.metadata.name }}-{{ .ParentRef.name }}
spec:
  parentRefs:
  {{- range .ParentRef.listeners }}
    - name: {{ $.Gateway.metadata.name }}-shadow
      sectionName: {{ . }}
  {{- end }}
  {{- toYaml (omit .HTTPRoute.spec "parentRefs") | nindent 2 }}
`
)

// forRoutes gives a blueprint a template for HTTPRoutes.
func forRoutes(template string) func(*v1alpha1.GatewayClassBlueprintSpec) {
	return func(spec *v1alpha1.GatewayClassBlueprintSpec) {
		spec.HTTPRouteTemplate = &v1alpha1.RouteTemplate{ResourceTemplates: templates{"route": template}}
	}
}

// routeStands are the conditions of a route under a parent where all is well.
var routeStands = []string{"Accepted=True/Accepted", v1alpha1.ConditionRouteProgrammed + "=True/Programmed"}

// routeReports are what we say of a route, by parent "Kind/name". Its references are not looked at here.
func (w *world) routeReports(name string) func() (map[string][]string, error) {
	return func() (map[string][]string, error) {
		route := &gatewayv1.HTTPRoute{}
		err := shared.client.Get(w.Context(), w.key(name), route)
		got := map[string][]string{}
		for _, parent := range route.Status.Parents {
			if parent.ControllerName != v1alpha1.ControllerName {
				continue
			}
			kind := gatewayv1.Kind("Gateway")
			if parent.ParentRef.Kind != nil {
				kind = *parent.ParentRef.Kind
			}
			key := fmt.Sprintf("%s/%s", kind, parent.ParentRef.Name)
			got[key] = slices.DeleteFunc(told(parent.Conditions, route.Generation), func(condition string) bool {
				return !strings.HasPrefix(condition, "Accepted=") && !strings.HasPrefix(condition, v1alpha1.ConditionRouteProgrammed)
			})
		}
		return got, err
	}
}

func TestARouteIsRenderedOnceForEachParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"shadow": shadowTemplate}, with(defaults(map[string]string{"class": playedClass})), forRoutes(shadowRouteTemplate))
	w.gateway("east")
	west := w.gateway("west")
	route := w.route("shop", toGateway("east"), toGateway("west"))
	children := w.children(route, shadowRoutes)
	becomes(t, "it stands under both", map[string][]string{"Gateway/east": routeStands, "Gateway/west": routeStands}, w.routeReports("shop"))
	is(t, "it has an object for each", []string{"HTTPRoute/shop-east", "HTTPRoute/shop-west"}, names(children))
	is(t, "each object names its own shadow, and the listener", "west-shadow/own", w.parentsOf("shop-west"))
	eventually(t, "it has a report for each", func() error {
		if left, err := w.left(route, shadowRoutes)(); err != nil || len(left) != 4 {
			return fmt.Errorf("found %v (error %w)", left, err)
		}
		return nil
	})
	before, err := children()
	if err != nil {
		t.Fatal(err)
	}

	change(w, route, func(r *gatewayv1.HTTPRoute) { r.Spec.ParentRefs = r.Spec.ParentRefs[:1] })
	becomes(t, "what is not named any more is not spoken of", map[string][]string{"Gateway/east": routeStands}, w.routeReports("shop"))
	becomes(t, "its object goes, and the other is not touched",
		map[string]child{"HTTPRoute/shop-east": before["HTTPRoute/shop-east"]}, children)
	eventually(t, "its report goes", func() error {
		if left, err := w.left(route, shadowRoutes)(); err != nil || len(left) != 2 {
			return fmt.Errorf("found %v (error %w)", left, err)
		}
		return nil
	})

	w.delete(west)
	w.gone(west)
	is(t, "the other parent's end does not matter", map[string][]string{"Gateway/east": routeStands}, w.routeReports("shop"))
}

// parentsOf are the parents of an HTTPRoute, "name/section" each.
func (w *world) parentsOf(name string) func() (string, error) {
	return func() (string, error) {
		route := &gatewayv1.HTTPRoute{}
		err := shared.client.Get(w.Context(), w.key(name), route)
		var parents []string
		for _, ref := range route.Spec.ParentRefs {
			parents = append(parents, fmt.Sprintf("%s/%s", ref.Name, *ref.SectionName))
		}
		return strings.Join(parents, " "), err
	}
}

func TestARouteOfAListenerSetReachesItsListenersOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate}, forRoutes(routeTemplate))
	w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	set := w.listenerSet("shop", "edge", "shop.example.com", "cart.example.com")
	w.route("home", toGateway("edge"))
	route := w.route("cart", toListenerSet("shop"))
	becomes(t, "the route stands under the set", map[string][]string{"ListenerSet/shop": routeStands}, w.routeReports("cart"))
	becomes(t, "it is served by the set's listeners", map[string]string{
		"under": "ListenerSet shop", "listeners": `["l0","l1"]`, "hostnames": `["cart.example.com","shop.example.com"]`,
	}, w.data("cart-shop"))
	becomes(t, "the Gateway's route is served by the Gateway's listener", map[string]string{
		"under": "Gateway edge", "listeners": `["own"]`, "hostnames": `["edge.example.com"]`,
	}, w.data("home-edge"))
	becomes(t, "the set counts its route", map[gatewayv1.SectionName]int32{"l0": 1, "l1": 1}, func() (map[gatewayv1.SectionName]int32, error) {
		counts := map[gatewayv1.SectionName]int32{}
		err := shared.client.Get(t.Context(), client.ObjectKeyFromObject(set), set)
		for _, l := range set.Status.Listeners {
			counts[l.Name] = l.AttachedRoutes
		}
		return counts, err
	})
	becomes(t, "the Gateway does not", int32(1), w.attachedRoutes("edge"))

	change(w, route, func(r *gatewayv1.HTTPRoute) { r.Spec.Hostnames = []gatewayv1.Hostname{"cart.example.com"} })
	becomes(t, "a hostname narrows it down", map[string]string{
		"under": "ListenerSet shop", "listeners": `["l1"]`, "hostnames": `["cart.example.com"]`,
	}, w.data("cart-shop"))

	w.delete(set)
	becomes(t, "without the set there is nothing to stand under", map[string][]string{}, w.routeReports("cart"))
	becomes(t, "and nothing is left", nothing, w.left(route, configMaps))
}

func TestARouteThatNobodyAcceptsIsToldWhyAndNotRendered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate}, forRoutes(routeTemplate))
	cases := map[string]struct {
		gateway func(*gatewayv1.Gateway)
		route   func(*gatewayv1.HTTPRoute)
		reason  string
	}{
		"a section that does not exist": {
			func(*gatewayv1.Gateway) {},
			func(r *gatewayv1.HTTPRoute) { r.Spec.ParentRefs[0].SectionName = new(gatewayv1.SectionName("nobody")) }, "NoMatchingParent",
		},
		"a hostname that no listener has": {
			func(*gatewayv1.Gateway) {},
			func(r *gatewayv1.HTTPRoute) { r.Spec.Hostnames = []gatewayv1.Hostname{"other.example.org"} }, "NoMatchingListenerHostname",
		},
		"a kind that no listener allows": {
			func(gw *gatewayv1.Gateway) {
				gw.Spec.Listeners[0].AllowedRoutes = &gatewayv1.AllowedRoutes{Kinds: []gatewayv1.RouteGroupKind{{Kind: "GRPCRoute"}}}
			},
			func(*gatewayv1.HTTPRoute) {}, "NotAllowedByListeners",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOf(t, w.name)
			gw := w.gateway("edge", c.gateway)
			route := w.route("shop", toGateway("edge"))
			change(w, route, c.route)
			becomes(t, "it is told why", map[string][]string{"Gateway/edge": {"Accepted=False/" + c.reason}}, w.routeReports("shop"))
			becomes(t, "nothing is rendered", nothing, w.left(route, configMaps))
			becomes(t, "the Gateway does not count it", int32(0), w.attachedRoutes("edge"))

			change(w, gw, func(gw *gatewayv1.Gateway) { gw.Spec.Listeners[0].AllowedRoutes = nil })
			change(w, route, func(r *gatewayv1.HTTPRoute) {
				r.Spec.Hostnames, r.Spec.ParentRefs[0].SectionName = nil, nil
			})
			becomes(t, "mended, it stands", map[string][]string{"Gateway/edge": routeStands}, w.routeReports("shop"))
		})
	}
}

func TestARouteOfAnotherNamespaceIsLetInByTheListener(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate}, forRoutes(routeTemplate))
	gw := w.gateway("edge")
	elsewhere := &world{T: t, namespace: w.newNamespace(nil), name: w.name}
	parent := toGateway("edge")
	parent.Namespace = new(gatewayv1.Namespace(w.namespace))
	route := elsewhere.route("shop", parent)
	becomes(t, "it is shut out", map[string][]string{"Gateway/edge": {"Accepted=False/NotAllowedByListeners"}}, elsewhere.routeReports("shop"))

	from := func(from gatewayv1.FromNamespaces) func(*gatewayv1.Gateway) {
		return func(gw *gatewayv1.Gateway) {
			gw.Spec.Listeners[0].AllowedRoutes = &gatewayv1.AllowedRoutes{Namespaces: &gatewayv1.RouteNamespaces{From: &from}}
		}
	}
	change(w, gw, from(gatewayv1.NamespacesFromAll))
	becomes(t, "it is let in", map[string][]string{"Gateway/edge": routeStands}, elsewhere.routeReports("shop"))
	is(t, "it is rendered beside the route", []string{"ConfigMap/shop-edge"}, names(elsewhere.children(route, configMaps)))

	change(w, gw, from(gatewayv1.NamespacesFromSame))
	becomes(t, "it is shut out again", map[string][]string{"Gateway/edge": {"Accepted=False/NotAllowedByListeners"}}, elsewhere.routeReports("shop"))
	becomes(t, "nothing is left of it", nothing, elsewhere.left(route, configMaps))
}

func TestWhatOthersSayOfARouteStaysAsItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate}, forRoutes(routeTemplate))
	w.gateway("edge")
	route := w.route("shop", toGateway("theirs"), toGateway("edge"), toGateway("theirs-too"))
	becomes(t, "it stands under ours", map[string][]string{"Gateway/edge": routeStands}, w.routeReports("shop"))

	theirs := []gatewayv1.RouteParentStatus{theirReport("theirs"), theirReport("theirs-too")}
	// The other controller does as it should, too: it reads, puts its entries around ours, and writes with an optimistic lock.
	eventually(t, "the other controller writes", func() error {
		read(w, route)
		route.Status.Parents = append([]gatewayv1.RouteParentStatus{theirs[0]}, append(route.Status.Parents, theirs[1])...)
		return shared.client.Status().Update(t.Context(), route)
	})
	change(w, route, func(r *gatewayv1.HTTPRoute) { r.Spec.Hostnames = []gatewayv1.Hostname{"edge.example.com"} })
	becomes(t, "ours is renewed", map[string][]string{"Gateway/edge": routeStands}, w.routeReports("shop"))
	is(t, "theirs stay, in their places", []string{"theirs", "edge", "theirs-too"}, w.parentNames(route))
	if diff := cmp.Diff(theirs, []gatewayv1.RouteParentStatus{route.Status.Parents[0], route.Status.Parents[2]}); diff != "" {
		t.Errorf("their entries changed (-before +after):\n%s", diff)
	}

	change(w, route, func(r *gatewayv1.HTTPRoute) {
		r.Spec.ParentRefs = []gatewayv1.ParentReference{r.Spec.ParentRefs[0], r.Spec.ParentRefs[2]}
	})
	becomes(t, "ours goes", []string{"theirs", "theirs-too"}, w.parentNames(route))
	if diff := cmp.Diff(theirs, route.Status.Parents); diff != "" {
		t.Errorf("their entries changed (-before +after):\n%s", diff)
	}
}

func theirReport(parent gatewayv1.ObjectName) gatewayv1.RouteParentStatus {
	group, kind := gatewayv1.Group(gatewayv1.GroupName), gatewayv1.Kind("Gateway")
	return gatewayv1.RouteParentStatus{
		ParentRef: gatewayv1.ParentReference{Group: &group, Kind: &kind, Name: parent}, ControllerName: "example.com/theirs",
		Conditions: []metav1.Condition{{
			Type: "Accepted", Status: metav1.ConditionTrue, Reason: "Accepted", Message: "theirs",
			LastTransitionTime: metav1.Unix(1700000000, 0), ObservedGeneration: 1,
		}},
	}
}

// parentNames are the parents in a route's status, of all controllers, in order. It reads the route anew.
func (w *world) parentNames(route *gatewayv1.HTTPRoute) func() ([]string, error) {
	return func() ([]string, error) {
		err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(route), route)
		var parents []string
		for _, parent := range route.Status.Parents {
			parents = append(parents, string(parent.ParentRef.Name))
		}
		return parents, err
	}
}

func TestARouteWhoseParentsRenderTheSameObjectFailsUnderTheSecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"listeners": listenersTemplate}, forRoutes(strings.Replace(routeTemplate, "-{{ .ParentRef.name }}", "", 1)))
	w.gateway("east")
	w.gateway("west")
	w.route("shop", toGateway("east"), toGateway("west"))
	becomes(t, "the first has it, the second is told", map[string][]string{
		"Gateway/east": routeStands,
		"Gateway/west": {"Accepted=True/Accepted", v1alpha1.ConditionRouteProgrammed + "=False/Invalid"},
	}, w.routeReports("shop"))
	is(t, "the object is the first's", map[string]string{
		"under": "Gateway east", "listeners": `["own"]`, "hostnames": `["east.example.com"]`,
	}, w.data("shop"))
}

func TestARouteIsToldThatItsStatusHasNoRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"names": namesTemplate}, forRoutes(routeTemplate))
	route := newRoute("shop", toGateway("edge"))
	w.create(route)
	entries := func(n int) {
		eventually(t, "others report", func() error {
			if err := shared.client.Get(t.Context(), client.ObjectKeyFromObject(route), route); err != nil {
				return err
			}
			route.Status.Parents = nil
			for i := range n {
				route.Status.Parents = append(route.Status.Parents, gatewayv1.RouteParentStatus{
					ParentRef: toGateway("edge"), ControllerName: gatewayv1.GatewayController(fmt.Sprintf("example.com/another-%d", i)),
					Conditions: []metav1.Condition{{
						Type: "Accepted", Status: metav1.ConditionTrue, Reason: "Theirs", LastTransitionTime: metav1.Now(),
					}},
				})
			}
			return shared.client.Status().Update(t.Context(), route, client.FieldOwner("another"))
		})
	}
	entries(32)
	w.gateway("edge")
	full := []string{"Warning StatusFull: status.parents is full: what gatewright.dev/controller has to say of 1 of the parents finds no room beside " +
		"the entries of others; take parents out of spec.parentRefs, or have entries removed of controllers that are gone"}
	becomes(t, "it is told", full, w.events(route))
	becomes(t, "what is rendered for it is there all the same", []string{"ConfigMap/shop-edge"}, names(w.children(route, configMaps)))

	change(w, route, func(r *gatewayv1.HTTPRoute) { r.Spec.Hostnames = []gatewayv1.Hostname{"edge.example.com"} })
	becomes(t, "it is looked at again", map[string]string{
		"under": "Gateway edge", "listeners": `["own"]`, "hostnames": `["edge.example.com"]`,
	}, w.data("shop-edge"))
	is(t, "once is enough", full, w.events(route))
	entries(31)
	becomes(t, "there is room", map[string][]string{"Gateway/edge": routeStands}, w.routeReports("shop"))
}
