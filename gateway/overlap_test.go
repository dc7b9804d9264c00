package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

// TestOverlappingTLS covers ListenerConditionOverlappingTLSConfig: the condition is there or it is not, never False.
func TestOverlappingTLS(t *testing.T) {
	for name, c := range map[string]struct {
		own, theirs []gatewayv1.Listener
		want        []gatewayv1.SectionName
	}{
		"a name and the wildcard above it, and not a third name": {
			own:  []gatewayv1.Listener{listener("a", https, 443, "a.example.com"), listener("b", https, 443, "a.example.org"), listener("c", https, 443, "*.example.com")},
			want: []gatewayv1.SectionName{"a", "c"}},
		"a wildcard several labels above": {
			own:  []gatewayv1.Listener{listener("a", https, 443, "a.b.example.com"), listener("b", https, 443, "*.com")},
			want: []gatewayv1.SectionName{"a", "b"}},
		"two wildcards": {
			own:  []gatewayv1.Listener{listener("a", https, 443, "*.b.example.com"), listener("b", https, 443, "*.example.com")},
			want: []gatewayv1.SectionName{"a", "b"}},
		"no hostname and any": {
			own:  []gatewayv1.Listener{listener("a", https, 443, ""), listener("b", https, 443, "b.example.com")},
			want: []gatewayv1.SectionName{"a", "b"}},
		"HTTPS and TLS": {
			own:  []gatewayv1.Listener{listener("a", https, 443, "a.example.com"), listener("b", tls, 443, "*.example.com")},
			want: []gatewayv1.SectionName{"a", "b"}},
		"listeners of different objects": {
			own: []gatewayv1.Listener{listener("a", https, 443, "a.example.com")}, theirs: []gatewayv1.Listener{listener("b", https, 443, "*.example.com")},
			want: []gatewayv1.SectionName{"a", "b"}},
		"the apex is not below its wildcard": {
			own: []gatewayv1.Listener{listener("a", https, 443, "example.com"), listener("b", https, 443, "*.example.com")}},
		"other ports do not matter": {
			own: []gatewayv1.Listener{listener("a", https, 443, ""), listener("b", https, 444, "b.example.com")}},
		"HTTP does not matter": {
			own: []gatewayv1.Listener{listener("a", http, 80, ""), listener("b", http, 80, "b.example.com")}},
		"what is not rendered does not matter": {
			own: []gatewayv1.Listener{listener("a", https, 443, "a.example.com"), certIn(listener("b", https, 443, "*.example.com"), "certs")}},
	} {
		t.Run(name, func(t *testing.T) {
			s := gateway.Snapshot{Blueprint: everything, Gateway: gw(fromAll, c.own...)}
			if c.theirs != nil {
				s.ListenerSets = []*gatewayv1.ListenerSet{set("team", "set", 1, c.theirs...)}
			}
			var got []gatewayv1.SectionName
			for _, l := range merge(s).Listeners {
				if l.OverlappingTLS != nil {
					got = append(got, l.Source.SectionName)
					if short(*l.OverlappingTLS) != "True/OverlappingHostnames" {
						t.Errorf("listener %s: %s", l.Source.SectionName, short(*l.OverlappingTLS))
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("listeners that overlap (-want +got):\n%s", diff)
			}
		})
	}
}
