package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

// A ListenerSet that names a certificate of its Gateway's namespace would use it there without anybody's consent.
func TestACertificateOfAnotherNamespaceIsNotUsed(t *testing.T) {
	const https = gatewayv1.HTTPSProtocolType
	cases := map[string]struct {
		own  []gatewayv1.Listener
		sets []*gatewayv1.ListenerSet
		want map[string]string
	}{
		"a set that asks for nothing else is not attached": {
			[]gatewayv1.Listener{listener("own", gatewayv1.HTTPProtocolType, 80, "")},
			[]*gatewayv1.ListenerSet{set("tenant", "evil", 1, certIn(listener("l", https, 443, ""), "infra"))},
			map[string]string{"own": "ResolvedRefs", "l": "RefNotPermitted", "set evil": "ListenersNotValid"}},
		"a set keeps its other listeners": {
			[]gatewayv1.Listener{listener("own", gatewayv1.HTTPProtocolType, 80, "")},
			[]*gatewayv1.ListenerSet{set("tenant", "mixed", 1, certIn(listener("l", https, 443, ""), "infra"), withTLS(listener("m", https, 444, "")))},
			map[string]string{"own": "ResolvedRefs", "l": "RefNotPermitted", "m": "ResolvedRefs", "set mixed": "ListenersNotValid"}},
		"a Gateway is held to the same": {
			[]gatewayv1.Listener{listener("own", gatewayv1.HTTPProtocolType, 80, ""), certIn(listener("far", https, 443, ""), "tenant")},
			nil,
			map[string]string{"own": "ResolvedRefs", "far": "RefNotPermitted"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := gateway.Merge(gateway.Snapshot{Gateway: gw(fromAll, c.own...), ListenerSets: c.sets})
			got := map[string]string{}
			for _, l := range m.Listeners {
				got[string(l.Source.SectionName)] = l.ResolvedRefs.Reason
				if l.Usable != l.ResolvedRefs.OK || (l.Name != "") != l.Usable {
					t.Errorf("listener %s: usable %v, name %q, though ResolvedRefs is %v", l.Source.SectionName, l.Usable, l.Name, l.ResolvedRefs.OK)
				}
			}
			for _, s := range m.ListenerSets {
				got["set "+s.Object.Name] = s.Accepted.Reason
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("reasons: -want +got:\n%s", diff)
			}
			for _, l := range m.EffectiveGateway().Spec.Listeners {
				if l.Name == "l" || l.Name == "far" {
					t.Errorf("listener %s is rendered", l.Name)
				}
			}
		})
	}
}
