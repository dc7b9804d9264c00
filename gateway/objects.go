package gateway

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Why there is no Snapshot of a Gateway. The errors that Objects.Snapshot and BlueprintName return wrap one of these and
// name the objects.
var (
	// ErrGatewayNotFound means that there is no such Gateway.
	ErrGatewayNotFound = errors.New("not found")
	// ErrClassNotFound means that the Gateway's class does not exist.
	ErrClassNotFound = errors.New("its GatewayClass does not exist")
	// ErrForeignClass means that the Gateway's class is another controller's.
	ErrForeignClass = errors.New("its GatewayClass belongs to another controller")
	// ErrNoBlueprint means that a class does not refer to a blueprint, or not in a valid way.
	ErrNoBlueprint = errors.New("spec.parametersRef must name a GatewayClassBlueprint")
	// ErrBlueprintNotFound means that the blueprint that a class refers to does not exist.
	ErrBlueprintNotFound = errors.New("the GatewayClassBlueprint in spec.parametersRef does not exist")
)

// Objects is a world without a cluster: everything there is, in any order.
type Objects struct {
	GatewayClasses []*gatewayv1.GatewayClass
	Blueprints     []*v1alpha1.GatewayClassBlueprint
	Gateways       []*gatewayv1.Gateway
	ListenerSets   []*gatewayv1.ListenerSet
	// Routes are of any kind that RouteOf knows.
	Routes       []Route
	Grants       []*gatewayv1.ReferenceGrant
	Secrets      []*corev1.Secret
	ConfigMaps   []*corev1.ConfigMap
	Services     []*corev1.Service
	Namespaces   []*corev1.Namespace
	ClassConfigs []*v1alpha1.GatewayClassConfig
	Configs      []*v1alpha1.GatewayConfig
	// Complete are those of the kinds Secret, ConfigMap, Service and GatewayConfig of which all that is referred to was looked for: one
	// that is not here does not exist. Of the others, what nobody wrote down is taken to exist and to be good.
	Complete []gatewayv1.Kind
	// ControllerNamespace is where GatewayClassConfigs are global; empty means v1alpha1.DefaultControllerNamespace.
	ControllerNamespace string
}

// Snapshot selects what concerns one Gateway. Its objects are not copied. The error wraps one of those above.
func (o Objects) Snapshot(key types.NamespacedName) (Snapshot, error) {
	var s Snapshot
	if s.Gateway = find(o.Gateways, key); s.Gateway == nil {
		return Snapshot{}, fmt.Errorf("%s %s: %w", KindGateway, key, ErrGatewayNotFound)
	}
	var err error
	if s.Class, s.Blueprint, err = o.implementation(s.Gateway); err != nil {
		return Snapshot{}, err
	}
	s.ListenerSets = setsOf(s.Gateway, o.ListenerSets)
	s.Routes = o.routes(key, s.ListenerSets)
	s.Namespaces = o.namespaces(s)
	s.Policies = o.policies(s.Namespaces)
	o.resolve(&s)
	return s, nil
}

// resolve fills in what the objects of a snapshot refer to. A Secret, ConfigMap, Service or GatewayConfig that nobody wrote down is
// taken to exist and to be good, as namespaces are, unless its kind is complete; one that is written down is judged. Consent must
// be written down: to take it for given would hide that it is missing.
func (o Objects) resolve(s *Snapshot) {
	refs := s.References()
	s.Grants = o.Grants
	s.Secrets = known(refs.Secrets, o.Secrets, CertificateOf, Certificate{}, o.complete(kindSecret))
	s.ConfigMaps = known(refs.ConfigMaps, o.ConfigMaps, AuthoritiesOf, Certificate{}, o.complete(kindConfigMap))
	s.Services = known(refs.Services, o.Services, func(*corev1.Service) bool { return true }, true, o.complete(kindService))
	s.Configs = map[string]bool{}
	for _, config := range o.Configs {
		if config.Namespace == s.Gateway.Namespace {
			s.Configs[config.Name] = true
		}
	}
	if name, ok := parametersName(s.Gateway); ok && !o.complete(v1alpha1.KindGatewayConfig) {
		s.Configs[name] = true
	}
}

// complete says whether what is not here of a kind does not exist.
func (o Objects) complete(kind gatewayv1.Kind) bool { return slices.Contains(o.Complete, kind) }

// known judges the named objects that are written down. Others do not exist if the kind is complete; else they are as good as one
// can be.
func known[T metav1.Object, V any](
	names []types.NamespacedName, written []T, judge func(T) V, good V, complete bool,
) map[types.NamespacedName]V {
	out := make(map[types.NamespacedName]V, len(names))
	named := make(map[types.NamespacedName]bool, len(names))
	for _, name := range names {
		named[name] = true
		if !complete {
			out[name] = good
		}
	}
	for _, object := range written {
		if key := (types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}); named[key] {
			out[key] = judge(object)
		}
	}
	return out
}

