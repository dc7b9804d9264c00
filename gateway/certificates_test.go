package gateway_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

// consent is a ReferenceGrant of a namespace for objects of one kind in another; name may be "" for all.
func consent(namespace string, from gatewayv1.Kind, fromNamespace gatewayv1.Namespace, to gatewayv1.Kind, name gatewayv1.ObjectName) *gatewayv1.ReferenceGrant {
	g := &gatewayv1.ReferenceGrant{ObjectMeta: meta(namespace, "grant", 0)}
	g.Spec.From = []gatewayv1.ReferenceGrantFrom{{Group: gatewayv1.GroupName, Kind: from, Namespace: fromNamespace}}
	g.Spec.To = []gatewayv1.ReferenceGrantTo{{Kind: to}}
	if name != "" {
		g.Spec.To[0].Name = &name
	}
	return g
}

// resolved is a listener in short.
type resolved struct {
	Accepted, ResolvedRefs, Programmed string
	Usable                             bool
	// Certificates are the names of those that are rendered.
	Certificates []gatewayv1.ObjectName
}

func resolvedOf(l gateway.Listener) resolved {
	out := resolved{short(l.Accepted), short(l.ResolvedRefs), short(l.Programmed), l.Usable, nil}
	for _, ref := range l.Certificates {
		out.Certificates = append(out.Certificates, ref.Name)
	}
	return out
}

