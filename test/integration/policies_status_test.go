package integration_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

const (
	// logTemplate writes what the value "log" is for the Gateway, and for each of its listeners.
	logTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}
data:
  gateway: {{ .Values.log }}
  {{- range .Listeners }}
  {{ .source.name }}.{{ .source.sectionName }}: {{ .Values.log }}
  {{- end }}
`
	// routeLogTemplate writes what the value "log" is for a route under one parent.
	routeLogTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .HTTPRoute.metadata.name }}-{{ .ParentRef.name }}
data:
  route: {{ .Values.log }}
`
)

// logs are a block of defaults that sets the value "log".
func logs(level string) v1alpha1.ValuesBlocks { return defaults(map[string]string{"log": level}) }

// logging makes the world's class, of which "log" is the only value.
func (w *world) logging() {
	w.Helper()
	w.class(templates{"log": logTemplate}, with(logs("info")), forRoutes(routeLogTemplate))
}

// plain takes the world's own names out of a text, so that it can be compared.
func (w *world) plain(text string) string {
	return strings.ReplaceAll(text, w.namespace, "NS")
}

// policyTells are what we say of a policy with its messages, by ancestor "Kind/namespace/name".
func (w *world) policyTells(policy v1alpha1.Policy) func() (map[string][]string, error) {
	return func() (map[string][]string, error) {
		o := policy.(client.Object)
		err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(o), o)
		got := map[string][]string{}
		for _, ancestor := range policy.PolicyStatus().Ancestors {
			ref := ancestor.AncestorRef
			key := fmt.Sprintf("%s/%s", *ref.Kind, ref.Name)
			if ref.Namespace != nil {
				key = fmt.Sprintf("%s/%s/%s", *ref.Kind, *ref.Namespace, ref.Name)
			}
			got[w.plain(key)] = w.tells(ancestor.Conditions, o.GetGeneration())
		}
		return got, err
	}
}

// tells puts conditions into "Type=Status/Reason: message", sorted.
func (w *world) tells(conditions []metav1.Condition, generation int64) []string {
	var list []string
	for i := range conditions {
		list = append(list, told(conditions[i:i+1], generation)[0]+": "+w.plain(conditions[i].Message))
	}
	slices.Sort(list)
	return list
}

const (
	policyValid    = "Accepted=True/Accepted: GatewayConfig is valid"
	policyInEffect = "Programmed=True/Programmed: every value is in effect"
)

func TestAPolicyIsReportedForEachAncestor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.logging()
	w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	w.gateway("other")
	w.listenerSet("shop", "edge", "shop.example.com")
	w.route("cart", toGateway("other"))
	policy := config("three", target("Gateway", "nobody"), logs("debug"))
	policy.Spec.TargetRefs = append(policy.Spec.TargetRefs,
		target("Gateway", "edge"), target("HTTPRoute", "cart"))
	w.create(policy)
	good := []string{policyValid, policyInEffect}
	lost := []string{"Accepted=False/TargetNotFound: there is no Gateway nobody in namespace NS, or it has no part in a Gateway of ours"}

	// The ListenerSet inherits what is for its Gateway; a route is reported under its parent.
	becomes(t, "each ancestor has its say", map[string][]string{
		"Gateway/NS/nobody": lost, "Gateway/NS/edge": good, "Gateway/NS/other": good, "ListenerSet/NS/shop": good,
	}, w.policyTells(policy))

	change(w, policy, func(p *v1alpha1.GatewayConfig) {
		p.Spec.TargetRefs = p.Spec.TargetRefs[:2]
		p.Spec.Merge = &v1alpha1.ValuesMerge{Default: &v1alpha1.BlockMerge{When: "self.log =="}}
	})
	eventually(t, "a typo is told for each, and nothing is Programmed", func() error {
		got, err := w.policyTells(policy)()
		if err != nil {
			return err
		}
		if len(got) != 3 {
			return fmt.Errorf("ancestors are %v", got)
		}
		for ancestor, conditions := range got {
			if len(conditions) != 1 || !strings.HasPrefix(conditions[0], "Accepted=False/Invalid: spec.merge.default.when does not compile: ") {
				return fmt.Errorf("%s says %v", ancestor, conditions)
			}
		}
		return nil
	})
	becomes(t, "the Gateway does without it", map[string]string{"gateway": "info", "edge.own": "info", "shop.l0": "info"}, w.data("edge"))
	becomes(t, "and so does the route, which is targeted no more", map[string]string{"route": "info"}, w.data("cart-other"))

	change(w, policy, func(p *v1alpha1.GatewayConfig) {
		p.Spec.TargetRefs, p.Spec.Merge = p.Spec.TargetRefs[1:], nil
	})
	becomes(t, "mended, and without the lost target, all is well",
		map[string][]string{"Gateway/NS/edge": good, "ListenerSet/NS/shop": good}, w.policyTells(policy))
}

