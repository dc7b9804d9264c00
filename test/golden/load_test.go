package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/manifest"
)

// world is everything that a case knows.
type world struct {
	objects gateway.Objects
	// live are the objects that are there already.
	live []*unstructured.Unstructured
}

// load reads a case: its input files, and the one with live objects unless that is "" or missing.
func load(inputs []string, observed string) (world, error) {
	var w world
	for _, path := range inputs {
		docs, err := decode(path)
		if err != nil {
			return world{}, err
		}
		for _, doc := range docs {
			if err := add(&w.objects, doc.Unstructured); err != nil {
				return world{}, fmt.Errorf("%s, line %d: %w", path, doc.Line, err)
			}
		}
	}
	if _, err := os.Stat(observed); observed == "" || os.IsNotExist(err) {
		return w, nil
	}
	docs, err := decode(observed)
	for _, doc := range docs {
		w.live = append(w.live, doc.Unstructured)
	}
	return w, err
}

func decode(path string) ([]manifest.Document, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	docs, err := manifest.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return docs, nil
}

// add files an object under its kind. A field that its type does not know is an error. Kinds that play no part are passed over.
func add(o *gateway.Objects, u *unstructured.Unstructured) error {
	switch u.GetKind() {
	case "GatewayClass":
		return appendTyped[gatewayv1.GatewayClass](&o.GatewayClasses, u)
	case "GatewayClassBlueprint":
		return appendTyped[v1alpha1.GatewayClassBlueprint](&o.Blueprints, u)
	case "Gateway":
		return appendTyped[gatewayv1.Gateway](&o.Gateways, u)
	case "ListenerSet":
		return appendTyped[gatewayv1.ListenerSet](&o.ListenerSets, u)
	case "HTTPRoute":
		return appendRoute[gatewayv1.HTTPRoute](o, u)
	case "GRPCRoute":
		return appendRoute[gatewayv1.GRPCRoute](o, u)
	case "TLSRoute":
		return appendRoute[gatewayv1.TLSRoute](o, u)
	case "TCPRoute":
		return appendRoute[gatewayv1.TCPRoute](o, u)
	case "UDPRoute":
		return appendRoute[gatewayv1.UDPRoute](o, u)
	case "ReferenceGrant":
		return appendTyped[gatewayv1.ReferenceGrant](&o.Grants, u)
	case "Namespace":
		return appendTyped[corev1.Namespace](&o.Namespaces, u)
	case "Secret":
		return appendTyped[corev1.Secret](&o.Secrets, u)
	case "ConfigMap":
		return appendTyped[corev1.ConfigMap](&o.ConfigMaps, u)
	case "Service":
		return appendTyped[corev1.Service](&o.Services, u)
	case "GatewayClassConfig":
		return appendTyped[v1alpha1.GatewayClassConfig](&o.ClassConfigs, u)
	case "GatewayConfig":
		return appendTyped[v1alpha1.GatewayConfig](&o.Configs, u)
	}
	return nil
}

func appendTyped[T any](list *[]*T, u *unstructured.Unstructured) error {
	typed := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, typed, true); err != nil {
		return fmt.Errorf("%s %s/%s: %w", u.GetKind(), u.GetNamespace(), u.GetName(), err)
	}
	*list = append(*list, typed)
	return nil
}

// appendRoute files a route of any kind. T is its type.
func appendRoute[T any, P interface {
	*T
	metav1.Object
}](o *gateway.Objects, u *unstructured.Unstructured) error {
	var routes []*T
	if err := appendTyped(&routes, u); err != nil {
		return err
	}
	if route, ok := gateway.RouteOf(P(routes[0])); ok {
		o.Routes = append(o.Routes, route)
	}
	return nil
}

// reversed is the same world, told from its end.
func (w world) reversed() world {
	o := w.objects
	o.GatewayClasses = backwards(o.GatewayClasses)
	o.Blueprints = backwards(o.Blueprints)
	o.Gateways = backwards(o.Gateways)
	o.ListenerSets = backwards(o.ListenerSets)
	o.Routes = backwards(o.Routes)
	o.Grants = backwards(o.Grants)
	o.Namespaces = backwards(o.Namespaces)
	o.Secrets = backwards(o.Secrets)
	o.ConfigMaps = backwards(o.ConfigMaps)
	o.Services = backwards(o.Services)
	o.ClassConfigs = backwards(o.ClassConfigs)
	o.Configs = backwards(o.Configs)
	return world{objects: o, live: backwards(w.live)}
}

func backwards[T any](list []T) []T {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// files are the YAML files of a folder, sorted.
func files(folder string) ([]string, error) {
	return filepath.Glob(filepath.Join(folder, "*.yaml"))
}