// TestCertificates covers G1, and what else makes a certificateRef unusable (ListenerTLSConfig.CertificateRefs). The Secrets
// infra/good, team/good and certs/good are good, infra/bad is not, and there are no others.
func TestCertificates(t *testing.T) {
	key := func(namespace, name string) types.NamespacedName {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}
	good := func(names ...gatewayv1.ObjectName) resolved {
		return resolved{"True/Accepted", "True/ResolvedRefs", "True/Programmed", true, names}
	}
	partly := func(reason string, names ...gatewayv1.ObjectName) resolved {
		return resolved{"True/Accepted", "False/" + reason, "True/Programmed", true, names}
	}
	bad := func(reason string) resolved {
		return resolved{"True/Accepted", "False/" + reason, "False/Invalid", false, nil}
	}
	refs := func(refs ...gatewayv1.SecretObjectReference) gatewayv1.Listener {
		return withCertificates(listener("l", https, 443, ""), refs...)
	}
	ofKind := func(group gatewayv1.Group, kind gatewayv1.Kind) gatewayv1.SecretObjectReference {
		return gatewayv1.SecretObjectReference{Group: &group, Kind: &kind, Name: "good"}
	}
	passthrough := refs(secretRef("certs", "good"))
	passthrough.Protocol, passthrough.TLS.Mode = tls, new(gatewayv1.TLSModePassthrough)
	otherGroup := consent("certs", gateway.KindGateway, "infra", "Secret", "")
	otherGroup.Spec.From[0].Group = "example.com"

	for name, c := range map[string]struct {
		own, inSet gatewayv1.Listener
		grants     []*gatewayv1.ReferenceGrant
		want       resolved
	}{
		"a certificate beside the Gateway needs no grant": {own: refs(secretRef("", "good")), want: good("good")},
		"a namespace that is written out changes nothing": {own: refs(secretRef("infra", "good")), want: good("good")},
		"a Secret that does not exist is told":            {own: refs(secretRef("", "none")), want: bad("InvalidCertificateRef")},
		"a Secret that cannot be used is told":            {own: refs(secretRef("", "bad")), want: bad("InvalidCertificateRef")},
		"another kind is told":                            {own: refs(ofKind("", "ConfigMap")), want: bad("InvalidCertificateRef")},
		"another group is told":                           {own: refs(ofKind("example.com", "Secret")), want: bad("InvalidCertificateRef")},
		"one certificate of several is enough, and what is wrong with another is told": {
			own: refs(secretRef("", "none"), secretRef("", "good"), secretRef("certs", "good")), want: partly("InvalidCertificateRef", "good")},
		"all certificates that can be used are rendered": {
			own: refs(secretRef("", "good"), secretRef("", "bad"), secretRef("infra", "good")), want: partly("InvalidCertificateRef", "good", "good")},
		"what passes through has no certificates, permitted or not": {own: passthrough, want: good()},

		"G1 another namespace must permit it": {own: refs(secretRef("certs", "good")), want: bad("RefNotPermitted")},
		"G1 that is told even of a Secret that does not exist": {
			own: refs(secretRef("certs", "none")), want: bad("RefNotPermitted")},
		"G1 and of another kind": {
			own: refs(func() gatewayv1.SecretObjectReference {
				r := ofKind("", "ConfigMap")
				r.Namespace = new(gatewayv1.Namespace("certs"))
				return r
			}()),
			want: bad("RefNotPermitted")},
		"G1 a grant for all Secrets permits it": {
			own: refs(secretRef("certs", "good")), grants: []*gatewayv1.ReferenceGrant{consent("certs", gateway.KindGateway, "infra", "Secret", "")}, want: good("good")},
		"G1 a grant for this Secret permits it": {
			own: refs(secretRef("certs", "good")), grants: []*gatewayv1.ReferenceGrant{consent("certs", gateway.KindGateway, "infra", "Secret", "good")}, want: good("good")},
		"G1 with a grant it is told that the Secret does not exist": {
			own: refs(secretRef("certs", "none")), grants: []*gatewayv1.ReferenceGrant{consent("certs", gateway.KindGateway, "infra", "Secret", "")},
			want: bad("InvalidCertificateRef")},
		"G1 a grant for another Secret, kind, namespace or from another group, and one of another namespace, are none": {
			own: refs(secretRef("certs", "good")), grants: []*gatewayv1.ReferenceGrant{
				consent("certs", gateway.KindGateway, "infra", "Secret", "other"), consent("certs", gateway.KindGateway, "infra", "Service", ""),
				consent("certs", gateway.KindGateway, "team", "Secret", ""), consent("infra", gateway.KindGateway, "infra", "Secret", ""), otherGroup,
			}, want: bad("RefNotPermitted")},
		"G1 a grant for Gateways is none for their ListenerSets": {
			own: listener("own", http, 80, ""), inSet: refs(secretRef("certs", "good")), grants: []*gatewayv1.ReferenceGrant{
				consent("certs", gateway.KindGateway, "infra", "Secret", ""), consent("certs", gateway.KindGateway, "team", "Secret", "")},
			want: bad("RefNotPermitted")},
		"G1 a grant for ListenerSets is none for Gateways": {
			own: refs(secretRef("certs", "good")), grants: []*gatewayv1.ReferenceGrant{consent("certs", gateway.KindListenerSet, "infra", "Secret", "")},
			want: bad("RefNotPermitted")},
		"G1 a ListenerSet is permitted by a grant of its own": {
			own: listener("own", http, 80, ""), inSet: refs(secretRef("certs", "good")),
			grants: []*gatewayv1.ReferenceGrant{consent("certs", gateway.KindListenerSet, "team", "Secret", "")}, want: good("good")},
		"G1 the namespace of its Gateway is another one to a ListenerSet": {
			own: listener("own", http, 80, ""), inSet: refs(secretRef("infra", "good")), want: bad("RefNotPermitted")},
		"G1 a certificate beside the ListenerSet needs no grant": {
			own: listener("own", http, 80, ""), inSet: refs(secretRef("", "good")), want: good("good")},
	} {
		t.Run(name, func(t *testing.T) {
			s := gateway.Snapshot{Blueprint: everything, Gateway: gw(fromAll, listener("beside", http, 8080, ""), c.own), Grants: c.grants, Secrets: map[types.NamespacedName]gateway.Certificate{
				key("infra", "good"): {}, key("team", "good"): {}, key("certs", "good"): {}, key("infra", "bad"): {KeyPair: "it is bad"},
			}}
			if c.inSet.Name != "" {
				s.ListenerSets = []*gatewayv1.ListenerSet{set("team", "set", 1, c.inSet)}
			}
			m := merge(s)
			if diff := cmp.Diff(c.want, resolvedOf(m.Listeners[len(m.Listeners)-1])); diff != "" {
				t.Errorf("listener (-want +got):\n%s", diff)
			}
			var rendered []gatewayv1.ObjectName
			for _, l := range m.EffectiveGateway().Spec.Listeners {
				if l.TLS != nil {
					for _, ref := range l.TLS.CertificateRefs {
						rendered = append(rendered, ref.Name)
					}
				}
			}
			if diff := cmp.Diff(c.want.Certificates, rendered); diff != "" {
				t.Errorf("certificates in the effective Gateway (-want +got):\n%s", diff)
			}
		})
	}
}