func withListener(target v1alpha1.PolicyTargetReference, name gatewayv1.SectionName) v1alpha1.PolicyTargetReference {
	target.SectionName = &name
	return target
}

func TestAPolicyNamesWhoShadowsItsValues(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate}, with(v1alpha1.ValuesBlocks{
		Override: tree2JSON(map[string]string{"a": "1", "b": "1", "c": "1", "d": "1"}),
	}))
	w.gateway("edge")
	some := config("some", target("Gateway", "edge"), defaults(map[string]string{"a": "2", "own": "2"}))
	all := config("all", target("Namespace", w.namespace), defaults(map[string]string{"a": "3", "b": "3", "c": "3", "d": "3"}))
	none := config("none", target("Gateway", "edge"), v1alpha1.ValuesBlocks{})
	for _, policy := range []*v1alpha1.GatewayConfig{some, all, none} {
		w.create(policy)
	}
	by := " by GatewayClassBlueprint/NS (override)"
	becomes(t, "some values are shadowed", map[string][]string{"Gateway/NS/edge": {
		policyValid, "Programmed=True/PartiallyProgrammed: some values are set by others: /a" + by,
	}}, w.policyTells(some))
	becomes(t, "all values are, of which three are named", map[string][]string{"Gateway/NS/edge": {
		policyValid, "Programmed=False/Overridden: all values are set by others: /a" + by + ", /b" + by + ", /c" + by + " and 1 more",
	}}, w.policyTells(all))
	becomes(t, "who sets nothing is shadowed in nothing", map[string][]string{"Gateway/NS/edge": {policyValid, policyInEffect}}, w.policyTells(none))
}

// affected tells the conditions Affected of all that a policy of a world may be attached to, by "Kind name", listeners by "Kind
// name/listener" and routes by "HTTPRoute name under parent".
func (w *world) affected(gateway, set, route string) func() (map[string]string, error) {
	return func() (map[string]string, error) {
		got := map[string]string{}
		add := func(key string, conditions []metav1.Condition, generation int64) {
			for i, c := range conditions {
				if suffix, ours := strings.CutPrefix(c.Type, v1alpha1.GroupName+"/"); ours && strings.HasSuffix(c.Type, "Affected") {
					text := strings.TrimPrefix(told(conditions[i:i+1], generation)[0], v1alpha1.GroupName+"/"+suffix+"=True/Affected")
					got[key+" "+suffix] = w.plain(text + c.Message)
				}
			}
		}
		class, gw, ls, r := &gatewayv1.GatewayClass{}, &gatewayv1.Gateway{}, &gatewayv1.ListenerSet{}, &gatewayv1.HTTPRoute{}
		for o, key := range map[client.Object]client.ObjectKey{
			class: {Name: w.name}, gw: w.key(gateway), ls: w.key(set), r: w.key(route),
		} {
			if err := shared.client.Get(w.Context(), key, o); err != nil {
				return nil, err
			}
		}
		add("GatewayClass", class.Status.Conditions, class.Generation)
		add("Gateway", gw.Status.Conditions, gw.Generation)
		for _, l := range gw.Status.Listeners {
			add("Gateway/"+string(l.Name), l.Conditions, gw.Generation)
		}
		add("ListenerSet", ls.Status.Conditions, ls.Generation)
		for _, l := range ls.Status.Listeners {
			add("ListenerSet/"+string(l.Name), l.Conditions, ls.Generation)
		}
		for _, parent := range r.Status.Parents {
			add("HTTPRoute under "+string(parent.ParentRef.Name), parent.Conditions, r.Generation)
		}
		return got, nil
	}
}

