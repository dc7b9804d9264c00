package conformance

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

const (
	// innerClass is the GatewayClass that the player implements: shadow Gateways are of it.
	innerClass = "inner"
	// innerController is what the player calls itself where others report too.
	innerController = "example.net/inner"
	// assigned is the address of a shadow Gateway that asks for none, usable and unusable are what it may ask for, with and
	// without success. They are of the ranges for documentation (RFC 5737), so that nobody ever answers.
	assigned = "192.0.2.1"
	usable   = "192.0.2.2"
	unusable = "198.51.100.1"
)

// player plays what is missing on a control plane without nodes: the controller of the inner class, and the kubelet. It makes
// everything accepted and ready, at its present generation, and knows nothing of the suite's tests.
type player struct{ client.Client }

// newPlayer returns a manager of the player. It plays once the manager is started.
func newPlayer(config *rest.Config) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.UserAgent = "player"
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, HealthProbeBindAddress: "0",
	})
	if err != nil {
		return nil, err
	}
	p := &player{mgr.GetClient()}
	for _, kind := range []client.Object{
		&corev1.Pod{}, &gatewayv1.GatewayClass{}, &gatewayv1.Gateway{}, &gatewayv1.ListenerSet{},
		&gatewayv1.HTTPRoute{}, &gatewayv1.GRPCRoute{}, &gatewayv1.TLSRoute{}, &gatewayv1.TCPRoute{}, &gatewayv1.UDPRoute{},
	} {
		if err := ctrl.NewControllerManagedBy(mgr).For(kind).Complete(p.reconciler(kind)); err != nil {
			return nil, err
		}
	}
	return mgr, nil
}

// errLater means that a parent is not there, or not known yet.
var errLater = errors.New("the parent is not there")

// reconciler writes the status of each object of a kind, unless it says already what it should.
func (p *player) reconciler(kind client.Object) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
		o := kind.DeepCopyObject().(client.Object)
		if err := p.Get(ctx, request.NamespacedName, o); err != nil {
			return ctrl.Result{}, client.IgnoreNotFound(err)
		}
		before := o.DeepCopyObject()
		err := p.play(ctx, o)
		if errors.Is(err, errLater) {
			return ctrl.Result{RequeueAfter: time.Second}, nil
		}
		if err != nil || equality.Semantic.DeepEqual(before, o) {
			return ctrl.Result{}, err
		}
		// What is gone needs no status, and what has changed meanwhile comes again.
		err = client.IgnoreNotFound(p.Status().Update(ctx, o))
		if apierrors.IsConflict(err) {
			err = nil
		}
		return ctrl.Result{}, err
	})
}

// play gives an object the status that it should have.
func (p *player) play(ctx context.Context, o client.Object) error {
	switch o := o.(type) {
	case *corev1.Pod:
		beReady(o)
	case *gatewayv1.GatewayClass:
		if o.Name == innerClass {
			setTrue(&o.Status.Conditions, o.Generation, "Accepted")
		}
	case *gatewayv1.Gateway:
		if o.Spec.GatewayClassName == innerClass {
			programGateway(o)
		}
	case *gatewayv1.ListenerSet:
		return p.programListenerSet(ctx, o)
	case *gatewayv1.HTTPRoute:
		return p.acceptRoute(ctx, o, o.Spec.ParentRefs, &o.Status.RouteStatus)
	case *gatewayv1.GRPCRoute:
		return p.acceptRoute(ctx, o, o.Spec.ParentRefs, &o.Status.RouteStatus)
	case *gatewayv1.TLSRoute:
		return p.acceptRoute(ctx, o, o.Spec.ParentRefs, &o.Status.RouteStatus)
	case *gatewayv1.TCPRoute:
		return p.acceptRoute(ctx, o, o.Spec.ParentRefs, &o.Status.RouteStatus)
	case *gatewayv1.UDPRoute:
		return p.acceptRoute(ctx, o, o.Spec.ParentRefs, &o.Status.RouteStatus)
	}
	return nil
}

