package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

// TestWithdrawn promises which listeners are left to render of a Gateway that is not accepted: those that are still asked for and
// permitted, whatever is said of them. Expected are those, with their certificates, and what the Gateway and each listener is told.
func TestWithdrawn(t *testing.T) {
	type left struct {
		Gateway   string
		Listeners []string
		Rendered  map[string][]string
	}
	secret := func(namespace, name string) types.NamespacedName {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	odd := listener("odd", "INVALID", 80, "")
	own := withCertificates(listener("own", https, 443, ""), secretRef("", "mine"))
	shop := listener("shop", http, 80, "shop.example.com")
	guest := set("team-a", "shop", 1, shop)
	const ofGuest = "ListenerSet team-a/shop shop"
	for name, c := range map[string]struct {
		allowed *gatewayv1.AllowedListeners
		own     []gatewayv1.Listener
		sets    []*gatewayv1.ListenerSet
		grants  []*gatewayv1.ReferenceGrant
		secrets map[types.NamespacedName]gateway.Certificate
		address string
		want    left
	}{
		"a certificate that is missing is left to who serves the listener": {
			own: []gatewayv1.Listener{own},
			want: left{"False/ListenersNotValid", []string{"Gateway infra/gw own = own: True/Accepted"},
				map[string][]string{"own": {"mine"}}}},
		"a certificate that cannot be read is, too": {
			own:     []gatewayv1.Listener{own},
			secrets: map[types.NamespacedName]gateway.Certificate{secret("infra", "mine"): {KeyPair: "it is broken"}},
			want: left{"False/ListenersNotValid", []string{"Gateway infra/gw own = own: True/Accepted"},
				map[string][]string{"own": {"mine"}}}},
		"it is left out as long as another listener of the Gateway is good": {
			own: []gatewayv1.Listener{own, listener("http", http, 80, "")},
			want: left{"True/ListenersNotValid", []string{"Gateway infra/gw own: True/Accepted", "Gateway infra/gw http = http: True/Accepted"},
				map[string][]string{"http": nil}}},
		"a certificate that the listener may not use any more is not": {
			own:  []gatewayv1.Listener{withCertificates(own, secretRef("vault", "theirs"))},
			want: left{"False/ListenersNotValid", []string{"Gateway infra/gw own: True/Accepted"}, map[string][]string{}}},
		"of several certificates those stay that it may use": {
			own: []gatewayv1.Listener{withCertificates(own, secretRef("vault", "theirs"), secretRef("", "mine"))},
			want: left{"False/ListenersNotValid", []string{"Gateway infra/gw own = own: True/Accepted"},
				map[string][]string{"own": {"mine"}}}},
		"what is no Secret is no certificate": {
			own:  []gatewayv1.Listener{withCertificates(own, gatewayv1.SecretObjectReference{Kind: new(gatewayv1.Kind("ConfigMap")), Name: "mine"})},
			want: left{"False/ListenersNotValid", []string{"Gateway infra/gw own: True/Accepted"}, map[string][]string{}}},
		"listeners of ListenerSets stay, and are told that the Gateway is not accepted": {
			allowed: fromAll, own: []gatewayv1.Listener{odd}, sets: []*gatewayv1.ListenerSet{guest},
			want: left{"False/ListenersNotValid",
				[]string{"Gateway infra/gw odd: False/UnsupportedProtocol", ofGuest + " = shop: False/ParentNotAccepted"},
				map[string][]string{"shop": nil}}},
		"they keep their place behind a listener of the Gateway that lacks its certificate": {
			allowed: fromAll, own: []gatewayv1.Listener{own},
			sets:    []*gatewayv1.ListenerSet{set("team-a", "shop", 1, listener("own", http, 80, ""), listener("late", https, 443, ""))},
			secrets: map[types.NamespacedName]gateway.Certificate{secret("team-a", "cert"): {}},
			want: left{"False/ListenersNotValid",
				[]string{"Gateway infra/gw own = own: True/Accepted",
					"ListenerSet team-a/shop own = own-1b2e814efc: False/ParentNotAccepted", "ListenerSet team-a/shop late: False/ParentNotAccepted"},
				map[string][]string{"own": {"mine"}, "own-1b2e814efc": nil}}},
		"a ListenerSet that is not let in any more goes": {
			allowed: fromSame, own: []gatewayv1.Listener{odd}, sets: []*gatewayv1.ListenerSet{guest},
			want: left{"False/ListenersNotValid", []string{"Gateway infra/gw odd: False/UnsupportedProtocol"}, map[string][]string{}}},
		"a ListenerSet's certificate that it may not use any more takes the listener along": {
			allowed: fromAll, own: []gatewayv1.Listener{odd},
			sets: []*gatewayv1.ListenerSet{set("team-a", "shop", 1, withCertificates(listener("shop", https, 443, ""), secretRef("vault", "theirs")))},
			want: left{"False/ListenersNotValid",
				[]string{"Gateway infra/gw odd: False/UnsupportedProtocol", ofGuest + ": False/ParentNotAccepted"}, map[string][]string{}}},
		"addresses that are not supported do not stop what runs": {
			allowed: fromAll, own: []gatewayv1.Listener{listener("own", http, 80, "")}, sets: []*gatewayv1.ListenerSet{guest}, address: "192.0.2.1",
			want: left{"False/UnsupportedAddress",
				[]string{"Gateway infra/gw own = own: True/Accepted", ofGuest + " = shop: False/ParentNotAccepted"},
				map[string][]string{"own": nil, "shop": nil}}},
	} {
		t.Run(name, func(t *testing.T) {
			s := gateway.Snapshot{
				Gateway: gw(c.allowed, c.own...), ListenerSets: c.sets, Grants: c.grants, Secrets: c.secrets,
				Namespaces: namespaces(nil, "infra", "team-a"),
			}
			if c.address != "" {
				s.Gateway.Spec.Addresses = []gatewayv1.GatewaySpecAddress{{Value: c.address}}
			}
			m := gateway.Merge(s)
			got := left{Gateway: short(m.Accepted), Rendered: map[string][]string{}}
			for _, l := range m.Listeners {
				got.Listeners = append(got.Listeners, line(l))
			}
			effective := m.EffectiveGateway()
			for _, l := range effective.Spec.Listeners {
				got.Rendered[string(l.Name)] = nil
				if l.TLS != nil {
					for _, ref := range l.TLS.CertificateRefs {
						got.Rendered[string(l.Name)] = append(got.Rendered[string(l.Name)], string(ref.Name))
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]gatewayv1.GatewaySpecAddress(nil), effective.Spec.Addresses); diff != "" {
				t.Errorf("addresses that are rendered (-want +got):\n%s", diff)
			}
		})
	}
}
