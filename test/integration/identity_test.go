package integration_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// as has what a blueprint renders applied as a ServiceAccount.
func as(account types.NamespacedName) func(*v1alpha1.GatewayClassBlueprintSpec) {
	return func(spec *v1alpha1.GatewayClassBlueprintSpec) {
		spec.ServiceAccountRef = &v1alpha1.ServiceAccountReference{Namespace: account.Namespace, Name: account.Name}
	}
}

// serviceAccount makes a ServiceAccount without any rights.
func (w *world) serviceAccount(name string) *corev1.ServiceAccount {
	w.Helper()
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
	w.create(account)
	return account
}

// grant gives a ServiceAccount of the world all that is needed to write these resources, in the world's namespace.
func (w *world) grant(account, apiGroup string, resources ...string) *rbacv1.RoleBinding {
	w.Helper()
	name := account + "-" + resources[0]
	w.create(&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name}, Rules: writing(apiGroup, resources...)})
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: account}},
	}
	w.create(binding)
	return binding
}

func writing(apiGroup string, resources ...string) []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{APIGroups: []string{apiGroup}, Resources: resources, Verbs: []string{"create", "patch", "delete"}}}
}

// writers tells who has written objects of these resources in a world through a manager, as "resource verb user", each once, sorted.
func (a *audit) writers(m *manager, w *world, resources ...string) []string {
	a.Helper()
	a.catchUp()
	events, err := a.events()
	if err != nil {
		a.Fatal(err)
	}
	var list []string
	for _, e := range events {
		ref := e.ObjectRef
		if e.UserAgent != m.userAgent || ref == nil || ref.Namespace != w.namespace && ref.Name != w.name+"-edge" ||
			!slices.Contains(mutating, e.Verb) || !slices.Contains(resources, ref.Resource) {
			continue
		}
		user := "the controller"
		if e.ImpersonatedUser != nil {
			user = e.ImpersonatedUser.Username
		}
		list = append(list, ref.Resource+" "+e.Verb+" as "+user)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// deletesNothing complains of every attempt to delete a Service, as whomever, and of every write that is the controller's own.
func (a *audit) deletesNothing(m *manager, w *world) {
	a.Helper()
	for _, writer := range a.writers(m, w, "services") {
		if writer != "services patch as "+w.user("deployer") {
			a.Errorf("want no %s", writer)
		}
	}
}

// user is how the API server calls a ServiceAccount of the world.
func (w *world) user(account string) string {
	return "system:serviceaccount:" + w.namespace + ":" + account
}

// appliedAs says as whom objects are applied, according to the Rendering of a Gateway.
func (w *world) appliedAs(gateway string) func() (string, error) {
	return func() (string, error) {
		report := &v1alpha1.Rendering{}
		err := shared.client.Get(w.Context(), w.key(gateway), report)
		return report.Status.AppliedAs, err
	}
}

func TestWhatIsRenderedIsWrittenAsTheServiceAccountAndAsNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	log := newAudit(t)
	w.serviceAccount("deployer")
	w.grant("deployer", "", "configmaps")
	blueprint := w.class(templates{"values": valuesTemplate, "service": serviceTemplate},
		with(defaults(map[string]string{"a": "1"})), as(w.key("deployer")))
	gw := w.gateway("edge")
	w.gatewayComplains(gw, "Programmed=False/Pending", "Service edge",
		"ServiceAccount "+w.namespace+"/deployer may not patch services", "grant it create, patch and delete", "a Role in namespace "+w.namespace)
	w.complains(blueprint, func() []metav1.Condition { return blueprint.Status.Conditions }, "ResolvedRefs=True/ResolvedRefs", "deployer")
	is(t, "what the ServiceAccount may write is there, and no more", []string{"ConfigMap/edge"}, names(w.children(gw, configMaps, services)))
	is(t, "the report says as whom", w.namespace+"/deployer", w.appliedAs("edge"))

	w.grant("deployer", "", "services")
	becomes(t, "the right is found without anybody's help", programmed, w.gatewayConditions("edge"))

	change(w, configMap("edge"), func(o *corev1.ConfigMap) { o.Data["a"] = "by hand" })
	becomes(t, "it is kept in order", map[string]string{"a": "1"}, w.data("edge"))
	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		delete(b.Spec.GatewayTemplate.ResourceTemplates, "service")
	})
	becomes(t, "what is not rendered any more goes", []string{"ConfigMap/edge"}, names(w.children(gw, configMaps, services)))
	want := []string{
		"configmaps patch as " + w.user("deployer"), "services delete as " + w.user("deployer"), "services patch as " + w.user("deployer"),
	}
	if got := log.writers(shared.manager, w, "configmaps", "services"); !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestWithoutItsServiceAccountNothingIsWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	log := newAudit(t)
	blueprint := w.class(templates{"values": valuesTemplate}, with(defaults(map[string]string{"a": "1"})), as(w.key("deployer")))
	blueprintSays := func(want string) {
		t.Helper()
		w.complains(blueprint, func() []metav1.Condition { return blueprint.Status.Conditions }, want, w.namespace+"/deployer")
	}
	gw := w.gateway("edge")
	w.gatewayComplains(gw, "Programmed=False/Pending", "ServiceAccount "+w.namespace+"/deployer", "does not exist; create it")
	blueprintSays("ResolvedRefs=False/ServiceAccountNotFound")
	is(t, "nothing is there", []string(nil), names(w.children(gw, configMaps)))

	w.grant("deployer", "", "configmaps")
	account := w.serviceAccount("deployer")
	becomes(t, "with the ServiceAccount all is well", programmed, w.gatewayConditions("edge"))
	blueprintSays("ResolvedRefs=True/ResolvedRefs")

	unharmed := w.unharmed(gw)
	w.delete(account)
	blueprintSays("ResolvedRefs=False/ServiceAccountNotFound")
	unharmed("the ServiceAccount's end")
	change(w, configMap("edge"), func(o *corev1.ConfigMap) { o.Data["a"] = "by hand" })
	w.gatewayComplains(gw, "Programmed=False/Pending", "ConfigMap edge", "does not exist")
	is(t, "what was changed by hand stays so", map[string]string{"a": "by hand"}, w.data("edge"))
	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates = templates{"service": serviceTemplate}
	})
	w.gatewayComplains(gw, "Programmed=False/Pending", "Service edge", "does not exist")
	is(t, "nothing is deleted", []string{"ConfigMap/edge"}, names(w.children(gw, configMaps, services)))

	w.serviceAccount("deployer")
	w.grant("deployer", "", "services")
	becomes(t, "once it is back all is brought about", []string{"Service/edge"}, names(w.children(gw, configMaps, services)))
	want := []string{
		"configmaps delete as " + w.user("deployer"), "configmaps patch as " + w.user("deployer"), "services patch as " + w.user("deployer"),
	}
	if got := log.writers(shared.manager, w, "configmaps", "services"); !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestAnObjectIsDeletedAsWhomItWasApplied(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		first, then []string // the ServiceAccount, if any
		want        func(w *world) []string
	}{
		"though the blueprint names another by now": {[]string{"one"}, []string{"two"}, func(w *world) []string {
			return []string{
				"configmaps patch as " + w.user("two"), "services delete as " + w.user("one"),
			}
		}},
		"though the blueprint names nobody any more": {[]string{"one"}, nil, func(w *world) []string {
			return []string{"configmaps patch as the controller", "services delete as " + w.user("one")}
		}},
		"by the controller if it was applied by it": {nil, []string{"two"}, func(w *world) []string {
			return []string{"configmaps patch as " + w.user("two"), "services delete as the controller"}
		}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, account := range []string{"one", "two"} {
				w.serviceAccount(account)
				w.grant(account, "", "configmaps", "services")
			}
			refer := func(spec *v1alpha1.GatewayClassBlueprintSpec, accounts []string) {
				spec.ServiceAccountRef = nil
				for _, account := range accounts {
					as(w.key(account))(spec)
				}
			}
			blueprint := w.class(templates{"values": valuesTemplate, "service": serviceTemplate},
				func(spec *v1alpha1.GatewayClassBlueprintSpec) { refer(spec, c.first) })
			gw := w.gateway("edge")
			becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
			log := newAudit(t)
			change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
				delete(b.Spec.GatewayTemplate.ResourceTemplates, "service")
				refer(&b.Spec, c.then)
			})
			becomes(t, "what is not rendered any more goes", []string{"ConfigMap/edge"}, names(w.children(gw, configMaps, services)))
			becomes(t, "the Gateway is Programmed again", programmed, w.gatewayConditions("edge"))
			if want, got := c.want(w), log.writers(shared.manager, w, "configmaps", "services"); !slices.Equal(want, got) {
				t.Errorf("want %q, got %q", want, got)
			}
		})
	}
}