func beReady(pod *corev1.Pod) {
	pod.Status.Phase = corev1.PodRunning
	if len(pod.Status.Conditions) == 0 {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
}

func programGateway(gateway *gatewayv1.Gateway) {
	setTrue(&gateway.Status.Conditions, gateway.Generation, "Accepted", "Programmed")
	gateway.Status.Addresses = addresses(gateway.Spec.Addresses)
	if slices.ContainsFunc(gateway.Spec.Addresses, isUnusable) {
		set(&gateway.Status.Conditions, gateway.Generation, "Programmed", metav1.ConditionFalse, "AddressNotUsable")
	}
	before := gateway.Status.Listeners
	gateway.Status.Listeners = nil
	for _, listener := range gateway.Spec.Listeners {
		gateway.Status.Listeners = append(gateway.Status.Listeners, programListener(listener.Name, before, gateway.Generation))
	}
}

// programListener is the status of a listener, given those of before.
func programListener(name gatewayv1.SectionName, before []gatewayv1.ListenerStatus, generation int64) gatewayv1.ListenerStatus {
	status := gatewayv1.ListenerStatus{Name: name}
	if i := slices.IndexFunc(before, func(l gatewayv1.ListenerStatus) bool { return l.Name == name }); i >= 0 {
		status = before[i]
	}
	setTrue(&status.Conditions, generation, "Accepted", "Programmed", "ResolvedRefs")
	return status
}

// addresses are those that the inner class gives to a Gateway that asks for some.
func addresses(wanted []gatewayv1.GatewaySpecAddress) []gatewayv1.GatewayStatusAddress {
	if len(wanted) == 0 {
		wanted = []gatewayv1.GatewaySpecAddress{{}}
	}
	var given []gatewayv1.GatewayStatusAddress
	for _, address := range wanted {
		if isUnusable(address) {
			continue
		}
		if address.Value == "" {
			address.Value = assigned
		}
		given = append(given, gatewayv1.GatewayStatusAddress{
			Type: new(ptr.Deref(address.Type, gatewayv1.IPAddressType)), Value: address.Value,
		})
	}
	return given
}

func isUnusable(address gatewayv1.GatewaySpecAddress) bool { return address.Value == unusable }

func (p *player) programListenerSet(ctx context.Context, set *gatewayv1.ListenerSet) error {
	inner, err := p.isInnerSet(ctx, set)
	if err != nil || !inner {
		return err
	}
	setTrue(&set.Status.Conditions, set.Generation, "Accepted", "Programmed")
	var before []gatewayv1.ListenerStatus
	for _, listener := range set.Status.Listeners {
		before = append(before, gatewayv1.ListenerStatus(listener))
	}
	set.Status.Listeners = nil
	for _, listener := range set.Spec.Listeners {
		status := programListener(listener.Name, before, set.Generation)
		set.Status.Listeners = append(set.Status.Listeners, gatewayv1.ListenerEntryStatus(status))
	}
	return nil
}

// acceptRoute reports on those parents of a route that are of the inner class, and leaves to others what they reported.
func (p *player) acceptRoute(ctx context.Context, route client.Object, refs []gatewayv1.ParentReference, status *gatewayv1.RouteStatus) error {
	var parents []gatewayv1.RouteParentStatus
	for _, parent := range status.Parents {
		if parent.ControllerName != innerController {
			parents = append(parents, parent)
		}
	}
	for _, ref := range refs {
		inner, err := p.isInnerParent(ctx, route.GetNamespace(), ref)
		if err != nil {
			return err
		}
		if !inner {
			continue
		}
		parent := gatewayv1.RouteParentStatus{ParentRef: ref, ControllerName: innerController}
		for _, before := range status.Parents {
			if before.ControllerName == innerController && equality.Semantic.DeepEqual(before.ParentRef, ref) {
				parent = *before.DeepCopy()
			}
		}
		setTrue(&parent.Conditions, route.GetGeneration(), "Accepted", "ResolvedRefs")
		parents = append(parents, parent)
	}
	status.Parents = parents
	return nil
}

// isInnerParent tells whether a parent of a route is a Gateway of the inner class or a ListenerSet of one.
func (p *player) isInnerParent(ctx context.Context, namespace string, ref gatewayv1.ParentReference) (bool, error) {
	key := types.NamespacedName{
		Namespace: string(ptr.Deref(ref.Namespace, gatewayv1.Namespace(namespace))), Name: string(ref.Name),
	}
	if ptr.Deref(ref.Kind, "Gateway") != "ListenerSet" {
		return p.isInnerGateway(ctx, key)
	}
	set := &gatewayv1.ListenerSet{}
	if err := p.Get(ctx, key, set); err != nil {
		return false, laterIfNotFound(err)
	}
	return p.isInnerSet(ctx, set)
}

func (p *player) isInnerSet(ctx context.Context, set *gatewayv1.ListenerSet) (bool, error) {
	return p.isInnerGateway(ctx, types.NamespacedName{
		Namespace: string(ptr.Deref(set.Spec.ParentRef.Namespace, gatewayv1.Namespace(set.Namespace))),
		Name:      string(set.Spec.ParentRef.Name),
	})
}

func (p *player) isInnerGateway(ctx context.Context, key types.NamespacedName) (bool, error) {
	gateway := &gatewayv1.Gateway{}
	if err := p.Get(ctx, key, gateway); err != nil {
		return false, laterIfNotFound(err)
	}
	return gateway.Spec.GatewayClassName == innerClass, nil
}

// setTrue keeps the times of conditions that are true already, so that a second look changes nothing.
func setTrue(conditions *[]metav1.Condition, generation int64, types ...string) {
	for _, conditionType := range types {
		set(conditions, generation, conditionType, metav1.ConditionTrue, conditionType)
	}
}

func set(conditions *[]metav1.Condition, generation int64, conditionType string, status metav1.ConditionStatus, reason string) {
	meta.SetStatusCondition(conditions, metav1.Condition{
		Type: conditionType, Status: status, Reason: reason, Message: "played", ObservedGeneration: generation,
	})
}

func laterIfNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return errLater
	}
	return err
}

func TestAShadowGatewayGetsWhatItAsksForIfThatIsUsable(t *testing.T) {
	hostname, ip := gatewayv1.HostnameAddressType, gatewayv1.IPAddressType
	cases := map[string]struct {
		wanted []gatewayv1.GatewaySpecAddress
		want   []gatewayv1.GatewayStatusAddress
	}{
		"one is assigned to a Gateway that asks for none": {
			want: []gatewayv1.GatewayStatusAddress{{Type: &ip, Value: assigned}},
		},
		"one is assigned to a Gateway that asks for any of a type": {
			wanted: []gatewayv1.GatewaySpecAddress{{Type: &hostname}},
			want:   []gatewayv1.GatewayStatusAddress{{Type: &hostname, Value: assigned}},
		},
		"an unusable one is left out, and no other given instead": {
			wanted: []gatewayv1.GatewaySpecAddress{{Value: unusable}, {Type: &ip, Value: usable}},
			want:   []gatewayv1.GatewayStatusAddress{{Type: &ip, Value: usable}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, addresses(c.wanted)); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}
