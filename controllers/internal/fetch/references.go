package fetch

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

// CacheOptions say what the cache is to hold of each kind.
//
// Of Secrets it sees those with certificates only, and of these it holds what is thought of them: a private key is looked at once, as
// it comes in, and never stays in memory. Of Services and ConfigMaps it holds names and versions, since there may be very many of
// both, and large ones, of which few are referred to.
func CacheOptions() cache.Options {
	return cache.Options{
		// Nobody asks who manages which field of what users and we write, and it may be the larger part of it. An update that says
		// nothing of it changes nothing of it.
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}: {
				Field:     fields.OneTermEqualSelector("type", string(corev1.SecretTypeTLS)),
				Transform: judgeSecret,
			},
			&corev1.Service{}:        {Transform: nameAlone},
			&corev1.ConfigMap{}:      {Transform: nameAlone},
			&corev1.ServiceAccount{}: {Transform: nameAlone},
		}}
}

// Keys under which a judged Secret says what stands against using it.
const (
	keyPairProblem     = "key-pair"
	authoritiesProblem = "authorities"
)

// judgeSecret makes of a Secret what is thought of it.
func judgeSecret(o any) (any, error) {
	secret, ok := o.(*corev1.Secret)
	if !ok || secret.StringData != nil {
		// The API server never sends any: it was judged before.
		return o, nil
	}
	judged := gateway.CertificateOf(secret)
	return &corev1.Secret{
		TypeMeta: secret.TypeMeta, ObjectMeta: identity(secret), Type: secret.Type,
		StringData: map[string]string{keyPairProblem: judged.KeyPair, authoritiesProblem: judged.Authorities},
	}, nil
}

// CertificateOf returns what is thought of a Secret from the cache.
func CertificateOf(secret *corev1.Secret) gateway.Certificate {
	return gateway.Certificate{KeyPair: secret.StringData[keyPairProblem], Authorities: secret.StringData[authoritiesProblem]}
}

// nameAlone makes of an object what tells it and its versions apart.
func nameAlone(o any) (any, error) {
	if known, ok := o.(*metav1.PartialObjectMetadata); ok {
		return &metav1.PartialObjectMetadata{TypeMeta: known.TypeMeta, ObjectMeta: identity(known)}, nil
	}
	if gone, ok := o.(toolscache.DeletedFinalStateUnknown); ok {
		return gone, nil
	}
	return nil, fmt.Errorf("%T must be read as metadata only", o)
}

func identity(o metav1.Object) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), ResourceVersion: o.GetResourceVersion(),
		DeletionTimestamp: o.GetDeletionTimestamp(),
	}
}

// resolve adds to a snapshot what is known of these references.
func (f *Fetcher) resolve(ctx context.Context, s *gateway.Snapshot, refs gateway.References) error {
	for _, namespace := range refs.Namespaces {
		var grants gatewayv1.ReferenceGrantList
		if err := f.reader.List(ctx, &grants, client.InNamespace(namespace), client.UnsafeDisableDeepCopy); err != nil {
			return fmt.Errorf("reading ReferenceGrants of namespace %s: %w", namespace, err)
		}
		for i := range grants.Items {
			s.Grants = append(s.Grants, &grants.Items[i])
		}
	}
	if err := found(s.Secrets, refs.Secrets, func(key types.NamespacedName) (gateway.Certificate, error) {
		var secret corev1.Secret
		err := f.get(ctx, key, &secret)
		return CertificateOf(&secret), err
	}); err != nil {
		return err
	}
	if err := found(s.ConfigMaps, refs.ConfigMaps, func(key types.NamespacedName) (gateway.Certificate, error) {
		return f.authoritiesOf(ctx, key)
	}); err != nil {
		return err
	}
	return found(s.Services, refs.Services, func(key types.NamespacedName) (bool, error) {
		return true, f.get(ctx, key, Partial("Service"))
	})
}

// found notes what is known of each of the named objects that exist.
func found[V any](known map[types.NamespacedName]V, names []types.NamespacedName, read func(types.NamespacedName) (V, error)) error {
	for _, name := range names {
		v, err := read(name)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return err
		default:
			known[name] = v
		}
	}
	return nil
}

// Partial is an empty object of a core kind of which the cache holds the name alone.
func Partial(kind string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: corev1.SchemeGroupVersion.String(), Kind: kind}}
}

// authorities remember what is thought of the ConfigMaps that are referred to.
type authorities struct {
	mu    sync.Mutex
	known map[types.NamespacedName]judgedConfigMap
}

