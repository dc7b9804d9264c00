package gateway

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Fingerprint is the same for two snapshots that say the same, whatever was reported on their objects meanwhile: what is computed
// from one then holds for the other. Objects that were not read from a cluster are not told apart.
func (s *Snapshot) Fingerprint() [sha256.Size]byte {
	h := sha256.New()
	encoder := json.NewEncoder(h)
	// Nothing of what is written can fail to be encoded.
	write := func(v any) { _ = encoder.Encode(v) }
	write(stateOf(s.Class))
	if s.Blueprint != nil {
		write(stateOf(s.Blueprint))
	}
	write(stateOf(s.Gateway))
	write(states(s.ListenerSets))
	routes := make([]state, len(s.Routes))
	for i, route := range s.Routes {
		routes[i] = stateOf(route.Object)
		routes[i].Kind = string(route.Kind)
	}
	write(sorted(routes))
	write(s.Namespaces)
	write(states(s.Grants))
	write(named(s.Secrets))
	write(named(s.ConfigMaps))
	write(named(s.Services))
	write(s.Configs)
	policies := make([]state, len(s.Policies))
	for i, policy := range s.Policies {
		policies[i] = stateOf(policy)
		policies[i].Kind = policy.PolicyKind()
	}
	write(sorted(policies))
	return [sha256.Size]byte(h.Sum(nil))
}

// state is what an object says, as far as that is not its status: each change of its spec gives it another generation.
type state struct {
	// Kind is empty where all objects of a list are of one.
	Kind                string
	Namespace, Name     string
	UID                 types.UID
	Generation          int64
	Deleting            bool
	Created             metav1.Time
	Labels, Annotations map[string]string
}

func stateOf(o metav1.Object) state {
	return state{
		Namespace: o.GetNamespace(), Name: o.GetName(), UID: o.GetUID(), Generation: o.GetGeneration(),
		Deleting: o.GetDeletionTimestamp() != nil, Created: o.GetCreationTimestamp(),
		Labels: o.GetLabels(), Annotations: o.GetAnnotations(),
	}
}

func states[T metav1.Object](objects []T) []state {
	list := make([]state, len(objects))
	for i, o := range objects {
		list[i] = stateOf(o)
	}
	return sorted(list)
}

// sorted puts states into an order that does not depend on that of a list: it means nothing, and a cache hands out any.
func sorted(list []state) []state {
	slices.SortFunc(list, func(a, b state) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list
}

// named gives a map keys that JSON knows.
func named[V any](m map[types.NamespacedName]V) map[string]V {
	out := make(map[string]V, len(m))
	for key, value := range m {
		out[key.String()] = value
	}
	return out
}