func TestWhatPoliciesAffectSaysSoAsLongAsTheyDo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.logging()
	w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	w.listenerSet("shop", "edge", "shop.example.com", "blog.example.com")
	w.route("cart", toGateway("edge"), toListenerSet("shop"))
	affected := w.affected("edge", "shop", "cart")
	becomes(t, "all stands", map[string]string{"route": "info"}, w.data("cart-shop"))
	becomes(t, "nothing is affected", map[string]string{}, affected)

	ofClass := classConfig(w.name, target("GatewayClass", w.name), logs("class"))
	ofClass.Namespace = systemNamespace
	policies := []client.Object{
		ofClass,
		config("a-gateway", target("Gateway", "edge"), logs("gateway")),
		config("b-listener", withListener(target("Gateway", "edge"), "own"), logs("listener")),
		config("c-set", target("ListenerSet", "shop"), logs("set")),
		config("d-entry", withListener(target("ListenerSet", "shop"), "l1"), logs("entry")),
		config("e-route", target("HTTPRoute", "cart"), logs("route")),
	}
	for _, policy := range policies {
		w.create(policy)
	}
	byClass := "by GatewayClassConfig/" + systemNamespace + "/NS"
	want := map[string]string{
		"GatewayClass GatewayClassConfigAffected":         byClass,
		"Gateway GatewayClassConfigAffected":              byClass,
		"HTTPRoute under edge GatewayClassConfigAffected": byClass,
		"HTTPRoute under shop GatewayClassConfigAffected": byClass,
		"Gateway GatewayConfigAffected":                   "by GatewayConfig/NS/a-gateway",
		"Gateway/own GatewayConfigAffected":               "by GatewayConfig/NS/b-listener",
		"ListenerSet GatewayConfigAffected":               "by GatewayConfig/NS/c-set",
		"ListenerSet/l1 GatewayConfigAffected":            "by GatewayConfig/NS/d-entry",
		"HTTPRoute under edge GatewayConfigAffected":      "by GatewayConfig/NS/a-gateway, GatewayConfig/NS/e-route",
		"HTTPRoute under shop GatewayConfigAffected":      "by GatewayConfig/NS/a-gateway, GatewayConfig/NS/c-set, GatewayConfig/NS/e-route",
	}
	becomes(t, "each policy is named where it has a part", want, affected)
	becomes(t, "the listeners have their values", map[string]string{
		"gateway": "gateway", "edge.own": "listener", "shop.l0": "set", "shop.l1": "entry",
	}, w.data("edge"))

	for _, policy := range slices.Backward(policies) {
		w.delete(policy)
	}
	becomes(t, "nothing is affected any more", map[string]string{}, affected)
	becomes(t, "and the values are as before", map[string]string{"gateway": "info", "edge.own": "info", "shop.l0": "info", "shop.l1": "info"}, w.data("edge"))
}

func TestAListenerSetThatIsShutOutOrLeavesIsAffectedNoMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.logging()
	gw := w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	set := w.listenerSet("shop", "edge", "shop.example.com")
	w.route("cart", toGateway("edge"))
	w.create(config("set", target("ListenerSet", "shop"), logs("set")))
	w.create(config("entry", withListener(target("ListenerSet", "shop"), "l0"), logs("entry")))
	affected := w.affected("edge", "shop", "cart")
	inside := map[string]string{
		"ListenerSet GatewayConfigAffected":    "by GatewayConfig/NS/set",
		"ListenerSet/l0 GatewayConfigAffected": "by GatewayConfig/NS/entry",
	}
	becomes(t, "the set and its listener are affected", inside, affected)

	change(w, gw, admitting(gatewayv1.NamespacesFromNone))
	becomes(t, "the set is shut out", setShutOut, conditionsOnly(w.setReport("shop")))
	becomes(t, "and affected no more", map[string]string{}, affected)

	change(w, gw, admitting(gatewayv1.NamespacesFromSame))
	becomes(t, "let in again, it is again", inside, affected)

	change(w, set, func(set *gatewayv1.ListenerSet) { set.Spec.ParentRef.Name = "nobody" })
	becomes(t, "the set has left", setWaits, w.setReport("shop"))
	becomes(t, "and is affected no more", map[string]string{}, affected)
}

