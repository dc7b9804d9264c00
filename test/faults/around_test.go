package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/test/controller"
	"github.com/gatewright/gatewright/test/faults/faultproxy"
)

// fault is something that happens to a world with one converged Gateway "g", and is over when happen returns.
type fault struct {
	name string
	// short says that a short run has it, too.
	short  bool
	happen func(w *world)
	// anew says that objects are made anew by it.
	anew bool
}

var faults = []fault{
	{"all watches end while values change", false, func(w *world) {
		shared.proxy.DropWatches()
		w.paint("green")
		shared.proxy.DropWatches()
	}, false},
	{"watches end and cannot go on from where they were", false, func(w *world) {
		var gone atomic.Int32
		shared.proxy.Restart(func(r faultproxy.Request) faultproxy.Answer {
			if r.Verb == "watch" && gone.Add(1) <= 20 {
				return faultproxy.Answer{Status: http.StatusGone}
			}
			return faultproxy.Answer{}
		})
		shared.proxy.DropWatches()
		w.paint("green")
	}, false},
	{"the API server is killed and started anew while values change", true, func(w *world) {
		w.restartAPIServer()
		w.paint("green")
	}, false},
	{"the API server answers slowly", false, func(w *world) {
		shared.proxy.Restart(func(r faultproxy.Request) faultproxy.Answer {
			if r.Verb == "watch" {
				return faultproxy.Answer{}
			}
			return faultproxy.Answer{Before: func() { <-time.After(100 * time.Millisecond) }}
		})
		w.paint("green")
	}, false},
	{"an object is deleted by hand", false, func(w *world) {
		w.deleteByHand(&corev1.ConfigMap{ObjectMeta: w.meta("g-config")})
	}, true},
	{"an object is edited by hand", false, func(w *world) {
		change(w, &corev1.ConfigMap{ObjectMeta: w.meta("g-config")}, func(c *corev1.ConfigMap) { c.Data["color"] = "mud" })
	}, false},
	{"objects are deleted and edited while the controller is down", false, func(w *world) {
		w.kill()
		w.deleteByHand(&corev1.ConfigMap{ObjectMeta: w.meta("g-derived")})
		change(w, &corev1.ConfigMap{ObjectMeta: w.meta("g-config")}, func(c *corev1.ConfigMap) { c.Data["color"] = "mud" })
		w.start()
	}, true},
	{"the Gateway is deleted while the controller is down", true, func(w *world) {
		w.kill()
		w.remove("g")
		w.start()
	}, false},
	{"a template goes while the controller is down", false, func(w *world) {
		w.kill()
		w.withExtra(false)
		w.start()
	}, false},
	{"somebody's finalizer keeps an object that is to go", false, keptByFinalizer, false},
	{"the k-th kind of object is denied", false, func(w *world) {
		shared.proxy.Restart(func(r faultproxy.Request) faultproxy.Answer {
			if r.Write() && r.Resource == "services" {
				return faultproxy.Answer{Status: http.StatusForbidden}
			}
			return faultproxy.Answer{}
		})
		w.gateway("h")
		w.eventually("the refusal is told", func() error { return w.notProgrammed("h") })
		shared.proxy.Restart(nil)
		// What is refused is tried again ever more seldom; a change wakes the Gateway at once.
		w.paint("green")
	}, false},
	{"the blueprint is broken in its syntax", false, brokenBlueprint(clusterTemplate+"{{ .Values.color", v1alpha1.ConditionAccepted), false},
	{"the blueprint fails when it is rendered", true, brokenBlueprint(clusterTemplate+`{{ fail "no" }}`, ""), false},
	{"the blueprint calls all its templates by other names", false, func(w *world) {
		change(w, w.blueprint(), func(b *v1alpha1.GatewayClassBlueprint) {
			renamed := map[string]string{"config": configTemplate, "derived2": derivedTemplate, "cluster2": clusterTemplate, "extra2": extraTemplate}
			b.Spec.GatewayTemplate.ResourceTemplates = renamed
		})
	}, false},
	{"the blueprint is deleted and comes back", false, func(w *world) {
		w.deleteByHand(w.blueprint())
		w.eventually("the blueprint is marked for deletion", func() error {
			b := w.blueprint()
			if err := shared.client.Get(context.Background(), client.ObjectKeyFromObject(b), b); err != nil || b.DeletionTimestamp != nil {
				return client.IgnoreNotFound(err)
			}
			return fmt.Errorf("it is not")
		})
		w.rests()
		// It is kept while it is used. Whoever wants it back takes the finalizer off and makes it anew.
		change(w, w.blueprint(), func(b *v1alpha1.GatewayClassBlueprint) { b.Finalizers = nil })
		w.eventually("it is gone", func() error { return gone(w.blueprint()) })
		w.rests()
		w.create(w.blueprint())
	}, false},
	{"a kind is not served, comes to be, and goes again", false, kindComesAndGoes, false},
	{"the controller is reinstalled", false, func(w *world) {
		w.kill()
		w.paint("green")
		w.start()
	}, false},
	{"the leader is killed", false, func(w *world) { w.replicas(func(leader *controller.Controller) { leader.Kill() }) }, false},
	{"the leader is paused, replaced, and goes on", false, func(w *world) {
		w.replicas(func(leader *controller.Controller) {
			if err := leader.Pause(); err != nil {
				w.Fatal(err)
			}
			w.paint("blue")
			w.eventually("another replica takes over", w.wanted)
			if err := leader.Resume(); err != nil {
				w.Fatal(err)
			}
		})
	}, false},
}

