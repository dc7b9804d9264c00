package gateway_test

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
)

const (
	http  = gatewayv1.HTTPProtocolType
	https = gatewayv1.HTTPSProtocolType
	tls   = gatewayv1.TLSProtocolType
	tcp   = gatewayv1.TCPProtocolType
	udp   = gatewayv1.UDPProtocolType
)

var (
	epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

	// everything is a blueprint that has templates for all kinds of routes.
	everything = &v1alpha1.GatewayClassBlueprint{Spec: v1alpha1.GatewayClassBlueprintSpec{
		GRPCRouteTemplate: &v1alpha1.RouteTemplate{}, TLSRouteTemplate: &v1alpha1.RouteTemplate{},
		TCPRouteTemplate: &v1alpha1.RouteTemplate{}, UDPRouteTemplate: &v1alpha1.RouteTemplate{},
	}}
	// layer4 is a blueprint that has templates for what is not HTTP.
	layer4 = &v1alpha1.GatewayClassBlueprint{Spec: v1alpha1.GatewayClassBlueprintSpec{
		TLSRouteTemplate: &v1alpha1.RouteTemplate{}, TCPRouteTemplate: &v1alpha1.RouteTemplate{}, UDPRouteTemplate: &v1alpha1.RouteTemplate{},
	}}

	fromNone = letIn(gatewayv1.NamespacesFromNone, nil)
	fromSame = letIn(gatewayv1.NamespacesFromSame, nil)
	fromAll  = letIn(gatewayv1.NamespacesFromAll, nil)
)

func meta(namespace, name string, minute int) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: namespace, Name: name, CreationTimestamp: metav1.NewTime(epoch.Add(time.Duration(minute) * time.Minute)),
	}
}

// merge is gateway.Merge of a snapshot with all that it refers to, unless it says itself what there is.
func merge(s gateway.Snapshot) gateway.Merged {
	return gateway.Merge(complete(s))
}

func complete(s gateway.Snapshot) gateway.Snapshot {
	refs := s.References()
	if s.Secrets == nil {
		s.Secrets = map[types.NamespacedName]gateway.Certificate{}
		for _, key := range refs.Secrets {
			s.Secrets[key] = gateway.Certificate{}
		}
	}
	if s.ConfigMaps == nil {
		s.ConfigMaps = map[types.NamespacedName]gateway.Certificate{}
		for _, key := range refs.ConfigMaps {
			s.ConfigMaps[key] = gateway.Certificate{}
		}
	}
	if s.Services == nil {
		s.Services = map[types.NamespacedName]bool{}
		for _, key := range refs.Services {
			s.Services[key] = true
		}
	}
	return s
}

// listener is a listener with what its protocol needs; the hostname may be "".
func listener(name string, protocol gatewayv1.ProtocolType, port int32, hostname string) gatewayv1.Listener {
	l := gatewayv1.Listener{Name: gatewayv1.SectionName(name), Protocol: protocol, Port: port}
	if protocol == https {
		l = withTLS(l)
	}
	if protocol == tls {
		l.TLS = &gatewayv1.ListenerTLSConfig{Mode: new(gatewayv1.TLSModePassthrough)}
	}
	if hostname != "" {
		l.Hostname = new(gatewayv1.Hostname(hostname))
	}
	return l
}

// allowing is the listener with other allowedRoutes.
func allowing(l gatewayv1.Listener, from gatewayv1.FromNamespaces, selector *metav1.LabelSelector, kinds ...gatewayv1.Kind) gatewayv1.Listener {
	l.AllowedRoutes = &gatewayv1.AllowedRoutes{Namespaces: &gatewayv1.RouteNamespaces{From: &from, Selector: selector}}
	for _, kind := range kinds {
		l.AllowedRoutes.Kinds = append(l.AllowedRoutes.Kinds, gatewayv1.RouteGroupKind{Kind: kind})
	}
	return l
}

func letIn(from gatewayv1.FromNamespaces, selector *metav1.LabelSelector) *gatewayv1.AllowedListeners {
	return &gatewayv1.AllowedListeners{Namespaces: &gatewayv1.ListenerNamespaces{From: &from, Selector: selector}}
}

// gw is the Gateway infra/gw.
func gw(allowed *gatewayv1.AllowedListeners, listeners ...gatewayv1.Listener) *gatewayv1.Gateway {
	return &gatewayv1.Gateway{
		ObjectMeta: meta("infra", "gw", 0),
		Spec:       gatewayv1.GatewaySpec{GatewayClassName: "edge", AllowedListeners: allowed, Listeners: listeners},
	}
}

// set is a ListenerSet for the Gateway infra/gw.
func set(namespace, name string, minute int, listeners ...gatewayv1.Listener) *gatewayv1.ListenerSet {
	s := &gatewayv1.ListenerSet{ObjectMeta: meta(namespace, name, minute)}
	s.Spec.ParentRef = gatewayv1.ParentGatewayReference{Name: "gw", Namespace: new(gatewayv1.Namespace("infra"))}
	for _, l := range listeners {
		s.Spec.Listeners = append(s.Spec.Listeners, gatewayv1.ListenerEntry(l))
	}
	return s
}

func route(namespace, name string, hostnames []gatewayv1.Hostname, parents ...gatewayv1.ParentReference) gateway.Route {
	r := &gatewayv1.HTTPRoute{ObjectMeta: meta(namespace, name, 0)}
	r.Spec.Hostnames, r.Spec.ParentRefs = hostnames, parents
	return gateway.HTTPRoute(r)
}