func TestWhatMayNotBeDeletedStaysAndSaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serviceAccount("deployer")
	w.grant("deployer", "", "configmaps")
	binding := w.grant("deployer", "", "services")
	blueprint := w.class(templates{"values": valuesTemplate, "service": serviceTemplate}, as(w.key("deployer")))
	gw := w.gateway("edge")
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))

	w.delete(binding)
	log := newAudit(t)
	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		delete(b.Spec.GatewayTemplate.ResourceTemplates, "service")
	})
	w.gatewayComplains(gw, "Programmed=False/Pending", "Service edge", w.namespace+"/deployer may not delete services")
	is(t, "it stays", []string{"ConfigMap/edge", "Service/edge"}, names(w.children(gw, configMaps, services)))
	want := []string{"services delete as " + w.user("deployer")}
	if got := log.writers(shared.manager, w, "services"); !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestATenantDoesNotChooseAsWhomAnObjectIsDeleted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		annotation string
		words      []string
	}{
		"as the controller":                         {"0123", []string{"gatewright.dev/rendered", "delete the object yourself"}},
		"as a ServiceAccount that nobody has named": {"0123 as kube-system/default", []string{"gatewright.dev/rendered"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.serviceAccount("deployer")
			w.grant("deployer", "", "configmaps")
			binding := w.grant("deployer", "", "services")
			blueprint := w.class(templates{"values": valuesTemplate, "service": serviceTemplate}, as(w.key("deployer")))
			gw := w.gateway("edge")
			becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
			// Without a right to Services the annotation is not put right.
			w.delete(binding)
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "edge"}}
			change(w, service, func(o *corev1.Service) { o.Annotations[v1alpha1.AnnotationRendered] = c.annotation })
			w.gatewayComplains(gw, "Programmed=False/Pending", "may not patch services")
			log := newAudit(t)
			change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
				delete(b.Spec.GatewayTemplate.ResourceTemplates, "service")
			})
			w.gatewayComplains(gw, "Programmed=False/Pending", append(c.words, "Service edge")...)
			log.deletesNothing(shared.manager, w)
			w.delete(service)
			becomes(t, "once it is gone all is well", programmed, w.gatewayConditions("edge"))
		})
	}
}

