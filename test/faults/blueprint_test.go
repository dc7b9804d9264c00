package faults_test

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// brokenBlueprint breaks a template for a while, in which nothing may be changed or deleted (I8). The condition is the one of
// the blueprint that says so; empty if it is the Gateway's Programmed.
func brokenBlueprint(template, condition string) func(w *world) {
	return func(w *world) {
		before := w.versions()
		change(w, w.blueprint(), func(b *v1alpha1.GatewayClassBlueprint) {
			b.Spec.GatewayTemplate.ResourceTemplates = map[string]string{"config": configTemplate, "cluster": template}
		})
		w.eventually("the failure is told", func() error {
			if condition == "" {
				return w.notProgrammed("g")
			}
			b := w.blueprint()
			if err := shared.client.Get(context.Background(), client.ObjectKeyFromObject(b), b); err != nil {
				return err
			}
			if c := meta.FindStatusCondition(b.Status.Conditions, condition); c == nil || c.Status != metav1.ConditionFalse {
				return fmt.Errorf("%s is %v", condition, c)
			}
			return nil
		})
		w.fence()
		w.holdsStill(before)
		change(w, w.blueprint(), w.describe)
	}
}

// brokenWhileDown has a controller start that knows no good generation of the blueprint.
func brokenWhileDown(w *world) {
	before := w.versions()
	w.kill()
	change(w, w.blueprint(), func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates = map[string]string{"config": "{{ .Values.color"}
	})
	w.start()
	w.paint("green")
	w.eventually("the failure is told", func() error { return w.notProgrammed("g") })
	w.holdsStill(before)
	change(w, w.blueprint(), w.describe)
}

func templatesRenamed(w *world) {
	change(w, w.blueprint(), func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates = map[string]string{
			"config": configTemplate, "derived2": derivedTemplate, "cluster2": clusterTemplate, "extra2": extraTemplate,
		}
	})
	w.eventually("it is rendered by the new names", func() error {
		extra := &corev1.Service{}
		if err := shared.client.Get(context.Background(), w.key("g-extra"), extra); err != nil {
			return err
		}
		if template := extra.Labels[v1alpha1.LabelTemplate]; template != "extra2" {
			return fmt.Errorf("it is rendered by template %s", template)
		}
		return nil
	})
	change(w, w.blueprint(), w.describe)
}

// objectsRenamed has every object be another one, and then the first ones again.
func objectsRenamed(w *world) {
	other := strings.NewReplacer("-config", "-other", "-derived", "-other2", "-extra", "-other3", "-route", "-other4",
		"{{ uniqueName .Gateway.metadata.namespace .Gateway.metadata.name }}", "{{ uniqueName .Gateway.metadata.namespace \"other\" }}")
	change(w, w.blueprint(), func(b *v1alpha1.GatewayClassBlueprint) {
		for _, templates := range []map[string]string{b.Spec.GatewayTemplate.ResourceTemplates, b.Spec.HTTPRouteTemplate.ResourceTemplates} {
			for name, text := range templates {
				templates[name] = other.Replace(text)
			}
		}
	})
	w.eventually("the other ones are there, and the first ones are gone", func() error {
		for _, name := range []string{"g-other", "g-other2", "g-other4"} {
			if err := shared.client.Get(context.Background(), w.key(name), &corev1.ConfigMap{}); err != nil {
				return err
			}
		}
		for _, name := range []string{"g-config", "g-derived", "g-route"} {
			if err := gone(&corev1.ConfigMap{ObjectMeta: w.meta(name)}); err != nil {
				return err
			}
		}
		return gone(&corev1.Service{ObjectMeta: w.meta("g-extra")})
	})
	change(w, w.blueprint(), w.describe)
}

// blueprintDeleted deletes the blueprint, which is kept while it is used. Whoever wants it back takes the finalizer off and makes it
// anew.
func blueprintDeleted(w *world) {
	before := w.versions()
	w.deleteByHand(w.blueprint())
	w.eventually("the blueprint is marked for deletion", func() error {
		b := w.blueprint()
		if err := shared.client.Get(context.Background(), client.ObjectKeyFromObject(b), b); err != nil || b.DeletionTimestamp != nil {
			return client.IgnoreNotFound(err)
		}
		return fmt.Errorf("it is not")
	})
	w.fence()
	change(w, w.blueprint(), func(b *v1alpha1.GatewayClassBlueprint) { b.Finalizers = nil })
	w.eventually("it is gone", func() error { return gone(w.blueprint()) })
	w.fence()
	w.holdsStill(before)
	w.create(w.blueprint())
}