// TestFaultsAround has everything around the controller go wrong, one thing at a time, and holds it to the invariants after each.
func TestFaultsAround(t *testing.T) {
	for _, f := range faults {
		if !f.short && !*all {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			w := newWorld(t)
			w.gateway("g")
			w.start()
			w.converged()
			before := w.uids()
			f.happen(w)
			w.converged()
			if !f.anew {
				w.keeps(before)
			}
		})
	}
}

// deleteByHand deletes an object as somebody would who does not know whose it is.
func (w *world) deleteByHand(o client.Object) {
	w.Helper()
	if err := shared.client.Delete(w.Context(), o); err != nil {
		w.Fatalf("deleting %T %s: %v", o, o.GetName(), err)
	}
}

// restartAPIServer kills the API server and waits until it is back.
func (w *world) restartAPIServer() {
	w.Helper()
	if err := shared.server.RestartAPIServer(w.Context()); err != nil {
		w.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	w.eventually("the API server is back", func() error {
		return shared.client.Get(context.Background(), client.ObjectKeyFromObject(namespace), namespace)
	})
}

// keptByFinalizer prunes an object that somebody's finalizer keeps. It is not to be forgotten, and goes when it may.
func keptByFinalizer(w *world) {
	const finalizer = "example.com/wait"
	service := &corev1.Service{ObjectMeta: w.meta("g-extra")}
	change(w, service, func(s *corev1.Service) { s.Finalizers = append(s.Finalizers, finalizer) })
	w.withExtra(false)
	w.eventually("the Service is marked for deletion", func() error {
		if err := shared.client.Get(context.Background(), client.ObjectKeyFromObject(service), service); err != nil {
			return err
		}
		if service.DeletionTimestamp == nil {
			return fmt.Errorf("it is not")
		}
		return nil
	})
	w.rests()
	w.kill()
	w.start()
	w.rests()
	change(w, service, func(s *corev1.Service) { s.Finalizers = nil })
	w.eventually("the Service is gone", func() error { return gone(service) })
}

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
		w.rests()
		for name, version := range w.versions() {
			if before[name] != version {
				w.Errorf("I8 %s was changed by a rendering that fails", name)
			}
			delete(before, name)
		}
		for name := range before {
			w.Errorf("I8 %s was deleted by a rendering that fails", name)
		}
		change(w, w.blueprint(), w.describe)
	}
}

// kindComesAndGoes has the blueprint render a kind of which there is no CRD yet. Everything else goes on.
func kindComesAndGoes(w *world) {
	crd := &apiextensionsv1.CustomResourceDefinition{
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
	change(w, w.blueprint(), func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates["thing"] =
			"apiVersion: faults.example.com/v1\nkind: Thing\nmetadata:\n  name: {{ .Gateway.metadata.name }}\n"
	})
	w.eventually("the kind is missed", func() error { return w.notProgrammed("g") })
	w.create(crd)
	thing := &metav1.PartialObjectMetadata{ObjectMeta: w.meta("g")}
	thing.SetGroupVersionKind(schema.GroupVersionKind{Group: "faults.example.com", Version: "v1", Kind: "Thing"})
	w.eventually("an object of the kind is there", func() error {
		return shared.client.Get(context.Background(), client.ObjectKeyFromObject(thing), thing)
	})
	w.eventually("the Gateway is programmed", func() error { return w.gatewayWanted("g") })
	w.deleteByHand(crd)
	w.eventually("the CRD is gone", func() error { return gone(crd) })
	w.paint("green")
	w.eventually("everything else goes on", func() error {
		config := &corev1.ConfigMap{}
		if err := shared.client.Get(context.Background(), w.key("g-config"), config); err != nil || config.Data["color"] == w.color {
			return err
		}
		return fmt.Errorf("it is %s", config.Data["color"])
	})
	change(w, w.blueprint(), w.describe)
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

// replicas runs two controllers that elect a leader in place of the one, has something happen to the leader, and leaves the
// other running.
func (w *world) replicas(happen func(leader *controller.Controller)) {
	w.Helper()
	w.kill()
	lease := "--controller-namespace=" + w.namespace
	first, err := controller.Start(shared.binary, shared.kubeconfig, lease)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(first.Kill)
	w.paint("green")
	w.eventually("the first replica works", w.wanted)
	second, err := controller.Start(shared.binary, shared.kubeconfig, lease)
	if err != nil {
		first.Kill()
		w.Fatal(err)
	}
	w.running = second
	happen(first)
	w.paint("yellow")
}