// What an override forbids is not known while its condition cannot be read. So what it is attached to stays as it is, and nothing
// else does.
func TestATypoInAnOverrideHoldsItsTargetsOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"size": "small"})))
	edge := w.gateway("edge")
	w.gateway("other")
	guard := config("guard", target("Gateway", "edge"), v1alpha1.ValuesBlocks{
		Override: tree2JSON(map[string]string{"size": "medium"}),
		Merge:    &v1alpha1.ValuesMerge{Override: &v1alpha1.BlockMerge{When: "self.size == 'large'"}},
	})
	tenant := config("tenant", target("Namespace", w.namespace), defaults(map[string]string{"size": "large"}))
	w.create(guard)
	w.create(tenant)
	becomes(t, "the override applies", map[string]string{"size": "medium"}, w.data("edge"))
	becomes(t, "and only where it is attached", map[string]string{"size": "large"}, w.data("other"))
	before := w.settled("edge")

	when := func(expression string) {
		change(w, guard, func(p *v1alpha1.GatewayConfig) { p.Spec.Merge.Override.When = expression })
	}
	when("self.size == 'large' &&")
	w.policyComplains(guard, "Accepted=False/Invalid", "spec.merge.override.when", "does not compile")
	w.gatewayComplains(edge, "Programmed=False/Invalid", "GatewayConfig/"+w.namespace+"/guard")
	change(w, tenant, func(p *v1alpha1.GatewayConfig) { p.Spec.Default = tree2JSON(map[string]string{"size": "huge"}) })
	becomes(t, "the other Gateway goes on", map[string]string{"size": "huge"}, w.data("other"))
	becomes(t, "and is Programmed", programmed, w.gatewayConditions("other"))
	// What the held Gateway says of the tenant's policy it says once it has looked at it.
	becomes(t, "the tenant's policy is looked at for both", map[string][]string{
		"Gateway/NS/edge": {policyValid, "Programmed=False/Reconciling: what was rendered last stays: " +
			"GatewayConfig/NS/guard is invalid and carries overrides or constraints; mend it, its status says how"},
		"Gateway/NS/other": {policyValid, policyInEffect},
	}, w.policyTells(tenant))
	is(t, "the guarded Gateway's objects stay", before, w.state("edge"))

	when("self.size == 'huge'")
	becomes(t, "mended, the override applies again", programmed, w.gatewayConditions("edge"))
	becomes(t, "and is in effect", map[string][]string{"Gateway/NS/edge": {policyValid, policyInEffect}}, w.policyTells(guard))
	change(w, guard, func(p *v1alpha1.GatewayConfig) { p.Spec.Override = tree2JSON(map[string]string{"size": "tiny"}) })
	becomes(t, "and can be changed", map[string]string{"size": "tiny"}, w.data("edge"))
}

func TestAPolicyThatIsBeingDeletedClaimsNoEffect(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.logging()
	w.gateway("edge")
	policy := config("leaving", target("Gateway", "edge"), logs("debug"))
	policy.Finalizers = []string{"example.com/held"}
	w.create(policy)
	becomes(t, "it is in effect", map[string][]string{"Gateway/NS/edge": {policyValid, policyInEffect}}, w.policyTells(policy))
	w.delete(policy)
	becomes(t, "it has no part any more", map[string][]string{}, w.policyTells(policy))
	change(w, policy, func(p *v1alpha1.GatewayConfig) { p.Finalizers = nil })
}

// selecting makes a target of all objects of a kind with a label.
func selecting(kind gatewayv1.Kind, key, value string) v1alpha1.PolicyTargetReference {
	selected := target(kind, "")
	selected.Selector = labelled(key, value)
	return selected
}