// things is the CRD of a kind that no other test knows.
func things() *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "things.faults.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "faults.example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Singular: "thing", Kind: "Thing", ListKind: "ThingList"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object"}},
			}},
		},
	}
}

// withThing has the blueprint render a Thing.
func (w *world) withThing() {
	w.Helper()
	change(w, w.blueprint(), func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates["thing"] =
			"apiVersion: faults.example.com/v1\nkind: Thing\nmetadata:\n  name: {{ .Gateway.metadata.name }}\n"
	})
}

// thingThere waits for the Thing, and for the Gateway to say so.
func (w *world) thingThere() {
	w.Helper()
	thing := &metav1.PartialObjectMetadata{ObjectMeta: w.meta("g")}
	thing.SetGroupVersionKind(schema.GroupVersionKind{Group: "faults.example.com", Version: "v1", Kind: "Thing"})
	w.eventually("an object of the kind is there", func() error {
		return shared.client.Get(context.Background(), client.ObjectKeyFromObject(thing), thing)
	})
	w.eventually("the Gateway is programmed", func() error { return w.gatewayWanted("g") })
}

// removeThings removes the kind again, and what was rendered of it.
func (w *world) removeThings() {
	w.Helper()
	change(w, w.blueprint(), w.describe)
	w.fence()
	w.deleteByHand(things())
	w.eventually("the CRD is gone", func() error { return gone(things()) })
}

// kindComes has the blueprint render a kind of which there is no CRD yet. Everything else goes on.
func kindComes(w *world) {
	w.withThing()
	w.eventually("the kind is missed", func() error { return w.notProgrammed("g") })
	w.paint("green")
	w.eventually("everything else goes on", w.configPainted)
	w.create(things())
	w.thingThere()
	w.removeThings()
}

// kindGoesAndComes removes the CRD of a kind of which there is an object.
func kindGoesAndComes(w *world) {
	w.create(things())
	w.withThing()
	w.thingThere()
	w.deleteByHand(things())
	w.eventually("the CRD is gone", func() error { return gone(things()) })
	w.paint("green")
	w.eventually("everything else goes on", w.configPainted)
	w.create(things())
	w.thingThere()
	w.removeThings()
}

func (w *world) configPainted() error {
	config := &corev1.ConfigMap{}
	if err := shared.client.Get(context.Background(), w.key("g-config"), config); err != nil || config.Data["color"] == w.color {
		return err
	}
	return fmt.Errorf("it is %s", config.Data["color"])
}

// versions are the resourceVersions of all rendered objects, by kind and name.
func (w *world) versions() map[string]string {
	w.Helper()
	versions := map[string]string{}
	for _, kind := range renderedKinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		if err := shared.client.List(context.Background(), list, client.HasLabels{v1alpha1.LabelOwnerUID}); err != nil {
			w.Fatal(err)
		}
		for _, o := range list.Items {
			versions[kind.Kind+"/"+o.Name] = o.ResourceVersion
		}
	}
	return versions
}

func (w *world) notProgrammed(name string) error {
	gw := &gatewayv1.Gateway{}
	if err := shared.client.Get(context.Background(), w.key(name), gw); err != nil {
		return err
	}
	c := meta.FindStatusCondition(gw.Status.Conditions, string(gatewayv1.GatewayConditionProgrammed))
	if c == nil || c.Status != metav1.ConditionFalse {
		return fmt.Errorf("Programmed is %v", c)
	}
	return nil
}

func (w *world) routeNotProgrammed(name string) error {
	route := &gatewayv1.HTTPRoute{}
	if err := shared.client.Get(context.Background(), w.key(name), route); err != nil {
		return err
	}
	for _, parent := range route.Status.Parents {
		if meta.IsStatusConditionFalse(parent.Conditions, v1alpha1.ConditionRouteProgrammed) {
			return nil
		}
	}
	return fmt.Errorf("the route is not told to be out of effect")
}
