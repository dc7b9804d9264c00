package gateway

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/verdict"
)

// resolver follows references. Each is judged in this order: whether it is permitted, whether its kind is supported, and whether
// what it names exists and can be used. So nothing is said of an object of another namespace that must not be referred to, not
// even whether it exists.
type resolver struct {
	snapshot Snapshot
	grants   grants
	support  support
	frontend frontend
}

func newResolver(s Snapshot, supported support) resolver {
	r := resolver{snapshot: s, grants: grantsOf(s.Grants), support: supported}
	r.frontend = r.frontendOf(s.Gateway)
	return r
}

// certificates resolves what a listener names in tls.certificateRefs. It returns those references that can be used, and why the
// first of the others cannot; nil if there is none. A listener that has one certificate that can be used goes on with that: to
// have more than one is implementation-specific (ListenerTLSConfig.CertificateRefs).
func (r resolver) certificates(l *Listener) ([]gatewayv1.SecretObjectReference, *verdict.Verdict) {
	if !terminates(&l.Spec) {
		return nil, nil
	}
	from := referrer{l.Source.Kind, l.Source.Namespace}
	refs := l.Spec.TLS.CertificateRefs
	usable := refs[:0:0]
	var first *verdict.Verdict
	for i := range refs {
		why := r.keyPair(from, secretTarget(refs[i], from.namespace), func() string { return fmt.Sprintf("tls.certificateRefs[%d]", i) },
			string(gatewayv1.ListenerReasonInvalidCertificateRef))
		switch {
		case why == nil && len(usable) == i:
			usable = refs[: i+1 : i+1] // nothing was left out yet
		case why == nil:
			usable = append(usable, refs[i])
		case first == nil:
			first = why
		}
	}
	return usable, first
}

// permittedCertificates are those references of a listener to Secrets that it may use, whatever is in them.
func (r resolver) permittedCertificates(l *Listener) []gatewayv1.SecretObjectReference {
	from := referrer{l.Source.Kind, l.Source.Namespace}
	return slices.DeleteFunc(slices.Clone(l.Spec.TLS.CertificateRefs), func(ref gatewayv1.SecretObjectReference) bool {
		to := secretTarget(ref, from.namespace)
		return !to.is(kindSecret) || !r.grants.permit(from, to)
	})
}

// keyPair says why a Secret with a certificate and its key cannot be used; nil if it can.
func (r resolver) keyPair(from referrer, to target, path func() string, invalid string) *verdict.Verdict {
	if !r.grants.permit(from, to) {
		return refNotPermitted(path(), from)
	}
	if !to.is(kindSecret) {
		return new(verdict.No(invalid, "%s names an object of a kind that is not supported; name a Secret, with the group left out", path()))
	}
	content, exists := r.snapshot.Secrets[to.NamespacedName]
	return unusable(invalid, path, kindSecret, exists, content.KeyPair)
}

// authorities is keyPair for a ConfigMap or Secret with certificates of authorities.
func (r resolver) authorities(from referrer, ref tlsReference) *verdict.Verdict {
	const invalid = string(gatewayv1.ListenerReasonInvalidCACertificateRef)
	path := func() string { return ref.path + " of the Gateway" }
	if !r.grants.permit(from, ref.target) {
		return refNotPermitted(path(), from)
	}
	switch {
	case ref.target.is(kindConfigMap):
		content, exists := r.snapshot.ConfigMaps[ref.target.NamespacedName]
		return unusable(invalid, path, kindConfigMap, exists, content.Authorities)
	case ref.target.is(kindSecret):
		content, exists := r.snapshot.Secrets[ref.target.NamespacedName]
		return unusable(invalid, path, kindSecret, exists, content.Authorities)
	}
	return new(verdict.No(string(gatewayv1.ListenerReasonInvalidCACertificateKind),
		"%s names an object of a kind that is not supported; name a ConfigMap, or a Secret of type %s, with group \"\"",
		path(), corev1.SecretTypeTLS))
}

func unusable(reason string, path func() string, kind gatewayv1.Kind, exists bool, problem string) *verdict.Verdict {
	switch {
	case !exists && kind == kindSecret:
		// Other Secrets are none of our business, and are not read.
		return new(verdict.No(reason, "%s names a Secret that does not exist or is not of type %s; create it with that type",
			path(), corev1.SecretTypeTLS))
	case !exists:
		return new(verdict.No(reason, "%s names a %s that does not exist; create it, or name one that exists", path(), kind))
	case problem != "":
		return new(verdict.No(reason, "%s names a %s that cannot be used: %s", path(), kind, problem))
	}
	return nil
}

