package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/test/faults/faultproxy"
)

// deleteByHand deletes an object as somebody would who does not know whose it is.
func (w *world) deleteByHand(o client.Object) {
	w.Helper()
	if err := shared.client.Delete(w.Context(), o); err != nil {
		w.Fatalf("deleting %T %s: %v", o, o.GetName(), err)
	}
}

// mud edits a field of a ConfigMap that is ours.
func (w *world) mud(name string) {
	w.Helper()
	change(w, &corev1.ConfigMap{ObjectMeta: w.meta(name)}, func(c *corev1.ConfigMap) { c.Data["color"] = "mud" })
}

// nameTaken makes a Gateway whose first object has the name of somebody else's.
func nameTaken(w *world) {
	w.gateway("foreign")
	w.eventually("it is told", func() error { return w.notProgrammed("foreign") })
	w.remove("foreign")
}

// immutableRefused changes what may not be changed. The object stays, and the Gateway says so until the change is taken back.
func immutableRefused(w *world) {
	w.withFixed(false)
	before := w.versions()["ConfigMap/g-fixed"]
	color := w.color
	w.paint("green")
	w.eventually("the refusal is told", func() error { return w.notProgrammed("g") })
	w.eventually("everything else goes on", w.configPainted)
	if after := w.versions()["ConfigMap/g-fixed"]; after != before {
		w.Errorf("the immutable object was changed: its version was %q and is %q", before, after)
	}
	w.paint(color)
}

func immutableMadeAnew(w *world) {
	w.withFixed(true)
	before := w.uids()["ConfigMap/g-fixed"]
	w.paint("green")
	w.eventually("all is as wanted", w.wanted)
	if w.uids()["ConfigMap/g-fixed"] == before {
		w.Error("the immutable object is still the same")
	}
}

// withFixed adds an immutable object, and waits for it.
func (w *world) withFixed(recreate bool) {
	w.Helper()
	w.fixed, w.recreate = true, recreate
	change(w, w.blueprint(), w.describe)
	w.eventually("the immutable object is there", w.wanted)
	w.fence()
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
	w.fence()
	w.kill()
	w.start()
	w.fence()
	change(w, service, func(s *corev1.Service) { s.Finalizers = nil })
	w.eventually("the Service is gone", func() error { return gone(service) })
}

// deleteBlocked deletes a Gateway of which somebody's finalizer keeps a cluster-scoped object. It waits, and another controller that
// comes meanwhile waits too.
func deleteBlocked(w *world) {
	const finalizer = "example.com/wait"
	class := w.priorityClass()
	change(w, class, func(p *schedulingv1.PriorityClass) { p.Finalizers = append(p.Finalizers, finalizer) })
	w.remove("g")
	w.eventually("the object is marked for deletion", func() error { return marked(class) })
	w.kill()
	w.start()
	gw := &gatewayv1.Gateway{ObjectMeta: w.meta("g")}
	if err := marked(gw); err != nil {
		w.Errorf("the Gateway does not wait: %v", err)
	}
	change(w, class, func(p *schedulingv1.PriorityClass) { p.Finalizers = nil })
	w.eventually("the Gateway is gone", func() error { return gone(gw) })
	w.gateway("g")
}

// goneBeforeProtected deletes a Gateway when the controller has seen it and is about to put its finalizer on it. Nothing may be applied for
// it then: nobody would remove a cluster-scoped object.
func goneBeforeProtected(w *world) {
	gw := &gatewayv1.Gateway{ObjectMeta: w.meta("h")}
	deleted := make(chan struct{})
	remove := sync.OnceFunc(func() {
		w.deleteByHand(gw)
		close(deleted)
	})
	shared.proxy.Restart(func(r faultproxy.Request) faultproxy.Answer {
		if r.Write() && r.Resource == "gateways.gateway.networking.k8s.io" && r.Name == "h" {
			return faultproxy.Answer{Before: remove}
		}
		return faultproxy.Answer{}
	})
	w.gateway("h")
	w.eventually("the Gateway is deleted", func() error {
		select {
		case <-deleted:
			return nil
		default:
			return fmt.Errorf("the controller did not come to it")
		}
	})
	w.deleteByHand(&gatewayv1.HTTPRoute{ObjectMeta: w.meta("h")})
	w.deleteByHand(&gatewayv1.ListenerSet{ObjectMeta: w.meta("h")})
	delete(w.gateways, "h")
	// Whoever goes on as if it were there has done so when later changes are answered.
	w.fence()
}

