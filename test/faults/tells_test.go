package faults_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// breach breaks an invariant by hand, on a world at rest whose controller does not run.
type breach struct {
	name string
	// check is to find nothing before, and to say something with these words after do.
	check func(w *world) error
	words string
	do    func(w *world)
	// undo mends it; nil if that is not needed for the rows that follow.
	undo func(w *world)
}

// breaches are all but I5's, which needs a controller that runs.
func breaches(w *world, through client.Client, versions *map[string]string) []breach {
	var told v1alpha1.Rendering
	before := w.uids()
	return []breach{
		{"I1: an object has our label and stands in no Rendering", (*world).accounted, "stray", func(w *world) {
			w.create(ownedBy(&corev1.ConfigMap{ObjectMeta: w.meta("stray")}, w.uidOf("g")))
		}, func(w *world) { w.deleteByHand(&corev1.ConfigMap{ObjectMeta: w.meta("stray")}) }},
		{"I1: an object of a kind that nobody renders has our label", (*world).accounted, "ServiceAccount", func(w *world) {
			w.create(ownedBy(&corev1.ServiceAccount{ObjectMeta: w.meta("stray")}, w.uidOf("g")))
		}, func(w *world) { w.deleteByHand(&corev1.ServiceAccount{ObjectMeta: w.meta("stray")}) }},
		{"I1: an object belongs to a parent that is gone", (*world).accounted, "is gone", func(w *world) {
			w.create(ownedBy(&corev1.ConfigMap{ObjectMeta: w.meta("stray")}, "0000"))
		}, func(w *world) { w.deleteByHand(&corev1.ConfigMap{ObjectMeta: w.meta("stray")}) }},
		{"I2: a foreign object is changed", (*world).foreignUntouched, "bystander", func(w *world) { w.mud("bystander") },
			func(w *world) { w.noteForeign("bystander") }},
		{"I2: a kind is written to that nobody permitted", (*world).foreignUntouched, "nobody permitted", func(w *world) {
			createThrough(w, through, &corev1.Secret{ObjectMeta: w.meta("stray")})
		}, func(w *world) { w.mark = shared.proxy.Mark() }},
		{"I2: another namespace is written to", (*world).foreignUntouched, "another namespace", func(w *world) {
			createThrough(w, through, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", GenerateName: "stray-"}})
		}, func(w *world) { w.mark = shared.proxy.Mark() }},
		{"I2: a foreign object is deleted", (*world).foreignUntouched, "foreign", func(w *world) {
			if err := through.Delete(w.Context(), &corev1.ConfigMap{ObjectMeta: w.meta("bystander")}); err != nil {
				w.Fatal(err)
			}
		}, func(w *world) { w.mark = shared.proxy.Mark(); delete(w.foreign, w.key("bystander")) }},
		{"I4: a field is edited by hand", (*world).asRendered, "mud", func(w *world) { w.mud("g-config") }, func(w *world) {
			change(w, &corev1.ConfigMap{ObjectMeta: w.meta("g-config")}, func(c *corev1.ConfigMap) { c.Data["color"] = w.color })
		}},
		{"I4: a manifest is missing, so that nothing tells what it was", (*world).asRendered, "manifests", func(w *world) {
			w.rendering("g", func(r *v1alpha1.Rendering) { told = *r.DeepCopy(); r.Status.Rendered = r.Status.Rendered[1:] })
		}, func(w *world) { w.rendering("g", func(r *v1alpha1.Rendering) { r.Status = told.Status }) }},
		{"I6: the Gateway says that it is not in effect, and is", (*world).told, "Programmed", func(w *world) {
			w.setProgrammed(metav1.ConditionFalse)
		}, func(w *world) { w.setProgrammed(metav1.ConditionTrue) }},
		{"I6: the Gateway says that it is in effect, and is not", (*world).told, "mud", func(w *world) { w.mud("g-config") }, func(w *world) {
			change(w, &corev1.ConfigMap{ObjectMeta: w.meta("g-config")}, func(c *corev1.ConfigMap) { c.Data["color"] = w.color })
		}},
		{"I6: the Rendering tells of an older blueprint", (*world).told, "blueprint", func(w *world) {
			w.rendering("g", func(r *v1alpha1.Rendering) { told = *r.DeepCopy(); r.Status.BlueprintGeneration-- })
		}, func(w *world) { w.rendering("g", func(r *v1alpha1.Rendering) { r.Status = told.Status }) }},
		{"I6: the Gateway is reported on in an older generation", (*world).told, "generation", func(w *world) {
			change(w, &gatewayv1.Gateway{ObjectMeta: w.meta("g")}, func(g *gatewayv1.Gateway) { toggleFrom(g.Spec.Listeners[0].AllowedRoutes) })
		}, nil},
		{"I8: an object is changed", func(w *world) error { return w.untouched(*versions) }, "derived", func(w *world) {
			change(w, &corev1.ConfigMap{ObjectMeta: w.meta("g-derived")}, func(c *corev1.ConfigMap) { c.Labels["example.com/x"] = "y" })
		}, nil},
		{"I8: an object is deleted", func(w *world) error { return w.untouched(*versions) }, "extra", func(w *world) {
			w.deleteByHand(&corev1.Service{ObjectMeta: w.meta("g-extra")})
		}, nil},
		{"I3: an object is made anew", func(w *world) error { return w.kept(before) }, "g-extra", func(w *world) {
			w.create(ownedBy(&corev1.Service{ObjectMeta: w.meta("g-extra"),
				Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, w.uidOf("g")))
		}, nil},
	}
}

// TestTheCheckerTells breaks each invariant by hand and expects to hear of it: a checker that finds nothing may be one that does not look.
func TestTheCheckerTells(t *testing.T) {
	w := newWorld(t)
	w.gateway("g")
	w.start()
	w.converged()
	config, err := clientcmd.BuildConfigFromFlags("", shared.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	through, err := client.New(config, client.Options{Scheme: shared.client.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("I5: somebody writes through the controller's way", func(t *testing.T) {
		if err := w.rests(); err != nil {
			t.Errorf("before: %v", err)
		}
		stop := writeOnAndOn(w, through)
		tells(t, w.rests(), "writes go on")
		stop()
	})
	t.Run("I5: a report is written again and again", func(t *testing.T) {
		stop := reportOnAndOn(w, through)
		tells(t, w.rests(), "reports go on")
		stop()
	})
	w.kill()
	var versions map[string]string
	for _, b := range breaches(w, through, &versions) {
		t.Run(b.name, func(t *testing.T) {
			versions = w.versions()
			if err := b.check(w); err != nil {
				t.Fatalf("before: %v", err)
			}
			b.do(w)
			tells(t, b.check(w), b.words)
			if b.undo != nil {
				b.undo(w)
			}
		})
	}
}

// tells expects an error with some words.
func tells(t *testing.T, err error, words string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), words) {
		t.Errorf("the checker says %v; it should say something of %q", err, words)
	}
}

// writeOnAndOn annotates a rendered object until what it returns is called.
func writeOnAndOn(w *world, through client.Client) (stop func()) {
	config := &corev1.ConfigMap{ObjectMeta: w.meta("g-config")}
	return w.onAndOn(func(n int) {
		patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/n":"%d"}}}`, n)
		_ = through.Patch(context.Background(), config, client.RawPatch(types.MergePatchType, patch))
	})
}

// reportOnAndOn writes to the status of the Gateway until what it returns is called.
func reportOnAndOn(w *world, through client.Client) (stop func()) {
	gw := &gatewayv1.Gateway{ObjectMeta: w.meta("g")}
	return w.onAndOn(func(int) {
		_ = through.Status().Patch(context.Background(), gw, client.RawPatch(types.MergePatchType, []byte(`{"status":{}}`)))
	})
}

// onAndOn does something until what it returns is called, which waits for the last time, or the test ends.
func (w *world) onAndOn(do func(n int)) (stop func()) {
	over := make(chan struct{})
	var doing sync.WaitGroup
	doing.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-over:
				return
			default:
				do(n)
			}
		}
	})
	stop = sync.OnceFunc(func() {
		close(over)
		doing.Wait()
	})
	w.Cleanup(stop)
	return stop
}

