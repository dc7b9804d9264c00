package faults_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/test/controller"
)

// The templates: one that reads a value, one that depends on it, one that comes and goes, and one of a kind without namespaces,
// which no garbage collector removes.
const (
	configTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-config
data:
  color: {{ .Values.color }}
  listeners: {{ len .Listeners | quote }}
`
	derivedTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-derived
data:
  of: {{ (index .Resources.config 0).metadata.uid }}
`
	extraTemplate = `
apiVersion: v1
kind: Service
metadata:
  name: {{ .Gateway.metadata.name }}-extra
spec:
  ports:
    - port: 80
`
	clusterTemplate = `
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata:
  name: {{ uniqueName .Gateway.metadata.namespace .Gateway.metadata.name }}
value: 7
`
	fixedTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-fixed
immutable: true
data:
  color: {{ .Values.color }}
`
	routeTemplate = `
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .HTTPRoute.metadata.name }}-route
data:
  color: {{ .Values.color }}
`
)

// world is a test's own part of the cluster.
type world struct {
	*testing.T
	namespace string
	// name is that of the test's GatewayClass and blueprint.
	name string
	// color is what the policy says, and what is to be rendered.
	color string
	// extra says whether the blueprint has its template "extra".
	extra bool
	// fixed says whether it has its template "fixed", whose objects are immutable; recreate, whether they may be made anew.
	fixed, recreate bool
	// foreign are objects that nobody may touch, with the resource versions that they have.
	foreign map[client.ObjectKey]string
	// mark is where the journal of the proxy was when the world began.
	mark int
	// gateways are the names of those that are there, each with a ListenerSet and a route of its name.
	gateways map[string]bool
	// running is the controller, or nil; leased says that its lease may be in the namespace, and goes with it.
	running *controller.Controller
	leased  bool
}

// newWorld makes a world with a class and a policy, and no Gateway yet. The controller is not running.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{T: t, color: "red", extra: true, gateways: map[string]bool{}, mark: shared.proxy.Mark()}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "fault-"}}
	w.create(namespace)
	w.namespace, w.name = namespace.Name, namespace.Name
	shared.proxy.Restart(nil)
	t.Cleanup(w.tearDown)

	w.create(w.blueprint())
	w.create(&gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Spec: gatewayv1.GatewayClassSpec{
		ControllerName: v1alpha1.ControllerName,
		ParametersRef:  &gatewayv1.ParametersReference{Group: v1alpha1.GroupName, Kind: v1alpha1.KindGatewayClassBlueprint, Name: w.name},
	}})
	w.furnish()
	return w
}

// furnish fills the namespace with what is there before any Gateway is.
func (w *world) furnish() {
	w.Helper()
	w.create(&v1alpha1.GatewayConfig{ObjectMeta: w.meta("color"), Spec: v1alpha1.PolicySpec{
		TargetRefs:   []v1alpha1.PolicyTargetReference{{Kind: "Namespace", Name: gatewayv1.ObjectName(w.namespace)}},
		ValuesBlocks: w.values(),
	}})
	// Nobody may touch them: one has the name of what would be rendered for a Gateway "foreign".
	w.create(&corev1.ConfigMap{ObjectMeta: w.meta("foreign-config"), Data: map[string]string{"of": "somebody else"}})
	w.create(&corev1.ConfigMap{ObjectMeta: w.meta("bystander"), Data: map[string]string{"of": "somebody else"}})
	w.foreign = map[client.ObjectKey]string{}
	for _, name := range []string{"foreign-config", "bystander"} {
		w.noteForeign(name)
	}
}

// noteForeign notes down in which version a foreign object is to stay.
func (w *world) noteForeign(name string) {
	w.Helper()
	o := &corev1.ConfigMap{}
	if err := shared.client.Get(w.Context(), w.key(name), o); err != nil {
		w.Fatal(err)
	}
	w.foreign[w.key(name)] = o.ResourceVersion
}

// tearDown removes everything, with the controller's help, and leaves no controller running.
func (w *world) tearDown() {
	shared.proxy.Restart(nil)
	if w.leased {
		w.kill()
	}
	if w.running == nil {
		w.start()
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	class := &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	blueprint := &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	for _, o := range []client.Object{namespace, class, blueprint} {
		if err := shared.client.Delete(context.Background(), o); client.IgnoreNotFound(err) != nil {
			w.Errorf("removing %T: %v", o, err)
		}
	}
	for _, o := range []client.Object{namespace, class, blueprint} {
		w.eventually(fmt.Sprintf("%T %s is gone", o, o.GetName()), func() error { return gone(o) })
	}
	// Also what the namespace does not take along.
	if left := w.uids(); len(left) > 0 {
		w.Errorf("left over: %v", sorted(left))
	}
	w.kill()
}

func gone(o client.Object) error {
	err := shared.client.Get(context.Background(), client.ObjectKeyFromObject(o), o)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("it is there, deletionTimestamp %v, finalizers %v", o.GetDeletionTimestamp(), o.GetFinalizers())
	}
	return err
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: w.namespace, Name: name}
}

func (w *world) blueprint() *v1alpha1.GatewayClassBlueprint {
	b := &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	w.describe(b)
	return b
}

// describe writes down what the blueprint is to say.
func (w *world) describe(b *v1alpha1.GatewayClassBlueprint) {
	templates := map[string]string{"config": configTemplate, "derived": derivedTemplate, "cluster": clusterTemplate}
	if w.extra {
		templates["extra"] = extraTemplate
	}
	b.Spec.Recreate = nil
	if w.fixed {
		templates["fixed"] = fixedTemplate
	}
	if w.recreate {
		b.Spec.Recreate = []string{"fixed"}
	}
	b.Spec.GatewayTemplate = &v1alpha1.GatewayTemplate{ResourceTemplates: templates}
	b.Spec.HTTPRouteTemplate = &v1alpha1.RouteTemplate{ResourceTemplates: map[string]string{"route": routeTemplate}}
	b.Spec.Permits = &v1alpha1.Permits{ClusterScoped: true}
}

func (w *world) values() v1alpha1.ValuesBlocks {
	raw, err := json.Marshal(map[string]string{"color": w.color})
	if err != nil {
		w.Fatal(err)
	}
	return v1alpha1.ValuesBlocks{Default: &apiextensionsv1.JSON{Raw: raw}}
}

// gateway makes a Gateway with a ListenerSet and a route.
func (w *world) gateway(name string) {
	w.Helper()
	same := gatewayv1.NamespacesFromSame
	kind := gatewayv1.Kind("ListenerSet")
	w.create(&gatewayv1.Gateway{ObjectMeta: w.meta(name), Spec: gatewayv1.GatewaySpec{
		GatewayClassName: gatewayv1.ObjectName(w.name),
		Listeners:        []gatewayv1.Listener{{Name: "own", Port: 80, Protocol: gatewayv1.HTTPProtocolType}},
		AllowedListeners: &gatewayv1.AllowedListeners{Namespaces: &gatewayv1.ListenerNamespaces{From: &same}},
	}})
	w.create(&gatewayv1.ListenerSet{ObjectMeta: w.meta(name), Spec: gatewayv1.ListenerSetSpec{
		ParentRef: gatewayv1.ParentGatewayReference{Name: gatewayv1.ObjectName(name)},
		Listeners: []gatewayv1.ListenerEntry{{Name: "more", Port: 8080, Protocol: gatewayv1.HTTPProtocolType}},
	}})
	w.create(&gatewayv1.HTTPRoute{ObjectMeta: w.meta(name), Spec: gatewayv1.HTTPRouteSpec{
		CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{
			{Group: new(gatewayv1.Group(gatewayv1.GroupName)), Kind: &kind, Name: gatewayv1.ObjectName(name)},
		}},
	}})
	w.gateways[name] = true
}

// remove deletes a Gateway and its route. Its ListenerSet is left without a parent.
func (w *world) remove(name string) {
	w.Helper()
	for _, o := range []client.Object{
		&gatewayv1.Gateway{ObjectMeta: w.meta(name)}, &gatewayv1.HTTPRoute{ObjectMeta: w.meta(name)},
		&gatewayv1.ListenerSet{ObjectMeta: w.meta(name)},
	} {
		if err := shared.client.Delete(w.Context(), o); err != nil {
			w.Fatalf("deleting %T %s: %v", o, name, err)
		}
	}
	delete(w.gateways, name)
}

// paint changes the value that the policy sets.
func (w *world) paint(color string) {
	w.Helper()
	w.color = color
	change(w, &v1alpha1.GatewayConfig{ObjectMeta: w.meta("color")}, func(p *v1alpha1.GatewayConfig) { p.Spec.ValuesBlocks = w.values() })
}

// withExtra adds the template "extra" to the blueprint, or takes it away.
func (w *world) withExtra(extra bool) {
	w.Helper()
	w.extra = extra
	change(w, &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: w.name}}, w.describe)
}

func (w *world) create(o client.Object) {
	w.Helper()
	if err := shared.client.Create(w.Context(), o); err != nil {
		w.Fatalf("creating %T %s: %v", o, o.GetName(), err)
	}
}

// untiring wins a race for an object against others who write to it all the time.
var untiring = wait.Backoff{Steps: 1000, Duration: time.Millisecond}

// change edits an object as it is now.
func change[T client.Object](w *world, o T, edit func(T)) {
	w.Helper()
	err := retry.RetryOnConflict(untiring, func() error {
		if err := shared.client.Get(w.Context(), client.ObjectKeyFromObject(o), o); err != nil {
			return err
		}
		edit(o)
		return shared.client.Update(w.Context(), o, client.FieldOwner("by-hand"))
	})
	if err != nil {
		w.Fatalf("changing %T %s: %v", o, o.GetName(), err)
	}
}

// start runs the controller, without a lease, as the only one. It does not wait for anything.
func (w *world) start() {
	w.Helper()
	running, err := controller.Start(shared.binary, shared.kubeconfig, "--leader-elect=false")
	if err != nil {
		w.Fatal(err)
	}
	w.running = running
}

// kill ends the controller as a power cut would.
func (w *world) kill() {
	if w.running != nil {
		w.running.Kill()
		w.running = nil
	}
}

const logLines = 20

// logTail is the end of what the controller has to say, apart from how it started.
func (w *world) logTail() string {
	if w.running == nil {
		return "(it is not running)"
	}
	lines := slices.DeleteFunc(strings.Split(w.running.Log(), "\n"), func(line string) bool { return strings.Contains(line, `"level":"info"`) })
	return strings.Join(lines[max(0, len(lines)-logLines):], "\n")
}

const (
	// patience is only ever used up by a test that fails.
	patience = 3 * time.Minute
	glance   = 20 * time.Millisecond
)

// eventually waits until check finds nothing to complain of.
func (w *world) eventually(what string, check func() error) {
	w.Helper()
	complaint := errors.New("never looked")
	err := wait.PollUntilContextTimeout(context.Background(), glance, patience, true, func(context.Context) (bool, error) {
		complaint = check()
		return complaint == nil, nil
	})
	if err != nil {
		w.Fatalf("%s: not within %s: %v\nthe controller's log ends:\n%s", what, patience, complaint, w.logTail())
	}
}