// priorityClass is that of the only Gateway.
func (w *world) priorityClass() *schedulingv1.PriorityClass {
	w.Helper()
	list := &schedulingv1.PriorityClassList{}
	if err := shared.client.List(w.Context(), list, client.HasLabels{v1alpha1.LabelOwnerUID}); err != nil || len(list.Items) != 1 {
		w.Fatalf("looking for one PriorityClass: %d, %v", len(list.Items), err)
	}
	return &list.Items[0]
}

func marked(o client.Object) error {
	if err := shared.client.Get(context.Background(), client.ObjectKeyFromObject(o), o); err != nil {
		return err
	}
	if o.GetDeletionTimestamp() == nil {
		return fmt.Errorf("%T %s is not marked for deletion", o, o.GetName())
	}
	return nil
}

// forbidChildren answers as if the permission to write objects in the namespace were gone, as a RoleBinding is that goes first.
func forbidChildren(r faultproxy.Request) faultproxy.Answer {
	if r.Write() && (r.Resource == "configmaps" || r.Resource == "services" || strings.HasPrefix(r.Resource, "renderings.")) {
		return faultproxy.Answer{Status: http.StatusForbidden}
	}
	return faultproxy.Answer{}
}

// namespaceDeleted deletes the namespace with all that is in it. Its policy goes first, so that what is still there cannot be rendered
// any more; nothing may be changed for that.
func namespaceDeleted(w *world, rule faultproxy.Rule) {
	before := w.versions()
	shared.proxy.Restart(rule)
	w.deleteByHand(&v1alpha1.GatewayConfig{ObjectMeta: w.meta("color")})
	w.eventually("the missing value is told", func() error { return w.notProgrammed("g") })
	w.holdsStill(before)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	w.deleteByHand(namespace)
	w.eventually("the namespace is gone", func() error { return gone(namespace) })
	if left := w.uids(); len(left) > 0 {
		w.Errorf("left over: %v", sorted(left))
	}
	shared.proxy.Restart(nil)
	delete(w.gateways, "g")
	w.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}})
	w.furnish()
	w.gateway("g")
}

// foughtOver has another controller put its own value into a field whenever ours is there. It is told, and ours yields for a while.
func foughtOver(w *world) {
	before := shared.proxy.Mark()
	config := &corev1.ConfigMap{}
	w.eventually("the fight is told", func() error {
		if err := shared.client.Get(context.Background(), w.key("g-config"), config); err != nil {
			return err
		}
		if config.Data["color"] != "mud" {
			config.Data["color"] = "mud"
			if err := shared.client.Update(context.Background(), config, client.FieldOwner("other-controller")); err != nil && !apierrors.IsConflict(err) {
				return err
			}
		}
		report := &v1alpha1.Rendering{}
		if err := shared.client.Get(context.Background(), w.key("g"), report); err != nil {
			return err
		}
		applied := meta.FindStatusCondition(report.Status.Conditions, v1alpha1.ConditionApplied)
		if applied == nil || applied.Reason != v1alpha1.ReasonThrashing {
			return fmt.Errorf("Applied is %v", applied)
		}
		return nil
	})
	writes := 0
	for _, r := range shared.proxy.Since(before) {
		if r.Resource == "configmaps" && r.Name == "g-config" {
			writes++
		}
	}
	if writes > 25 {
		w.Errorf("the field was fought over in %d writes", writes)
	}
	// What is new is written at once.
	w.paint("green")
}