// implementation finds the class of a Gateway and the blueprint of that class.
func (o Objects) implementation(gw *gatewayv1.Gateway) (*gatewayv1.GatewayClass, *v1alpha1.GatewayClassBlueprint, error) {
	class := find(o.GatewayClasses, types.NamespacedName{Name: string(gw.Spec.GatewayClassName)})
	switch {
	case class == nil:
		return nil, nil, fmt.Errorf("%s %s/%s: %w: there is none named %s", KindGateway, gw.Namespace, gw.Name, ErrClassNotFound, gw.Spec.GatewayClassName)
	case class.Spec.ControllerName != v1alpha1.ControllerName:
		return nil, nil, fmt.Errorf("%s %s/%s: %w: the controllerName of GatewayClass %s is not %s",
			KindGateway, gw.Namespace, gw.Name, ErrForeignClass, class.Name, v1alpha1.ControllerName)
	}
	name, err := BlueprintName(class)
	if err != nil {
		return nil, nil, err
	}
	blueprint := find(o.Blueprints, types.NamespacedName{Name: name})
	if blueprint == nil {
		return nil, nil, fmt.Errorf("GatewayClass %s: %w: there is none named %s", class.Name, ErrBlueprintNotFound, name)
	}
	return class, blueprint, nil
}

// BlueprintName returns the name of the blueprint that a class refers to. The error wraps ErrNoBlueprint.
func BlueprintName(class *gatewayv1.GatewayClass) (string, error) {
	ref := class.Spec.ParametersRef
	switch {
	case ref == nil:
		return "", fmt.Errorf("GatewayClass %s: %w; it is not set", class.Name, ErrNoBlueprint)
	case ref.Group != v1alpha1.GroupName || ref.Kind != v1alpha1.KindGatewayClassBlueprint:
		return "", fmt.Errorf("GatewayClass %s: %w: write group %s and kind %s", class.Name, ErrNoBlueprint,
			v1alpha1.GroupName, v1alpha1.KindGatewayClassBlueprint)
	case ref.Namespace != nil:
		return "", fmt.Errorf("GatewayClass %s: %w, which is cluster-scoped: leave its namespace out", class.Name, ErrNoBlueprint)
	}
	return ref.Name, nil
}

// routes returns those that name the Gateway, or one of its ListenerSets, as a parent.
func (o Objects) routes(gw types.NamespacedName, sets []*gatewayv1.ListenerSet) []Route {
	parents := map[ParentKey]bool{{KindGateway, gw}: true}
	for _, set := range sets {
		parents[ParentKey{KindListenerSet, types.NamespacedName{Namespace: set.Namespace, Name: set.Name}}] = true
	}
	var out []Route
	for _, r := range o.Routes {
		for _, ref := range r.ParentRefs {
			if key, ok := RouteParent(ref, r.Object.GetNamespace()); ok && parents[key] {
				out = append(out, r)
				break
			}
		}
	}
	return out
}

// namespaces returns the labels of the namespaces of a snapshot's objects. A namespace that nobody wrote down is taken to
// exist, since its objects do; the API server gives every namespace the label that tells its name.
func (o Objects) namespaces(s Snapshot) map[string]labels.Set {
	out := map[string]labels.Set{s.Gateway.Namespace: {}}
	for _, set := range s.ListenerSets {
		out[set.Namespace] = labels.Set{}
	}
	for _, r := range s.Routes {
		out[r.Object.GetNamespace()] = labels.Set{}
	}
	for _, ns := range o.Namespaces {
		if set, concerned := out[ns.Name]; concerned {
			maps.Copy(set, ns.Labels)
		}
	}
	for name, set := range out {
		set[corev1.LabelMetadataName] = name
	}
	return out
}

// policies returns those of the controller namespace and of the given ones.
func (o Objects) policies(namespaces map[string]labels.Set) []v1alpha1.Policy {
	controller := o.ControllerNamespace
	if controller == "" {
		controller = v1alpha1.DefaultControllerNamespace
	}
	var out []v1alpha1.Policy
	add := func(p v1alpha1.Policy) {
		if _, concerned := namespaces[p.GetNamespace()]; concerned || p.GetNamespace() == controller {
			out = append(out, p)
		}
	}
	for _, p := range o.ClassConfigs {
		add(p)
	}
	for _, p := range o.Configs {
		add(p)
	}
	return out
}

// find returns the object of that name, or nil.
func find[T interface {
	comparable
	GetNamespace() string
	GetName() string
}](objects []T, key types.NamespacedName) T {
	for _, object := range objects {
		if object.GetNamespace() == key.Namespace && object.GetName() == key.Name {
			return object
		}
	}
	var none T
	return none
}
