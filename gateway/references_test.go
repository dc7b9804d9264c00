package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
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
			m := merge(gateway.Snapshot{Gateway: gw(fromAll, c.own...), ListenerSets: c.sets})
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

// TestReferences promises all that verdicts depend on, and nothing else.
func TestReferences(t *testing.T) {
	key := func(namespace, name string) types.NamespacedName {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	passthrough := withCertificates(listener("pass", tls, 444, ""), secretRef("", "ignored"))
	passthrough.TLS.Mode = new(gatewayv1.TLSModePassthrough)
	foreign := secretRef("vault", "foreign")
	foreign.Group, foreign.Kind = new(gatewayv1.Group("example.com")), new(gatewayv1.Kind("Vault"))
	gw := gw(fromAll, listener("plain", http, 80, ""), passthrough,
		withCertificates(listener("one", https, 443, "a"), secretRef("infra", "near"), secretRef("certs", "far"), foreign),
		withCertificates(listener("two", https, 443, "b"), secretRef("", "near")))
	gw.Spec.TLS = frontend(authorityRef("ConfigMap", "", "ca"), authorityRef("Secret", "certs", "ca"), authorityRef("Service", "", "odd"))
	gw.Spec.TLS.Frontend.PerPort = []gatewayv1.TLSPortConfig{{Port: 8443, TLS: validating(authorityRef("ConfigMap", "authorities", "ca"))}}
	gw.Spec.TLS.Backend = &gatewayv1.GatewayBackendTLS{ClientCertificateRef: new(secretRef("", "client"))}
	set := set("team", "set", 1, withCertificates(listener("l", https, 443, "c"), secretRef("", "own"), secretRef("infra", "near")))
	r := httpRoute("team", "route")
	r.Spec.Rules = []gatewayv1.HTTPRouteRule{{
		BackendRefs: []gatewayv1.HTTPBackendRef{{BackendRef: backendRef("", "near")}, {BackendRef: backendRef("others", "far")}},
		Filters: []gatewayv1.HTTPRouteFilter{
			{RequestMirror: &gatewayv1.HTTPRequestMirrorFilter{BackendRef: backendRef("mirrors", "copy").BackendObjectReference}}},
	}}
	route := gateway.HTTPRoute(r)

	ofGateway := gateway.References{
		Secrets:    []types.NamespacedName{key("certs", "ca"), key("certs", "far"), key("infra", "client"), key("infra", "near")},
		ConfigMaps: []types.NamespacedName{key("authorities", "ca"), key("infra", "ca")},
		Namespaces: []string{"authorities", "certs", "vault"},
	}
	ofSet := gateway.References{Secrets: []types.NamespacedName{key("infra", "near"), key("team", "own")}, Namespaces: []string{"infra"}}
	ofRoute := gateway.References{
		Services:   []types.NamespacedName{key("mirrors", "copy"), key("others", "far"), key("team", "near")},
		Namespaces: []string{"mirrors", "others"},
	}
	ofAll := gateway.References{
		Secrets: []types.NamespacedName{
			key("certs", "ca"), key("certs", "far"), key("infra", "client"), key("infra", "near"), key("team", "own")},
		ConfigMaps: ofGateway.ConfigMaps, Services: ofRoute.Services,
		Namespaces: []string{"authorities", "certs", "infra", "mirrors", "others", "vault"},
	}
	for name, c := range map[string]struct{ got, want gateway.References }{
		"of a Gateway: certificates, authorities and what it shows to backends": {gateway.ReferencesOfGateway(gw), ofGateway},
		"of a ListenerSet: certificates":                                        {gateway.ReferencesOfListenerSet(set), ofSet},
		"of a route: backends, those of filters included":                       {gateway.ReferencesOfRoute(route), ofRoute},
		"of a snapshot: those of all its objects": {
			gateway.Snapshot{Gateway: gw, ListenerSets: []*gatewayv1.ListenerSet{set}, Routes: []gateway.Route{route}}.References(), ofAll},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, c.got); diff != "" {
				t.Errorf("references (-want +got):\n%s", diff)
			}
		})
	}
}
