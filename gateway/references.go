package gateway

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// Core kinds that are referred to.
const (
	kindSecret    gatewayv1.Kind = "Secret"
	kindConfigMap gatewayv1.Kind = "ConfigMap"
	kindService   gatewayv1.Kind = "Service"
)

// References are what objects refer to, as far as verdicts depend on it: what has to be known of it, and what wakes them when it
// changes. All lists are sorted and without duplicates.
type References struct {
	// Secrets, ConfigMaps and Services that are named, whether or not they exist and may be used.
	Secrets, ConfigMaps, Services []types.NamespacedName
	// Namespaces are those whose ReferenceGrants decide whether something in them may be used. An object needs no grant for its own.
	Namespaces []string
}

// ReferencesOfGateway are those of a Gateway: the certificates of its listeners, and what spec.tls names.
func ReferencesOfGateway(gw *gatewayv1.Gateway) References {
	var c collector
	c.listeners(gw.Namespace, gw.Spec.Listeners)
	for _, ref := range tlsReferences(gw) {
		c.add(gw.Namespace, ref.target, kindSecret, kindConfigMap)
	}
	return c.references()
}

// ReferencesOfListenerSet are those of a ListenerSet: the certificates of its listeners.
func ReferencesOfListenerSet(set *gatewayv1.ListenerSet) References {
	var c collector
	c.listeners(set.Namespace, entries(set))
	return c.references()
}

// ReferencesOfRoute are those of a route: its backends.
func ReferencesOfRoute(r Route) References {
	var c collector
	c.route(r)
	return c.references()
}

// References are those of the snapshot's Gateway, ListenerSets and routes.
func (s Snapshot) References() References {
	var c collector
	c.listeners(s.Gateway.Namespace, s.Gateway.Spec.Listeners)
	for _, ref := range tlsReferences(s.Gateway) {
		c.add(s.Gateway.Namespace, ref.target, kindSecret, kindConfigMap)
	}
	for _, set := range s.ListenerSets {
		c.listeners(set.Namespace, entries(set))
	}
	for _, r := range s.Routes {
		c.route(r)
	}
	return c.references()
}

// target is an object that is referred to.
type target struct {
	group gatewayv1.Group
	kind  gatewayv1.Kind
	types.NamespacedName
}

func (t target) is(kind gatewayv1.Kind) bool { return t.group == corev1.GroupName && t.kind == kind }

// secretTarget resolves a reference in the given namespace, with Gateway API's defaults for what it leaves out.
func secretTarget(ref gatewayv1.SecretObjectReference, home string) target {
	return target{valueOr(ref.Group, corev1.GroupName), valueOr(ref.Kind, kindSecret),
		types.NamespacedName{Namespace: namespaceOr(ref.Namespace, home), Name: string(ref.Name)}}
}

func objectTarget(ref gatewayv1.ObjectReference, home string) target {
	return target{ref.Group, ref.Kind, types.NamespacedName{Namespace: namespaceOr(ref.Namespace, home), Name: string(ref.Name)}}
}

func backendTarget(ref gatewayv1.BackendObjectReference, home string) target {
	return target{valueOr(ref.Group, corev1.GroupName), valueOr(ref.Kind, kindService),
		types.NamespacedName{Namespace: namespaceOr(ref.Namespace, home), Name: string(ref.Name)}}
}

// tlsReference is something that spec.tls of a Gateway names.
type tlsReference struct {
	path   string
	target target
}

// tlsReferences are all that spec.tls of a Gateway names, wherever in it.
func tlsReferences(gw *gatewayv1.Gateway) []tlsReference {
	if gw.Spec.TLS == nil {
		return nil
	}
	var out []tlsReference
	if backend := gw.Spec.TLS.Backend; backend != nil && backend.ClientCertificateRef != nil {
		out = append(out, tlsReference{clientCertificatePath, secretTarget(*backend.ClientCertificateRef, gw.Namespace)})
	}
	if frontend := gw.Spec.TLS.Frontend; frontend != nil {
		out = append(out, authorityReferences(gw, frontendPath+".default", frontend.Default)...)
		for i := range frontend.PerPort {
			out = append(out, authorityReferences(gw, perPortPath(i), frontend.PerPort[i].TLS)...)
		}
	}
	return out
}

const (
	frontendPath          = "spec.tls.frontend"
	clientCertificatePath = "spec.tls.backend.clientCertificateRef"
)

func perPortPath(i int) string { return fmt.Sprintf("%s.perPort[%d].tls", frontendPath, i) }

// authorityReferences are what one place of spec.tls.frontend names.
func authorityReferences(gw *gatewayv1.Gateway, at string, config gatewayv1.TLSConfig) []tlsReference {
	if config.Validation == nil {
		return nil
	}
	var out []tlsReference
	for i, ref := range config.Validation.CACertificateRefs {
		path := fmt.Sprintf("%s.validation.caCertificateRefs[%d]", at, i)
		out = append(out, tlsReference{path, objectTarget(ref, gw.Namespace)})
	}
	return out
}

// collector gathers references of many objects.
type collector struct {
	secrets, configMaps, services map[types.NamespacedName]struct{}
	namespaces                    map[string]struct{}
}

func (c *collector) listeners(home string, listeners []gatewayv1.Listener) {
	for i := range listeners {
		if !terminates(&listeners[i]) {
			continue
		}
		for _, ref := range listeners[i].TLS.CertificateRefs {
			c.add(home, secretTarget(ref, home), kindSecret)
		}
	}
}

func (c *collector) route(r Route) {
	home := r.Object.GetNamespace()
	for i := range r.Backends {
		c.add(home, backendTarget(r.Backends[i].Ref, home), kindService)
	}
}

// add notes what an object of the home namespace refers to. Of kinds that make no sense there, only the consent is asked for.
func (c *collector) add(home string, t target, sensible ...gatewayv1.Kind) {
	switch {
	case !slices.Contains(sensible, t.kind):
	case t.is(kindSecret):
		put(&c.secrets, t.NamespacedName)
	case t.is(kindConfigMap):
		put(&c.configMaps, t.NamespacedName)
	case t.is(kindService):
		put(&c.services, t.NamespacedName)
	}
	if t.Namespace != home {
		put(&c.namespaces, t.Namespace)
	}
}

func put[K comparable](set *map[K]struct{}, key K) {
	if *set == nil {
		*set = map[K]struct{}{}
	}
	(*set)[key] = struct{}{}
}

func (c *collector) references() References {
	return References{
		Secrets: sortedNames(c.secrets), ConfigMaps: sortedNames(c.configMaps), Services: sortedNames(c.services),
		Namespaces: slices.Sorted(maps.Keys(c.namespaces)),
	}
}

func sortedNames(set map[types.NamespacedName]struct{}) []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(set), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
