package controllers

import (
	"crypto/sha256"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/values"
)

// parts are the parts that policies have in the values of one Gateway, of its listeners and of its routes, by the policy's Ref.
type parts struct {
	gateway   *gatewayv1.Gateway
	blueprint string
	of        map[string][]part
	// idle says that they count on nothing being there yet of the Gateway, which is not accepted.
	idle bool
}

// part is what a policy has a part in: one of the two is set.
type part struct {
	parent       gateway.ParentKey
	contribution *values.Contribution
	refusal      *values.Refusal
	// held says why what was rendered last stays; empty if the contribution is in effect.
	held string
}

// reaches computes the parts of policies in a Gateway once for all policies, as long as nothing changes that they depend on. Many
// policies that come at once would else each have the values of all computed.
type reaches struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]*reachEntry
}

type reachEntry struct {
	mu          sync.Mutex
	fingerprint [sha256.Size]byte
	// compiled is the generation of the blueprint that was in effect.
	compiled *compiled
	parts    *parts
}

func newReaches() *reaches {
	return &reaches{entries: map[types.NamespacedName]*reachEntry{}}
}

// get returns the parts of policies in a Gateway. inputs are asked for if they have to be computed anew; whoever comes meanwhile
// waits for what comes of it. begun is that of the inputs.
func (r *reaches) get(snapshot gateway.Snapshot, ready *compiled, begun func() bool, inputs func() desired.Inputs) *parts {
	key := client.ObjectKeyFromObject(snapshot.Gateway)
	r.mu.Lock()
	entry := r.entries[key]
	if entry == nil {
		entry = &reachEntry{}
		r.entries[key] = entry
	}
	r.mu.Unlock()

	fingerprint := snapshot.Fingerprint()
	entry.mu.Lock()
	defer entry.mu.Unlock()
	if entry.parts == nil || entry.fingerprint != fingerprint || entry.compiled != ready || entry.parts.idle && begun() {
		entry.fingerprint, entry.compiled, entry.parts = fingerprint, ready, partsOf(inputs())
	}
	return entry.parts
}

// forget drops a Gateway that is gone.
func (r *reaches) forget(gw types.NamespacedName) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.entries, gw)
}

func partsOf(in desired.Inputs) *parts {
	p := &parts{gateway: in.Merged.Gateway, blueprint: in.Snapshot.Blueprint.Name, of: map[string][]part{}}
	p.idle = !in.Merged.Accepted.OK && (in.Begun == nil || !in.Begun())
	ofGateway := desired.Gateway(in).Held()
	for _, reach := range desired.Reaches(in) {
		held := strings.Join(reach.Values.Blocked(), "; ")
		if reach.Route == nil && ofGateway != nil {
			// The values of its listeners come into effect with it.
			held = ofGateway.Message
		}
		for _, c := range reach.Values.Contributions {
			p.of[c.Source] = append(p.of[c.Source], part{parent: reach.Parent, contribution: &c, held: held})
		}
		for _, refusal := range reach.Values.Refused {
			p.of[refusal.Source] = append(p.of[refusal.Source], part{parent: reach.Parent, refusal: &refusal})
		}
	}
	return p
}