// frontend is what a Gateway demands of clients, resolved: spec.tls.frontend.
type frontend struct {
	byDefault demand
	perPort   map[gatewayv1.PortNumber]demand
	// config is spec.tls.frontend without the references that cannot be used.
	config *gatewayv1.FrontendTLSConfig
	// insecure says that some of it lets clients in whose certificates are not valid.
	insecure bool
}

// demand is what clients on some ports have to show. The zero value demands nothing.
type demand struct {
	// unresolved says why the first reference that cannot be used cannot be; nil if all can.
	unresolved *verdict.Verdict
	// hopeless says that there are references and that none can be used: everybody would be let in, or nobody.
	hopeless bool
}

// of is what a listener demands of its clients: that of its port, else the default; nothing unless it speaks HTTPS
// (FrontendTLSConfig).
func (f *frontend) of(l *gatewayv1.Listener) demand {
	if l.Protocol != gatewayv1.HTTPSProtocolType {
		return demand{}
	}
	if d, ok := f.perPort[l.Port]; ok {
		return d
	}
	return f.byDefault
}

func (r resolver) frontendOf(gw *gatewayv1.Gateway) frontend {
	if gw.Spec.TLS == nil || gw.Spec.TLS.Frontend == nil {
		return frontend{}
	}
	f := frontend{perPort: map[gatewayv1.PortNumber]demand{}, config: gw.Spec.TLS.Frontend.DeepCopy()}
	f.byDefault = r.demandOf(gw, frontendPath+".default", &f.config.Default)
	f.insecure = insecure(f.config.Default)
	for i := range f.config.PerPort {
		port := &f.config.PerPort[i]
		f.perPort[port.Port] = r.demandOf(gw, perPortPath(i), &port.TLS)
		f.insecure = f.insecure || insecure(port.TLS)
	}
	return f
}

func insecure(config gatewayv1.TLSConfig) bool {
	return config.Validation != nil && config.Validation.Mode == gatewayv1.AllowInsecureFallback
}

// demandOf resolves one place of spec.tls.frontend, and takes out of it the references that cannot be used. A place that is left
// with none goes altogether, since the API does not allow an empty list; the listeners that it was for are not rendered.
func (r resolver) demandOf(gw *gatewayv1.Gateway, at string, config *gatewayv1.TLSConfig) demand {
	if config.Validation == nil {
		return demand{}
	}
	var d demand
	var usable []gatewayv1.ObjectReference
	for i, ref := range authorityReferences(gw, at, *config) {
		why := r.authorities(referrer{KindGateway, gw.Namespace}, ref)
		switch {
		case why == nil:
			usable = append(usable, config.Validation.CACertificateRefs[i])
		case d.unresolved == nil:
			d.unresolved = why
		}
	}
	config.Validation.CACertificateRefs = usable
	if len(usable) == 0 {
		d.hopeless, config.Validation = true, nil
	}
	return d
}

// gatewayTLS is spec.tls of the Gateway without the references that cannot be used, and the Gateway's condition ResolvedRefs, which
// is about these and sums up its own listeners (GatewayConditionResolvedRefs); nil for a Gateway without spec.tls.
func (r resolver) gatewayTLS(own []Listener) (*gatewayv1.GatewayTLSConfig, *verdict.Verdict) {
	gw := r.snapshot.Gateway
	if gw.Spec.TLS == nil {
		return nil, nil
	}
	out := gw.Spec.TLS.DeepCopy()
	out.Frontend = r.frontend.config
	if backend := out.Backend; backend != nil && backend.ClientCertificateRef != nil {
		to := secretTarget(*backend.ClientCertificateRef, gw.Namespace)
		why := r.keyPair(referrer{KindGateway, gw.Namespace}, to, func() string { return clientCertificatePath },
			string(gatewayv1.GatewayReasonInvalidClientCertificateRef))
		if why != nil {
			backend.ClientCertificateRef = nil
			return out, why
		}
	}
	for i := range own {
		if !own[i].ResolvedRefs.OK {
			return out, new(listenersNotResolved)
		}
	}
	return out, new(gatewayRefsResolved)
}
