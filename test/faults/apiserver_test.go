package faults_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/test/faults/faultproxy"
)

func apiServerKilled(w *world) {
	w.restartAPIServer()
	w.paint("green")
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

// etcdInBursts has etcd stand still for a while, and run for a shorter one, all through a change of values and the coming and going
// of Gateways.
func etcdInBursts(w *world) {
	stop := bursts(w)
	for round := range 5 {
		name := fmt.Sprintf("slow%d", round)
		w.paint(fmt.Sprintf("color-%d", round))
		w.gateway(name)
		if round%2 == 0 {
			w.eventually("a new Gateway is Programmed", func() error { return w.gatewayWanted(name) })
			w.remove(name)
		}
	}
	stop()
}

const (
	still   = 400 * time.Millisecond
	running = 100 * time.Millisecond
)

// bursts pauses etcd again and again until what it returns is called, which leaves it running.
func bursts(w *world) (stop func()) {
	signal := func(send func() error) {
		if err := send(); err != nil {
			w.Error(err)
		}
	}
	return w.onAndOn(func(int) {
		signal(shared.server.PauseEtcd)
		<-time.After(still)
		signal(shared.server.ResumeEtcd)
		<-time.After(running)
	})
}

func slowAnswers(w *world) {
	shared.proxy.Restart(func(r faultproxy.Request) faultproxy.Answer {
		if r.Verb == "watch" {
			return faultproxy.Answer{}
		}
		return faultproxy.Answer{Before: func() { <-time.After(100 * time.Millisecond) }}
	})
	w.paint("green")
}

// nothingButErrors refuses everything, reads and watches too, for so many requests that every watch has begun anew some times.
func nothingButErrors(w *world) {
	const refusals = 150
	var refused atomic.Int32
	shared.proxy.Restart(func(faultproxy.Request) faultproxy.Answer {
		if refused.Add(1) <= refusals {
			return faultproxy.Answer{Status: http.StatusInternalServerError}
		}
		return faultproxy.Answer{}
	})
	shared.proxy.DropWatches()
	w.paint("green")
}

func watchesDropped(w *world) {
	shared.proxy.DropWatches()
	w.paint("green")
	shared.proxy.DropWatches()
}

func watchesGone(w *world) {
	var gone atomic.Int32
	shared.proxy.Restart(func(r faultproxy.Request) faultproxy.Answer {
		if r.Verb == "watch" && gone.Add(1) <= 20 {
			return faultproxy.Answer{Status: http.StatusGone}
		}
		return faultproxy.Answer{}
	})
	shared.proxy.DropWatches()
	w.paint("green")
}

func everyThirdConflicts(w *world) {
	shared.proxy.Restart(func(r faultproxy.Request) faultproxy.Answer {
		if r.Write() && r.Number%3 == 0 {
			return faultproxy.Answer{Status: http.StatusConflict}
		}
		return faultproxy.Answer{}
	})
	w.paint("green")
	w.gateway("h")
	w.eventually("a new Gateway is Programmed", func() error { return w.gatewayWanted("h") })
	w.remove("h")
	w.eventually("all is as wanted", w.wanted)
	shared.proxy.Restart(nil)
}

// othersWrite has somebody annotate everything that the controller reads and writes, without a pause, while values change.
func othersWrite(w *world) {
	objects := []client.Object{
		&gatewayv1.Gateway{ObjectMeta: w.meta("g")}, &gatewayv1.ListenerSet{ObjectMeta: w.meta("g")},
		&gatewayv1.HTTPRoute{ObjectMeta: w.meta("g")}, &v1alpha1.GatewayConfig{ObjectMeta: w.meta("color")},
		&v1alpha1.Rendering{ObjectMeta: w.meta("g")}, &corev1.ConfigMap{ObjectMeta: w.meta("g-config")},
		&corev1.Service{ObjectMeta: w.meta("g-extra")},
		&gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: w.name}},
		&v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: w.name}},
	}
	var writes atomic.Int32
	var stops []func()
	for _, o := range objects {
		stops = append(stops, w.onAndOn(func(n int) {
			patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/storm":"%d"}}}`, n)
			if shared.client.Patch(context.Background(), o, client.RawPatch(types.MergePatchType, patch)) == nil {
				writes.Add(1)
			}
		}))
	}
	for round := range 5 {
		w.paint(fmt.Sprintf("color-%d", round))
		w.eventually("the new values are in effect", func() error { return w.gatewayWanted("g") })
	}
	for _, stop := range stops {
		stop()
	}
	if writes.Load() == 0 {
		w.Error("nobody else wrote anything")
	}
}
