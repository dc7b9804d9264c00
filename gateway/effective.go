package gateway

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// EffectiveGateway returns a copy of the Gateway as templates see it: spec.listeners holds the usable listeners, those of
// ListenerSets included, under their unique names and each saying explicitly what its source left to be understood. References
// that cannot be used, addresses that are not supported, and labels and annotations of infrastructure that are not its owner's to
// give are left out.
func (m Merged) EffectiveGateway() *gatewayv1.Gateway {
	gw := m.Gateway.DeepCopy()
	gw.Spec.TLS = m.TLS.DeepCopy()
	gw.Spec.Infrastructure = Infrastructure(gw)
	gw.Spec.Addresses = nil
	for i := range m.Addresses {
		gw.Spec.Addresses = append(gw.Spec.Addresses, *m.Addresses[i].DeepCopy())
	}
	gw.Spec.Listeners = make([]gatewayv1.Listener, 0, len(m.Listeners))
	for i := range m.Listeners {
		if l := &m.Listeners[i]; l.Usable {
			gw.Spec.Listeners = append(gw.Spec.Listeners, l.Effective(gw.Namespace))
		}
	}
	return gw
}

// Infrastructure returns a copy of a Gateway's spec.infrastructure without the labels and annotations of our domain and of Gateway
// API's: they say whose an object is, which is not for a Gateway's owner to say. It is nil if the Gateway has none.
func Infrastructure(gw *gatewayv1.Gateway) *gatewayv1.GatewayInfrastructure {
	out := gw.Spec.Infrastructure.DeepCopy()
	if out != nil {
		maps.DeleteFunc(out.Labels, func(key gatewayv1.LabelKey, _ gatewayv1.LabelValue) bool { return reserved(string(key)) })
		maps.DeleteFunc(out.Annotations, func(key gatewayv1.AnnotationKey, _ gatewayv1.AnnotationValue) bool {
			return reserved(string(key))
		})
	}
	return out
}

// reserved says whether the key of a label or annotation belongs to our domain or to that of Gateway API.
func reserved(key string) bool {
	domain, _, _ := strings.Cut(key, "/")
	for _, ours := range []string{v1alpha1.GroupName, gatewayv1.GroupName} {
		if domain == ours || strings.HasSuffix(domain, "."+ours) {
			return true
		}
	}
	return false
}

// Effective returns a copy of the listener under its unique name, meaning the same in the given namespace as it does in
// that of its source: Same and a certificateRef without namespace are relative to a ListenerSet's own namespace (GEP-1713),
// and would silently mean another one when copied into a Gateway elsewhere.
func (l *Listener) Effective(namespace string) gatewayv1.Listener {
	out := *l.Spec.DeepCopy()
	out.Name = l.Name
	if out.TLS != nil {
		// What passes through ignores its certificates, and nobody looked whether they may be used.
		out.TLS.CertificateRefs = nil
		for i := range l.Certificates {
			out.TLS.CertificateRefs = append(out.TLS.CertificateRefs, *l.Certificates[i].DeepCopy())
		}
	}
	if out.AllowedRoutes != nil {
		out.AllowedRoutes.Kinds = l.kindsThatAre(out.AllowedRoutes.Kinds)
	}
	if l.Source.Namespace == namespace {
		return out
	}
	if rule := routeRule(l); rule.from == gatewayv1.NamespacesFromSame {
		if out.AllowedRoutes == nil {
			out.AllowedRoutes = &gatewayv1.AllowedRoutes{}
		}
		out.AllowedRoutes.Namespaces = &gatewayv1.RouteNamespaces{
			From:     new(gatewayv1.NamespacesFromSelector),
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: rule.home}},
		}
	}
	if out.TLS != nil {
		for i := range out.TLS.CertificateRefs {
			ref := &out.TLS.CertificateRefs[i]
			ref.Namespace = new(gatewayv1.Namespace(namespaceOr(ref.Namespace, l.Source.Namespace)))
		}
	}
	return out
}

// kindsThatAre leaves out the kinds of routes that are not supported: one listener that asks for them would spoil what all share.
// If none is left, all stay, since none would mean all to whoever reads it.
func (l *Listener) kindsThatAre(asked []gatewayv1.RouteGroupKind) []gatewayv1.RouteGroupKind {
	supported := slices.DeleteFunc(slices.Clone(asked), func(k gatewayv1.RouteGroupKind) bool {
		return valueOr(k.Group, gatewayv1.GroupName) != gatewayv1.GroupName ||
			!slices.ContainsFunc(l.SupportedKinds, func(s gatewayv1.RouteGroupKind) bool { return s.Kind == k.Kind })
	})
	if len(supported) == 0 {
		return asked
	}
	return supported
}