func TestASelectorFollowsLabels(t *testing.T) {
	t.Parallel()
	const none = "info"
	cases := map[string]struct {
		target v1alpha1.PolicyTargetReference
		// mark gives the labels to what is selected, or takes them away if they are nil.
		mark func(w *world, labels map[string]string)
		// reached is the ConfigMap whose "log" tells, and its key.
		reached, key string
	}{
		"Gateways": {
			selecting("Gateway", "tier", "gold"), func(w *world, labels map[string]string) {
				change(w, named(&gatewayv1.Gateway{}, "edge"), func(gw *gatewayv1.Gateway) { gw.Labels = labels })
			}, "edge", "gateway",
		},
		"listeners of a labelled Gateway": {
			listenersSelected(target("Gateway", "edge"), "tier", "gold"), func(w *world, labels map[string]string) {
				change(w, named(&gatewayv1.Gateway{}, "edge"), func(gw *gatewayv1.Gateway) { gw.Labels = labels })
			}, "edge", "edge.own",
		},
		"listeners by the annotation that labels them": {
			listenersSelected(target("Gateway", "edge"), "tier", "gold"), func(w *world, labels map[string]string) {
				change(w, named(&gatewayv1.Gateway{}, "edge"), func(gw *gatewayv1.Gateway) {
					gw.Annotations = nil
					if labels != nil {
						gw.Annotations = map[string]string{"listeners." + v1alpha1.GroupName + "/own": "tier=gold,team=a"}
					}
				})
			}, "edge", "edge.own",
		},
		"ListenerSets": {
			selecting("ListenerSet", "tier", "gold"), func(w *world, labels map[string]string) {
				change(w, named(&gatewayv1.ListenerSet{}, "shop"), func(set *gatewayv1.ListenerSet) { set.Labels = labels })
			}, "edge", "shop.l0",
		},
		"HTTPRoutes": {
			selecting("HTTPRoute", "tier", "gold"), func(w *world, labels map[string]string) {
				change(w, named(&gatewayv1.HTTPRoute{}, "cart"), func(route *gatewayv1.HTTPRoute) { route.Labels = labels })
			}, "cart-edge", "route",
		},
		"the namespace": {selecting("Namespace", "tier", "gold"), label, "edge", "gateway"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.logging()
			w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
			w.listenerSet("shop", "edge", "shop.example.com")
			w.route("cart", toGateway("edge"))
			policy := config("selecting", c.target, logs("selected"))
			w.create(policy)
			log := func() (string, error) {
				data, err := w.data(c.reached)()
				return data[c.key], err
			}
			accepted := func() (bool, error) {
				reports, err := w.policyReports(policy)()
				for _, conditions := range reports {
					if slices.Contains(conditions, "Programmed=True/Programmed") {
						return true, err
					}
				}
				return false, err
			}
			becomes(t, "nothing is selected", none, log)
			c.mark(w, map[string]string{"tier": "gold"})
			becomes(t, "the label puts it in reach", "selected", log)
			becomes(t, "and the policy says that it is in effect", true, accepted)
			c.mark(w, nil)
			becomes(t, "without the label it is out of reach", none, log)
			becomes(t, "and the policy says so", false, accepted)
		})
	}
}

// A Gateway may be all that is in its namespace, so that nothing else wakes it when the labels of that change.
func TestANamespaceThatIsSelectedByItsLabelsBringsItsGatewayAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.logging()
	w.gateway("edge")
	policy := config("selecting", selecting("Namespace", "tier", "gold"), logs("selected"))
	w.create(policy)
	becomes(t, "the namespace is not selected", map[string]string{"gateway": "info", "edge.own": "info"}, w.data("edge"))
	label(w, map[string]string{"tier": "gold"})
	becomes(t, "labelled, it is", map[string]string{"gateway": "selected", "edge.own": "selected"}, w.data("edge"))
	becomes(t, "and the policy says so", map[string][]string{"Gateway/NS/edge": {policyValid, policyInEffect}}, w.policyTells(policy))
}

func listenersSelected(target v1alpha1.PolicyTargetReference, key, value string) v1alpha1.PolicyTargetReference {
	target.ListenerSelector = labelled(key, value)
	return target
}

// named gives an object a name, so that it can be read.
func named[T client.Object](o T, name string) T {
	o.SetName(name)
	return o
}

func TestAClassThatIsSelectedByItsLabelsBringsItsGatewaysAlong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.logging()
	w.gateway("edge")
	policy := classConfig(w.name, selecting("GatewayClass", "tier", w.name), logs("selected"))
	policy.Namespace = systemNamespace
	w.create(policy)
	class := &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	log := func() (string, error) {
		data, err := w.data("edge")()
		return data["gateway"], err
	}
	becomes(t, "the class is not selected", "info", log)
	change(w, class, func(class *gatewayv1.GatewayClass) { class.Labels = map[string]string{"tier": w.name} })
	becomes(t, "labelled, it is", "selected", log)
	becomes(t, "and the policy is reported for it", map[string][]string{
		"GatewayClass/NS": {"Accepted=True/Accepted: GatewayClassConfig is valid", policyInEffect},
	}, w.policyTells(policy))
	change(w, class, func(class *gatewayv1.GatewayClass) { class.Labels = nil })
	becomes(t, "without the label it is not", "info", log)
}