// TestG2 promises that a set is not attached of which the only listener lacks a grant.
func TestG2(t *testing.T) {
	m := merge(gateway.Snapshot{
		Gateway:      gw(fromAll, listener("own", http, 80, "")),
		ListenerSets: []*gatewayv1.ListenerSet{set("team", "set", 1, certIn(listener("l", https, 443, ""), "certs"))},
	})
	want := outcome{
		Gateway:   "True/Accepted",
		Listeners: []string{"Gateway infra/gw own = own: True/Accepted", "ListenerSet team/set l: True/Accepted"},
		Sets:      []string{"team/set: False/ListenersNotValid, False/ListenersNotValid"},
	}
	if diff := cmp.Diff(want, outcomeOf(m)); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

// TestTLSModes promises that a listener that speaks TLS must say how, in a way that the data plane can.
func TestTLSModes(t *testing.T) {
	bare := func(protocol gatewayv1.ProtocolType) gatewayv1.Listener {
		l := listener("l", protocol, 443, "")
		l.TLS = nil
		return l
	}
	mode := func(protocol gatewayv1.ProtocolType, mode gatewayv1.TLSModeType, refs ...gatewayv1.SecretObjectReference) gatewayv1.Listener {
		l := withCertificates(bare(protocol), refs...)
		l.TLS.Mode = &mode
		return l
	}
	const terminate, pass = gatewayv1.TLSModeTerminate, gatewayv1.TLSModePassthrough
	options := mode(https, terminate)
	options.TLS.Options = map[gatewayv1.AnnotationKey]gatewayv1.AnnotationValue{"example.com/certificate": "x"}
	terminating := everything.DeepCopy()
	terminating.Spec.Supports = &v1alpha1.Supports{Features: []string{"TLSRouteModeTerminate"}}
	own := everything.DeepCopy()
	own.Spec.Supports = &v1alpha1.Supports{OwnCertificates: true}
	invalid := []string{"False/InvalidTLSConfig", "False/InvalidTLSConfig"}
	fine := []string{"True/Accepted", "True/Programmed"}

	for name, c := range map[string]struct {
		blueprint *v1alpha1.GatewayClassBlueprint
		listener  gatewayv1.Listener
		want      []string
	}{
		"HTTPS without tls is invalid":                                    {everything, bare(https), invalid},
		"HTTPS without certificates is invalid":                           {everything, mode(https, terminate), invalid},
		"HTTPS without mode ends at the listener":                         {everything, mode(https, "", secretRef("", "cert")), fine},
		"HTTPS with options that only the data plane understands is fine": {everything, options, fine},
		"HTTPS must not pass through":                                     {everything, mode(https, pass), invalid},
		"TLS without tls is invalid":                                      {everything, bare(tls), invalid},
		"TLS may pass through":                                            {everything, mode(tls, pass), fine},
		"TLS may not end at the listener where that is not claimed":       {everything, mode(tls, terminate, secretRef("", "cert")), []string{"False/UnsupportedValue", "False/Invalid"}},
		"TLS may end at the listener where that is claimed":               {terminating, mode(tls, terminate, secretRef("", "cert")), fine},
		"TLS that ends at the listener without certificates is invalid":   {terminating, mode(tls, terminate), invalid},
		"a data plane with own certificates needs none":                   {own, bare(https), fine},
		"nor where tls names none":                                        {own, mode(https, terminate), fine},
		"HTTPS must not pass through there either":                        {own, mode(https, pass), invalid},
	} {
		t.Run(name, func(t *testing.T) {
			l := merge(gateway.Snapshot{Blueprint: c.blueprint, Gateway: gw(nil, c.listener)}).Listeners[0]
			if diff := cmp.Diff(c.want, []string{short(l.Accepted), short(l.Programmed)}); diff != "" {
				t.Errorf("Accepted and Programmed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMixedTLS promises that TLS ends and passes through on one port only where the data plane claims to be able to do both, and
// that no kind of route can attach to a listener that is refused for it.
func TestMixedTLS(t *testing.T) {
	ends := withCertificates(listener("ends", tls, 443, "a.example.com"), secretRef("", "cert"))
	for name, c := range map[string]struct {
		features []string
		port     int32
		want     []string
	}{
		"both are in conflict":                              {[]string{"TLSRouteModeTerminate"}, 443, []string{"False/ProtocolConflict", "False/ProtocolConflict"}},
		"on two ports they are not":                         {[]string{"TLSRouteModeTerminate"}, 444, []string{"True/Accepted", "True/Accepted"}},
		"where both can be had they are not":                {[]string{"TLSRouteModeTerminate", "TLSRouteModeMixed"}, 443, []string{"True/Accepted", "True/Accepted"}},
		"where TLS cannot end at all, the other one stands": {nil, 443, []string{"False/UnsupportedValue", "True/Accepted"}},
	} {
		t.Run(name, func(t *testing.T) {
			blueprint := everything.DeepCopy()
			blueprint.Spec.Supports = &v1alpha1.Supports{Features: c.features}
			m := merge(gateway.Snapshot{Blueprint: blueprint, Gateway: gw(nil, ends, listener("passes", tls, c.port, "b.example.com"))})
			if diff := cmp.Diff(c.want, []string{short(m.Listeners[0].Accepted), short(m.Listeners[1].Accepted)}); diff != "" {
				t.Errorf("Accepted (-want +got):\n%s", diff)
			}
			for _, l := range m.Listeners {
				if diff := cmp.Diff(l.Accepted.OK, len(l.SupportedKinds) > 0); diff != "" {
					t.Errorf("listener %s has kinds of routes (-want +got):\n%s", l.Source.SectionName, diff)
				}
			}
		})
	}
}

// TestClientValidation covers spec.tls.frontend: an unusable authority matters to the HTTPS listeners of its port alone
// (FrontendTLSValidation.CACertificateRefs).
func TestClientValidation(t *testing.T) {
	key := types.NamespacedName{Namespace: "infra", Name: "ca"}
	fine := resolved{"True/Accepted", "True/ResolvedRefs", "True/Programmed", true, []gatewayv1.ObjectName{"cert"}}
	hopeless := func(reason string) resolved {
		return resolved{"False/NoValidCACertificate", "False/" + reason, "False/Invalid", false, []gatewayv1.ObjectName{"cert"}}
	}
	partly := resolved{"True/Accepted", "False/InvalidCACertificateRef", "True/Programmed", true, []gatewayv1.ObjectName{"cert"}}
	good, none := authorityRef("ConfigMap", "", "ca"), authorityRef("ConfigMap", "", "none")
	for name, c := range map[string]struct {
		byDefault, perPort gatewayv1.TLSConfig
		grants             []*gatewayv1.ReferenceGrant
		// want are the listeners on 443 and 8443, and that of a ListenerSet on 444.
		want []resolved
		// frontend is what is rendered of spec.tls.frontend.
		frontend gatewayv1.FrontendTLSConfig
	}{
		"a ConfigMap with certificates is good": {
			byDefault: validating(good), want: []resolved{fine, fine, fine}, frontend: gatewayv1.FrontendTLSConfig{Default: validating(good)}},
		"so is a Secret": {
			byDefault: validating(authorityRef("Secret", "", "ca")), want: []resolved{fine, fine, fine},
			frontend: gatewayv1.FrontendTLSConfig{Default: validating(authorityRef("Secret", "", "ca"))}},
		"one that does not exist shuts the listeners, those of ListenerSets too": {
			byDefault: validating(none),
			want:      []resolved{hopeless("InvalidCACertificateRef"), hopeless("InvalidCACertificateRef"), hopeless("InvalidCACertificateRef")}},
		"the setting of a port stands in the place of the default": {
			byDefault: validating(none), perPort: validating(good),
			want: []resolved{hopeless("InvalidCACertificateRef"), fine, hopeless("InvalidCACertificateRef")}},
		"a port is shut alone": {
			byDefault: validating(good), perPort: validating(authorityRef("Service", "", "ca")),
			want: []resolved{fine, hopeless("InvalidCACertificateKind"), fine}, frontend: gatewayv1.FrontendTLSConfig{Default: validating(good)}},
		"one that can be used is enough": {
			byDefault: validating(none, good), want: []resolved{partly, partly, partly}, frontend: gatewayv1.FrontendTLSConfig{Default: validating(good)}},
		"another namespace must permit it": {
			byDefault: validating(authorityRef("ConfigMap", "certs", "ca")),
			want:      []resolved{hopeless("RefNotPermitted"), hopeless("RefNotPermitted"), hopeless("RefNotPermitted")}},
		"and may, to the Gateway": {
			byDefault: validating(authorityRef("ConfigMap", "certs", "ca")), grants: []*gatewayv1.ReferenceGrant{consent("certs", gateway.KindGateway, "infra", "ConfigMap", "ca")},
			want: []resolved{fine, fine, fine}, frontend: gatewayv1.FrontendTLSConfig{Default: validating(authorityRef("ConfigMap", "certs", "ca"))}},
	} {
		t.Run(name, func(t *testing.T) {
			gw := gw(fromAll, listener("one", https, 443, ""), listener("two", https, 8443, ""), listener("plain", http, 80, ""))
			gw.Spec.TLS = &gatewayv1.GatewayTLSConfig{Frontend: &gatewayv1.FrontendTLSConfig{Default: c.byDefault}}
			if c.perPort.Validation != nil {
				gw.Spec.TLS.Frontend.PerPort = []gatewayv1.TLSPortConfig{{Port: 8443, TLS: c.perPort}}
				c.frontend.PerPort = []gatewayv1.TLSPortConfig{{Port: 8443}}
				if c.want[1].Usable {
					c.frontend.PerPort[0].TLS = c.perPort
				}
			}
			s := gateway.Snapshot{
				Gateway: gw, Grants: c.grants, ListenerSets: []*gatewayv1.ListenerSet{set("team", "set", 1, listener("three", https, 444, ""))},
				ConfigMaps: map[types.NamespacedName]gateway.Certificate{key: {}, {Namespace: "certs", Name: "ca"}: {}},
			}
			m := merge(s)
			if diff := cmp.Diff(c.want, []resolved{resolvedOf(m.Listeners[0]), resolvedOf(m.Listeners[1]), resolvedOf(m.Listeners[3])}); diff != "" {
				t.Errorf("listeners (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff("True/Accepted", short(m.Listeners[2].Accepted)); diff != "" {
				t.Errorf("the listener without TLS (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(&c.frontend, m.EffectiveGateway().Spec.TLS.Frontend); diff != "" {
				t.Errorf("spec.tls.frontend as rendered (-want +got):\n%s", diff)
			}
		})
	}
}

// TestGatewayResolvedRefs covers the Gateway's own conditions about spec.tls.
func TestGatewayResolvedRefs(t *testing.T) {
	backend := func(ref gatewayv1.SecretObjectReference) *gatewayv1.GatewayTLSConfig {
		return &gatewayv1.GatewayTLSConfig{Backend: &gatewayv1.GatewayBackendTLS{ClientCertificateRef: &ref}}
	}
	insecure := frontend(authorityRef("ConfigMap", "", "ca"))
	insecure.Frontend.Default.Validation.Mode = gatewayv1.AllowInsecureFallback
	const cert = "True/ResolvedRefs"
	for name, c := range map[string]struct {
		tls      *gatewayv1.GatewayTLSConfig
		listener gatewayv1.Listener
		want     string
		insecure bool
		// kept says that the client's certificate is rendered.
		kept bool
	}{
		"a Gateway without spec.tls has no such condition": {listener: certIn(listener("l", https, 443, ""), "certs")},
		"a client's certificate that can be used is fine":  {tls: backend(secretRef("", "cert")), want: cert, kept: true},
		"one that does not exist is told":                  {tls: backend(secretRef("", "none")), want: "False/InvalidClientCertificateRef"},
		"one of another namespace must be permitted":       {tls: backend(secretRef("certs", "cert")), want: "False/RefNotPermitted"},
		"listeners that lack something are summed up": {
			tls: backend(secretRef("", "cert")), listener: certIn(listener("l", https, 443, ""), "certs"), want: "False/ListenersNotResolved", kept: true},
		"clients without certificates are told": {tls: insecure, want: cert, insecure: true},
	} {
		t.Run(name, func(t *testing.T) {
			gw := gw(nil, listener("plain", http, 80, ""))
			if c.listener.Name != "" {
				gw.Spec.Listeners = append(gw.Spec.Listeners, c.listener)
			}
			gw.Spec.TLS = c.tls
			m := merge(gateway.Snapshot{Gateway: gw, Secrets: map[types.NamespacedName]gateway.Certificate{{Namespace: "infra", Name: "cert"}: {}}})
			got := ""
			if m.ResolvedRefs != nil {
				got = short(*m.ResolvedRefs)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("ResolvedRefs (-want +got):\n%s", diff)
			}
			if !m.Accepted.OK || (m.InsecureFrontend != nil) != c.insecure {
				t.Errorf("Accepted %v, InsecureFrontend %v", m.Accepted, m.InsecureFrontend)
			}
			effective := m.EffectiveGateway().Spec.TLS
			if kept := effective != nil && effective.Backend != nil && effective.Backend.ClientCertificateRef != nil; kept != c.kept {
				t.Errorf("the client's certificate is rendered: %t, want %t", kept, c.kept)
			}
		})
	}
}

// TestC1AListenerKeepsItsHostnameWhileItsCertificateIsMissing holds that a certificate that is being replaced gives nobody else
// the chance to serve the hostname in between.
func TestC1AListenerKeepsItsHostnameWhileItsCertificateIsMissing(t *testing.T) {
	pay := func(secret gatewayv1.ObjectName) gatewayv1.Listener {
		return withCertificates(listener("pay", https, 443, "pay.example.com"), secretRef("", secret))
	}
	s := gateway.Snapshot{
		Gateway:      gw(letIn(gatewayv1.NamespacesFromAll, nil), listener("http", http, 80, ""), pay("gone")),
		ListenerSets: []*gatewayv1.ListenerSet{set("evil", "hijack", 1, pay("good"))},
		Namespaces:   namespaces(nil, "infra", "evil"),
		Secrets:      map[types.NamespacedName]gateway.Certificate{{Namespace: "evil", Name: "good"}: {}},
	}
	var got []resolved
	for _, l := range merge(s).Listeners {
		got = append(got, resolvedOf(l))
	}
	want := []resolved{
		{"True/Accepted", "True/ResolvedRefs", "True/Programmed", true, nil},
		{"True/Accepted", "False/InvalidCertificateRef", "False/Invalid", false, nil},
		{"False/HostnameConflict", "True/ResolvedRefs", "False/HostnameConflict", false, []gatewayv1.ObjectName{"good"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("listeners: -want +got:\n%s", diff)
	}
}