func TestAGatewayThatGoesTellsAsWhomItsObjectsCannotBeDeleted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serviceAccount("deployer")
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: w.name}, Rules: writing("scheduling.k8s.io", "priorityclasses"),
	}
	w.create(role)
	binding := func() *rbacv1.ClusterRoleBinding {
		return &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: w.name},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: w.name},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: w.namespace, Name: "deployer"}},
		}
	}
	bound := binding()
	w.create(bound)
	w.class(templates{"priority": priorityClassTemplate}, clusterScoped, as(w.key("deployer")))
	gw := w.gateway("edge")
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))

	w.delete(bound)
	w.delete(gw)
	becomes(t, "the Gateway says what it waits for", []string{"PriorityClass " + w.namespace + "-edge: ServiceAccount " + w.namespace +
		"/deployer may not delete priorityclasses.scheduling.k8s.io: grant it create, patch and delete on them by a ClusterRole"},
		w.notes(v1alpha1.ReasonDeletionBlocked))
	is(t, "and waits", []string{v1alpha1.FinalizerClusterScoped}, w.finalizers(gw))
	log := newAudit(t)
	w.create(binding())
	w.gone(gw)
	is(t, "nothing is left", nothing, w.left(gw, priorityClasses))
	want := []string{"priorityclasses delete as " + w.user("deployer")}
	if got := log.writers(shared.manager, w, "priorityclasses"); !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}