// listenerSetFor makes a ListenerSet "guest" for the Gateway "edge" of another world.
func (w *world) listenerSetFor(host *world, hostnames ...gatewayv1.Hostname) {
	w.Helper()
	set := newListenerSet("guest", "edge", hostnames...)
	set.Spec.ParentRef.Namespace = new(gatewayv1.Namespace(host.namespace))
	w.create(set)
}

func TestAPolicyForAListenerSetOfAnotherNamespaceReachesItsListenersOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.logging()
	w.gateway("edge", admitting(gatewayv1.NamespacesFromAll))
	w.listenerSet("sibling", "edge", "sibling.example.com")
	w.route("cart", toGateway("edge"))
	guest := newWorldOf(t, w.name)
	guest.listenerSetFor(w, "guest.example.com", "second.example.com")
	guest.route("cart", toListenerSet("guest"))
	untouched := map[string]string{"gateway": "info", "edge.own": "info", "sibling.l0": "info", "guest.l0": "info", "guest.l1": "info"}
	becomes(t, "the Gateway listens to all", untouched, w.data("edge"))

	policy := config("guest", target("ListenerSet", "guest"), logs("guest"))
	guest.create(policy)
	want := map[string]string{"gateway": "info", "edge.own": "info", "sibling.l0": "info", "guest.l0": "guest", "guest.l1": "guest"}
	becomes(t, "its listeners are reached, and nothing else of the Gateway", want, w.data("edge"))
	becomes(t, "so is the route that is attached to it", map[string]string{"route": "guest"}, guest.data("cart-guest"))
	is(t, "a route of the Gateway's is not", map[string]string{"route": "info"}, w.data("cart-edge"))
	becomes(t, "the policy is reported for the ListenerSet", map[string][]string{"ListenerSet/NS/guest": {policyValid, policyInEffect}},
		guest.policyTells(policy))

	// A policy may name what is of its own namespace only.
	far := config("far", target("Gateway", "edge"), logs("far"))
	guest.create(far)
	becomes(t, "a policy for a Gateway elsewhere is lost", map[string][]string{"Gateway/NS/edge": {
		"Accepted=False/TargetNotFound: there is no Gateway edge in namespace NS, or it has no part in a Gateway of ours",
	}}, guest.policyTells(far))
	is(t, "and reaches nothing", want, w.data("edge"))

	guest.delete(policy)
	becomes(t, "without the policy all is as before", untouched, w.data("edge"))
}

func TestAPolicyForAGuestIsToldWhatTheHostDoes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.logging()
	gw := w.gateway("edge", admitting(gatewayv1.NamespacesFromAll))
	guest := newWorldOf(t, w.name)
	guest.listenerSetFor(w, "guest.example.com")
	policy := config("guest", target("ListenerSet", "guest"), logs("guest"))
	guest.create(policy)
	tells := guest.policyTells(policy)
	good := map[string][]string{"ListenerSet/NS/guest": {policyValid, policyInEffect}}
	becomes(t, "the guest's policy is in effect", good, tells)

	host := config("host", target("Gateway", "edge"), v1alpha1.ValuesBlocks{Override: tree2JSON(map[string]string{"log": "host"})})
	w.create(host)
	becomes(t, "the host overrides it", map[string][]string{"ListenerSet/NS/guest": {
		policyValid, "Programmed=False/Overridden: all values are set by others: /log by GatewayConfig/" + w.namespace + "/host (override)",
	}}, tells)
	w.delete(host)
	becomes(t, "and does no more", good, tells)

	change(w, gw, admitting(gatewayv1.NamespacesFromNone))
	becomes(t, "the host lets nobody in", map[string][]string{"ListenerSet/NS/guest": {
		"Accepted=False/TargetNotFound: there is no ListenerSet guest in namespace NS, or it has no part in a Gateway of ours",
	}}, tells)
	change(w, gw, admitting(gatewayv1.NamespacesFromAll))
	becomes(t, "and lets the guest in again", good, tells)
}
