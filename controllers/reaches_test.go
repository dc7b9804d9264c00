package controllers

import (
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
)

func TestManyPoliciesComputeTheirPartsOnce(t *testing.T) {
	blueprint := &v1alpha1.GatewayClassBlueprint{ObjectMeta: metav1.ObjectMeta{Name: "bp"}}
	ready, v := compile(blueprint)
	if ready == nil {
		t.Fatal(v.Message)
	}
	policies := newPolicies()
	snapshot := func(n int) gateway.Snapshot {
		s := gateway.Snapshot{
			Class:     &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: "class"}},
			Blueprint: blueprint, Gateway: &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}},
			Namespaces: map[string]labels.Set{"shop": nil},
		}
		for i := range n {
			policy := &v1alpha1.GatewayConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: fmt.Sprintf("p-%d", i), Generation: 1}}
			policy.Spec.TargetRefs = []v1alpha1.PolicyTargetReference{{Group: gatewayv1.GroupName, Kind: "Gateway", Name: "web"}}
			s.Policies = append(s.Policies, policy)
		}
		return s
	}
	computed, begun := 0, false
	isBegun := func() bool { return begun }
	r := newReaches()
	// ask is what the reconcile of one policy asks.
	ask := func(s gateway.Snapshot) *parts {
		return r.get(s, ready, isBegun, func() desired.Inputs {
			computed++
			return desired.Inputs{
				Snapshot: s, Merged: gateway.Merge(s), Program: ready.program, Blueprint: ready.values, Policies: policies.all(s.Policies),
				Begun: isBegun,
			}
		})
	}
	const n = 1000
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() { ask(snapshot(n)) })
	}
	wait.Wait()
	if computed != 1 {
		t.Errorf("%d policies computed %d times, want once", n, computed)
	}
	if found := ask(snapshot(n)).of["GatewayConfig/shop/p-999"]; len(found) != 1 || computed != 1 {
		t.Errorf("the last policy has %d parts, after %d computations; want 1 of each", len(found), computed)
	}
	if ask(snapshot(n - 1)); computed != 2 {
		t.Errorf("without one of the policies: computed %d times, want twice", computed)
	}
	held := func() string { return ask(snapshot(n)).of["GatewayConfig/shop/p-0"][0].held }
	if held() == "" {
		t.Error("nothing is there of the Gateway, which has no listeners, and its values are in effect")
	}
	begun = true
	if first, again := held(), held(); first != "" || again != "" || computed != 4 {
		t.Errorf("something is there of the Gateway, and its values are held; computed %d times, want 4 times", computed)
	}
	r.forget(client.ObjectKeyFromObject(snapshot(0).Gateway))
	if len(r.entries) != 0 {
		t.Error("a Gateway that is gone is remembered")
	}
}