// notes are what events of a reason say in the world's namespace, each once.
func (w *world) notes(reason string) func() ([]string, error) {
	return func() ([]string, error) {
		var events eventsv1.EventList
		err := shared.client.List(w.Context(), &events, client.InNamespace(w.namespace))
		var notes []string
		for _, e := range events.Items {
			if e.Reason == reason && !slices.Contains(notes, e.Note) {
				notes = append(notes, e.Note)
			}
		}
		return notes, err
	}
}

func TestWhatSomebodyTamperedWithIsNotDeletedAsTheControllerOnceTheReferenceIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.serviceAccount("deployer")
	w.grant("deployer", "", "configmaps")
	binding := w.grant("deployer", "", "services")
	blueprint := w.class(templates{"values": valuesTemplate, "service": serviceTemplate}, as(w.key("deployer")))
	gw := w.gateway("edge")
	becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
	w.delete(binding)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "edge"}}
	change(w, service, func(o *corev1.Service) { delete(o.Annotations, v1alpha1.AnnotationRendered) })
	w.gatewayComplains(gw, "Programmed=False/Pending", "may not patch services")
	log := newAudit(t)
	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		delete(b.Spec.GatewayTemplate.ResourceTemplates, "service")
		b.Spec.ServiceAccountRef = nil
	})
	w.gatewayComplains(gw, "Programmed=False/Pending", "Service edge", "delete the object yourself")
	recorded := func() ([]v1alpha1.ServiceAccountReference, error) {
		return read(w, blueprint).Status.ServiceAccounts, nil
	}
	is(t, "the ServiceAccount stays on record", []v1alpha1.ServiceAccountReference{{Namespace: w.namespace, Name: "deployer"}}, recorded)
	log.deletesNothing(shared.manager, w)
	w.delete(service)
	becomes(t, "once it is gone, so is the record", nil, recorded)
}

func TestABlueprintGoesOnceNothingIsLeftThatOnlyItKnowsHowToDelete(t *testing.T) {
	t.Parallel()
	cases := map[string]func(w *world) func(*v1alpha1.GatewayClassBlueprintSpec){
		"since what it made was applied as another":        func(w *world) func(*v1alpha1.GatewayClassBlueprintSpec) { return as(w.key("two")) },
		"since another blueprint names its ServiceAccount": func(w *world) func(*v1alpha1.GatewayClassBlueprintSpec) { return as(w.key("one")) },
		"since what it made is the controller's now": func(*world) func(*v1alpha1.GatewayClassBlueprintSpec) {
			return func(*v1alpha1.GatewayClassBlueprintSpec) {}
		},
	}
	for name, successor := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, account := range []string{"one", "two"} {
				w.serviceAccount(account)
				w.grant(account, "", "configmaps")
			}
			blueprint := w.class(templates{"values": valuesTemplate}, as(w.key("one")))
			gw := w.gateway("edge")
			becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
			unharmed := w.unharmed(gw)
			w.create(newBlueprint(w.name+"-next", templates{"values": valuesTemplate}, successor(w)))
			change(w, newClass(w.name, ""), func(c *gatewayv1.GatewayClass) { c.Spec.ParametersRef.Name = w.name + "-next" })
			w.delete(blueprint)
			w.gone(blueprint)
			becomes(t, "the Gateway is Programmed", programmed, w.gatewayConditions("edge"))
			unharmed("the end of its first blueprint")
		})
	}
}