// ownedBy gives an object our label.
func ownedBy[T client.Object](o T, owner types.UID) T {
	o.SetLabels(map[string]string{v1alpha1.LabelOwnerUID: string(owner)})
	return o
}

func (w *world) uidOf(gateway string) types.UID {
	w.Helper()
	gw := &gatewayv1.Gateway{}
	if err := shared.client.Get(w.Context(), w.key(gateway), gw); err != nil {
		w.Fatal(err)
	}
	return gw.UID
}

// createThrough makes an object in the way that the controller writes, and removes it again in another.
func createThrough(w *world, through client.Client, o client.Object) {
	w.Helper()
	if err := through.Create(w.Context(), o); err != nil {
		w.Fatal(err)
	}
	w.deleteByHand(o)
}

// rendering edits the status of a Rendering; it has no subresource for that.
func (w *world) rendering(name string, edit func(*v1alpha1.Rendering)) {
	w.Helper()
	change(w, &v1alpha1.Rendering{ObjectMeta: w.meta(name)}, edit)
}

func (w *world) setProgrammed(status metav1.ConditionStatus) {
	w.Helper()
	gw := &gatewayv1.Gateway{ObjectMeta: w.meta("g")}
	if err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(gw), gw); err != nil {
		w.Fatal(err)
	}
	for i := range gw.Status.Conditions {
		if gw.Status.Conditions[i].Type == string(gatewayv1.GatewayConditionProgrammed) {
			gw.Status.Conditions[i].Status = status
		}
	}
	if err := shared.client.Status().Update(w.Context(), gw, client.FieldOwner("by-hand")); err != nil {
		w.Fatal(err)
	}
}