// toGateway is a parentRef to the Gateway infra/gw; section may be "" and port 0.
func toGateway(section string, port int32) gatewayv1.ParentReference {
	ref := gatewayv1.ParentReference{Name: "gw", Namespace: new(gatewayv1.Namespace("infra"))}
	if section != "" {
		ref.SectionName = new(gatewayv1.SectionName(section))
	}
	if port != 0 {
		ref.Port = &port
	}
	return ref
}

// toSet is a parentRef to a ListenerSet.
func toSet(namespace, name, section string, port int32) gatewayv1.ParentReference {
	ref := toGateway(section, port)
	ref.Group, ref.Kind = new(gatewayv1.Group(gatewayv1.GroupName)), new(gateway.KindListenerSet)
	ref.Namespace, ref.Name = new(gatewayv1.Namespace(namespace)), gatewayv1.ObjectName(name)
	return ref
}

// namespaces are the labels of the named namespaces: the one that the API server gives them, and the extra ones.
func namespaces(extra map[string]labels.Set, names ...string) map[string]labels.Set {
	out := map[string]labels.Set{}
	for _, name := range names {
		out[name] = labels.Merge(labels.Set{"kubernetes.io/metadata.name": name}, extra[name])
	}
	return out
}

// outcome is a Merged in short, one line for each condition that matters.
type outcome struct {
	// Gateway is its Accepted condition.
	Gateway string
	// Listeners are all merged listeners: "kind namespace/name section [= unique name]: verdict".
	Listeners []string
	// Sets are all ListenerSets: "namespace/name: Accepted, Programmed", with "attached" before if it is.
	Sets []string
	// Attached is the Gateway's status.attachedListenerSets.
	Attached int32
}

func outcomeOf(m gateway.Merged) outcome {
	out := outcome{Gateway: short(m.Accepted), Attached: m.AttachedListenerSets()}
	for _, l := range m.Listeners {
		out.Listeners = append(out.Listeners, line(l))
	}
	for _, s := range m.ListenerSets {
		attached := ""
		if s.Attached {
			attached = "attached "
		}
		out.Sets = append(out.Sets, fmt.Sprintf("%s%s/%s: %s, %s", attached, s.Object.Namespace, s.Object.Name, short(s.Accepted), short(s.Programmed)))
	}
	return out
}

func line(l gateway.Listener) string {
	name := ""
	if l.Name != "" {
		name = " = " + string(l.Name)
	}
	conflicted := ""
	if l.Conflicted {
		conflicted = " conflicted"
	}
	return fmt.Sprintf("%s %s/%s %s%s: %s%s", l.Source.Kind, l.Source.Namespace, l.Source.Name, l.Source.SectionName, name, short(l.Accepted), conflicted)
}

func short(v verdict.Verdict) string {
	if v.OK {
		return "True/" + v.Reason
	}
	return "False/" + v.Reason
}

// certIn is a listener with a certificate of a certain namespace.
func certIn(l gatewayv1.Listener, namespace gatewayv1.Namespace) gatewayv1.Listener {
	l = withTLS(l)
	l.TLS.CertificateRefs[0].Namespace = &namespace
	return l
}

// withCertificates is the listener with these certificates.
func withCertificates(l gatewayv1.Listener, refs ...gatewayv1.SecretObjectReference) gatewayv1.Listener {
	l.TLS = &gatewayv1.ListenerTLSConfig{Mode: new(gatewayv1.TLSModeTerminate), CertificateRefs: refs}
	return l
}

// secretRef refers to a Secret; namespace may be "".
func secretRef(namespace gatewayv1.Namespace, name gatewayv1.ObjectName) gatewayv1.SecretObjectReference {
	ref := gatewayv1.SecretObjectReference{Name: name}
	if namespace != "" {
		ref.Namespace = &namespace
	}
	return ref
}

// authorityRef refers to certificates of authorities; namespace may be "".
func authorityRef(kind gatewayv1.Kind, namespace gatewayv1.Namespace, name gatewayv1.ObjectName) gatewayv1.ObjectReference {
	ref := gatewayv1.ObjectReference{Kind: kind, Name: name}
	if namespace != "" {
		ref.Namespace = &namespace
	}
	return ref
}

// backendRef refers to a Service; namespace may be "".
func backendRef(namespace gatewayv1.Namespace, name gatewayv1.ObjectName) gatewayv1.BackendRef {
	ref := gatewayv1.BackendRef{}
	ref.Name, ref.Port = name, new(gatewayv1.PortNumber(80))
	if namespace != "" {
		ref.Namespace = &namespace
	}
	return ref
}

// frontend is spec.tls of a Gateway that wants clients to have certificates of these authorities.
func frontend(refs ...gatewayv1.ObjectReference) *gatewayv1.GatewayTLSConfig {
	return &gatewayv1.GatewayTLSConfig{Frontend: &gatewayv1.FrontendTLSConfig{Default: validating(refs...)}}
}

func validating(refs ...gatewayv1.ObjectReference) gatewayv1.TLSConfig {
	return gatewayv1.TLSConfig{Validation: &gatewayv1.FrontendTLSValidation{CACertificateRefs: refs}}
}

func parameters(group gatewayv1.Group, kind gatewayv1.Kind, name string) *gatewayv1.GatewayInfrastructure {
	return &gatewayv1.GatewayInfrastructure{ParametersRef: &gatewayv1.LocalParametersReference{Group: group, Kind: kind, Name: name}}
}
