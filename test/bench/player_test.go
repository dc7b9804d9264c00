package bench

import (
	"context"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// player plays the controller of the inner class, and sees which Gateways of the outer one become Programmed.
type player struct {
	plane *plane
	stop  context.CancelFunc

	mu         sync.Mutex
	programmed map[string]int
	seen       map[client.ObjectKey]bool
}

// playInner programs the Gateways of the inner class as they come.
func (p *plane) playInner() *player {
	p.Helper()
	ctx, cancel := context.WithCancel(p.Context())
	play := &player{plane: p, stop: cancel, programmed: map[string]int{}, seen: map[client.ObjectKey]bool{}}
	gateways, err := ctrlcache.New(p.config, ctrlcache.Options{Scheme: p.client.Scheme(), Mapper: p.client.RESTMapper()})
	if err != nil {
		p.Fatal(err)
	}
	go func() {
		if err := gateways.Start(ctx); err != nil {
			p.Error(err)
		}
	}()
	informer, err := gateways.GetInformer(ctx, &gatewayv1.Gateway{})
	if err != nil {
		p.Fatal(err)
	}
	perform := func(o any) { play.perform(ctx, o.(*gatewayv1.Gateway)) }
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: perform, UpdateFunc: func(_, o any) { perform(o) },
	}); err != nil {
		p.Fatal(err)
	}
	return play
}

func (l *player) perform(ctx context.Context, gw *gatewayv1.Gateway) {
	programmed := string(gatewayv1.GatewayConditionProgrammed)
	current := false
	for _, c := range gw.Status.Conditions {
		current = current || c.Type == programmed && c.Status == metav1.ConditionTrue && c.ObservedGeneration == gw.Generation
	}
	switch {
	case gw.Spec.GatewayClassName == gatewayv1.ObjectName(l.plane.class) && current:
		l.mu.Lock()
		defer l.mu.Unlock()
		if key := client.ObjectKeyFromObject(gw); !l.seen[key] {
			l.seen[key] = true
			l.programmed[gw.Namespace]++
		}
	case gw.Spec.GatewayClassName == "inner" && !current:
		after := gw.DeepCopy()
		after.Status.Conditions = []metav1.Condition{{
			Type: programmed, Status: metav1.ConditionTrue, Reason: programmed, ObservedGeneration: gw.Generation,
			LastTransitionTime: metav1.Now(),
		}}
		// It may be gone by now, or be played already.
		_ = l.plane.client.Status().Patch(ctx, after, client.MergeFrom(gw))
	}
}

// await waits until this many Gateways of a namespace are Programmed.
func (l *player) await(namespace string, n int) {
	wait(l.plane.B, "Gateways are Programmed", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.programmed[namespace] >= n
	})
}
