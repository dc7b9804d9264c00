package intake

import (
	gojson "encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/json"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/defaults"
)

// ErrNoPart means that objects of this kind play no part in what is rendered.
var ErrNoPart = errors.New("plays no part in what is rendered")

// Kind is a kind that plays a part.
type Kind struct {
	schema.GroupKind
	// Resource is the plural by which an API server lists the kind.
	Resource string
	// Namespaced says that objects of the kind live in namespaces.
	Namespaced bool
	// Versions are those that have the same shape, the preferred one first.
	Versions []string

	decode func(into *gateway.Objects, text []byte) (unknown []error, err error)
}

var kinds = []Kind{
	kind(corev1.GroupName, "Namespace", "namespaces", false,
		func(o *gateway.Objects) *[]*corev1.Namespace { return &o.Namespaces }, "v1"),
	kind(gatewayv1.GroupName, "GatewayClass", "gatewayclasses", false,
		func(o *gateway.Objects) *[]*gatewayv1.GatewayClass { return &o.GatewayClasses }, "v1", "v1beta1"),
	kind(gatewayv1.GroupName, "Gateway", "gateways", true,
		func(o *gateway.Objects) *[]*gatewayv1.Gateway { return &o.Gateways }, "v1", "v1beta1"),
	kind(gatewayv1.GroupName, "ListenerSet", "listenersets", true,
		func(o *gateway.Objects) *[]*gatewayv1.ListenerSet { return &o.ListenerSets }, "v1"),
	routeKind[gatewayv1.HTTPRoute](gateway.KindHTTPRoute, "httproutes", "v1", "v1beta1"),
	routeKind[gatewayv1.GRPCRoute](gateway.KindGRPCRoute, "grpcroutes", "v1"),
	routeKind[gatewayv1.TLSRoute](gateway.KindTLSRoute, "tlsroutes", "v1"),
	routeKind[gatewayv1.TCPRoute](gateway.KindTCPRoute, "tcproutes", "v1"),
	routeKind[gatewayv1.UDPRoute](gateway.KindUDPRoute, "udproutes", "v1"),
	kind(gatewayv1.GroupName, "ReferenceGrant", "referencegrants", true,
		func(o *gateway.Objects) *[]*gatewayv1.ReferenceGrant { return &o.Grants }, "v1", "v1beta1"),
	secretKind(),
	kind(corev1.GroupName, "ConfigMap", "configmaps", true,
		func(o *gateway.Objects) *[]*corev1.ConfigMap { return &o.ConfigMaps }, "v1"),
	kind(corev1.GroupName, "Service", "services", true,
		func(o *gateway.Objects) *[]*corev1.Service { return &o.Services }, "v1"),
	kind(v1alpha1.GroupName, v1alpha1.KindGatewayClassBlueprint, "gatewayclassblueprints", false,
		func(o *gateway.Objects) *[]*v1alpha1.GatewayClassBlueprint { return &o.Blueprints }, "v1alpha1"),
	kind(v1alpha1.GroupName, v1alpha1.KindGatewayClassConfig, "gatewayclassconfigs", true,
		func(o *gateway.Objects) *[]*v1alpha1.GatewayClassConfig { return &o.ClassConfigs }, "v1alpha1"),
	kind(v1alpha1.GroupName, v1alpha1.KindGatewayConfig, "gatewayconfigs", true,
		func(o *gateway.Objects) *[]*v1alpha1.GatewayConfig { return &o.Configs }, "v1alpha1"),
}

// Kinds are all kinds that play a part.
func Kinds() []Kind { return slices.Clone(kinds) }

func kind[T any](group, name, resource string, namespaced bool, list func(*gateway.Objects) *[]*T, versions ...string) Kind {
	return Kind{
		GroupKind: schema.GroupKind{Group: group, Kind: name}, Resource: resource, Namespaced: namespaced, Versions: versions,
		decode: decoder(func(into *gateway.Objects, object *T) {
			at := list(into)
			*at = append(*at, object)
		}),
	}
}

// routeKind is a kind of routes, which are kept together.
func routeKind[T any, P interface {
	*T
	metav1.Object
}](name gatewayv1.Kind, resource string, versions ...string) Kind {
	return Kind{
		GroupKind: schema.GroupKind{Group: gatewayv1.GroupName, Kind: string(name)},
		Resource:  resource, Namespaced: true, Versions: versions,
		decode: decoder(func(into *gateway.Objects, object *T) {
			if route, ok := gateway.RouteOf(P(object)); ok {
				into.Routes = append(into.Routes, route)
			}
		}),
	}
}

// secretKind is that of Secrets, of which an API server folds stringData into data.
func secretKind() Kind {
	k := kind(corev1.GroupName, "Secret", "secrets", true, func(o *gateway.Objects) *[]*corev1.Secret { return &o.Secrets }, "v1")
	k.decode = decoder(func(into *gateway.Objects, secret *corev1.Secret) {
		for key, text := range secret.StringData {
			if secret.Data == nil {
				secret.Data = map[string][]byte{}
			}
			secret.Data[key] = []byte(text)
		}
		secret.StringData = nil
		into.Secrets = append(into.Secrets, secret)
	})
	return k
}

func decoder[T any](add func(*gateway.Objects, *T)) func(*gateway.Objects, []byte) ([]error, error) {
	return func(into *gateway.Objects, text []byte) ([]error, error) {
		object := new(T)
		unknown, err := json.UnmarshalStrict(text, object)
		if err == nil {
			add(into, object)
		}
		return unknown, err
	}
}

// Problem is something in an object that its kind does not permit.
type Problem struct {
	// Path of the field, e.g. `spec.listeners[0].port`; the indexes are missing where they are not known. "" if no field is
	// to blame.
	Path string
	// Message says what was found and what to write instead.
	Message string
}

// Error is the whole story in one line.
func (p *Problem) Error() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// Add takes an object in, with the defaults of its kind filled in. namespace is where an object lives that names none, if its
// kind has namespaces. Fields that the kind does not have are left out and returned. The error is ErrNoPart, or a *Problem for
// an object that cannot be taken in. The object itself is not changed.
func Add(into *gateway.Objects, object *unstructured.Unstructured, namespace string) (unknown []*Problem, err error) {
	gvk := object.GroupVersionKind()
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.GroupKind == gvk.GroupKind() })
	if i < 0 {
		return nil, ErrNoPart
	}
	k := kinds[i]
	if !slices.Contains(k.Versions, gvk.Version) {
		want := schema.GroupVersion{Group: k.Group, Version: k.Versions[0]}
		return nil, &Problem{"apiVersion", fmt.Sprintf("this version of %s is not known; write %s", k.Kind, want)}
	}
	if object.GetName() == "" {
		return nil, &Problem{"metadata.name", "every object must have one, and it must be a string"}
	}
	filled := defaults.Apply(object)
	switch {
	case !k.Namespaced:
		filled.SetNamespace("")
	case filled.GetNamespace() == "":
		filled.SetNamespace(namespace)
	}
	text, err := gojson.Marshal(filled.Object)
	if err != nil {
		return nil, &Problem{Message: "it holds a value that JSON does not know"}
	}
	fields, err := k.decode(into, text)
	if err != nil {
		return nil, problemOf(err)
	}
	for _, field := range fields {
		unknown = append(unknown, unknownField(k, field))
	}
	return unknown, nil
}

func unknownField(k Kind, err error) *Problem {
	if field, ok := errors.AsType[json.FieldError](err); ok {
		return &Problem{field.FieldPath(), fmt.Sprintf("%s has no such field", k.Kind)}
	}
	return &Problem{Message: err.Error()}
}
