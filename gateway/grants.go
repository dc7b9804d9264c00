package gateway

import (
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

// referrer is an object that refers to others, as ReferenceGrants name it.
type referrer struct {
	kind      gatewayv1.Kind
	namespace string
}

// grant is one pair of a ReferenceGrant's from and to, in the namespace of the grant. An empty name is any.
type grant struct {
	from referrer
	to   target
}

// grants are the consents of namespaces to be referred into (GEP-709).
type grants map[grant]struct{}

// grantsOf spreads the pairs out, so that asking for one takes no longer the more there are.
func grantsOf(all []*gatewayv1.ReferenceGrant) grants {
	out := grants{}
	for _, g := range all {
		for _, from := range g.Spec.From {
			if from.Group != gatewayv1.GroupName {
				continue
			}
			for _, to := range g.Spec.To {
				name := types.NamespacedName{Namespace: g.Namespace, Name: string(valueOr(to.Name, ""))}
				out[grant{referrer{from.Kind, string(from.Namespace)}, target{to.Group, to.Kind, name}}] = struct{}{}
			}
		}
	}
	return out
}

// permit says whether an object may refer to another: to what is beside it always, to what is in another namespace if that one
// says so. Consent is to be given to the very kind of object that refers: what a Gateway may use, its ListenerSets may not, nor
// the other way round (GEP-1713, "ReferenceGrant").
func (g grants) permit(from referrer, to target) bool {
	if from.namespace == to.Namespace {
		return true
	}
	if _, named := g[grant{from, to}]; named {
		return true
	}
	to.Name = ""
	_, all := g[grant{from, to}]
	return all
}