type judgedConfigMap struct {
	uid             types.UID
	resourceVersion string
	certificate     gateway.Certificate
}

// authoritiesOf judges a ConfigMap. The API server itself is asked for its content, once for each version that the cache tells of:
// to hold the content of all ConfigMaps for the few that are referred to could take any amount of memory.
func (f *Fetcher) authoritiesOf(ctx context.Context, key types.NamespacedName) (gateway.Certificate, error) {
	seen := Partial("ConfigMap")
	if err := f.get(ctx, key, seen); err != nil {
		f.authorities.forget(key)
		return gateway.Certificate{}, err
	}
	if known, ok := f.authorities.of(key); ok && known.uid == seen.UID && known.resourceVersion == seen.ResourceVersion {
		return known.certificate, nil
	}
	var config corev1.ConfigMap
	if err := f.live.Get(ctx, key, &config); err != nil {
		if apierrors.IsNotFound(err) {
			return gateway.Certificate{}, err
		}
		return gateway.Certificate{}, fmt.Errorf("reading ConfigMap %s: %w", key, err)
	}
	judged := judgedConfigMap{uid: config.UID, resourceVersion: config.ResourceVersion, certificate: gateway.AuthoritiesOf(&config)}
	f.authorities.remember(key, judged)
	return judged.certificate, nil
}

func (a *authorities) of(key types.NamespacedName) (judgedConfigMap, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	judged, ok := a.known[key]
	return judged, ok
}

func (a *authorities) remember(key types.NamespacedName, judged judgedConfigMap) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known[key] = judged
}

func (a *authorities) forget(key types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.known, key)
}

// configs are the GatewayConfigs among policies that lie in a namespace, by name.
func configs(policies []v1alpha1.Policy, namespace string) map[string]bool {
	names := map[string]bool{}
	for _, policy := range policies {
		if policy.GetNamespace() == namespace && policy.PolicyKind() == v1alpha1.KindGatewayConfig {
			names[policy.GetName()] = true
		}
	}
	return names
}

// GatewaysNamingSecret returns the Gateways that refer to a Secret, or take in listeners that do.
func (f *Fetcher) GatewaysNamingSecret(ctx context.Context, secret types.NamespacedName) ([]types.NamespacedName, error) {
	return f.gatewaysBy(ctx, bySecret, secret.String())
}

// GatewaysNamingConfigMap returns the Gateways that refer to a ConfigMap.
func (f *Fetcher) GatewaysNamingConfigMap(ctx context.Context, config types.NamespacedName) ([]types.NamespacedName, error) {
	var list gatewayv1.GatewayList
	err := f.list(ctx, &list, byConfigMap, config.String())
	return keysOf(list.Items), err
}

// GatewaysNeedingGrants returns the Gateways that refer into a namespace, or take in listeners that do.
func (f *Fetcher) GatewaysNeedingGrants(ctx context.Context, namespace string) ([]types.NamespacedName, error) {
	return f.gatewaysBy(ctx, byGrants, namespace)
}

// gatewaysBy are the Gateways with a key of an index, and those that ListenerSets with that key name.
func (f *Fetcher) gatewaysBy(ctx context.Context, index, key string) ([]types.NamespacedName, error) {
	var gateways gatewayv1.GatewayList
	if err := f.list(ctx, &gateways, index, key); err != nil {
		return nil, err
	}
	var sets gatewayv1.ListenerSetList
	if err := f.list(ctx, &sets, index, key); err != nil {
		return nil, err
	}
	names := keysOf(gateways.Items)
	for i := range sets.Items {
		if parent, ok := gateway.ParentGateway(&sets.Items[i]); ok {
			names = append(names, parent)
		}
	}
	return names, nil
}

func keysOf(gateways []gatewayv1.Gateway) []types.NamespacedName {
	var names []types.NamespacedName
	for i := range gateways {
		names = append(names, client.ObjectKeyFromObject(&gateways[i]))
	}
	return names
}

// RoutesNaming returns the routes of some kinds that refer to a Service.
func (f *Fetcher) RoutesNaming(ctx context.Context, kinds []gatewayv1.Kind, service types.NamespacedName) ([]gateway.Route, error) {
	return f.routesWith(ctx, kinds, client.MatchingFields{byService: service.String()})
}

// RoutesNeedingGrants returns the routes of some kinds that refer into a namespace.
func (f *Fetcher) RoutesNeedingGrants(ctx context.Context, kinds []gatewayv1.Kind, namespace string) ([]gateway.Route, error) {
	return f.routesWith(ctx, kinds, client.MatchingFields{byGrants: namespace})
}
