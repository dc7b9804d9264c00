package controllers

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/render"
	"github.com/gatewright/gatewright/values"
)

// compiled is one generation of a blueprint, ready to be rendered.
type compiled struct {
	name       string
	generation int64
	program    *render.Program
	values     *values.Policy
}

// programs compiles each generation of a blueprint once. While a generation is broken, the last good one keeps serving: a
// typo in a blueprint must not stop the Gateways of its classes from being kept in order.
type programs struct {
	mu      sync.Mutex
	entries map[string]*programEntry
}

type programEntry struct {
	uid        types.UID
	generation int64
	verdict    verdict.Verdict
	good       *compiled
}

func newPrograms() *programs {
	return &programs{entries: map[string]*programEntry{}}
}

// get returns the newest good generation of a blueprint, or nil if none is known, and the verdict on the present one.
func (p *programs) get(b *v1alpha1.GatewayClassBlueprint) (*compiled, verdict.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	entry, ok := p.entries[b.Name]
	if !ok || entry.uid != b.UID {
		entry = &programEntry{uid: b.UID}
		p.entries[b.Name] = entry
	}
	if entry.generation != b.Generation {
		entry.generation = b.Generation
		var good *compiled
		if good, entry.verdict = compile(b); good != nil {
			entry.good = good
		}
	}
	return entry.good, entry.verdict
}

// forget drops a blueprint that is gone.
func (p *programs) forget(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.entries, name)
}

func compile(b *v1alpha1.GatewayClassBlueprint) (*compiled, verdict.Verdict) {
	good, v := desired.Compile(b)
	if good == nil {
		return nil, v
	}
	return &compiled{name: b.Name, generation: b.Generation, program: good.Program, values: good.Values}, v
}

// policies parses each generation of a policy once.
type policies struct {
	mu      sync.Mutex
	entries map[policyKey]policyEntry
}

type policyKey struct {
	kind string
	types.NamespacedName
}

type policyEntry struct {
	uid        types.UID
	generation int64
	deleting   bool
	policy     *values.Policy
	verdict    verdict.Verdict
}

func newPolicies() *policies {
	return &policies{entries: map[policyKey]policyEntry{}}
}

func (p *policies) get(policy v1alpha1.Policy) (*values.Policy, verdict.Verdict) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// The deletion timestamp changes no generation, but what a policy being deleted says counts no more.
	deleting := policy.GetDeletionTimestamp() != nil
	key := policyKey{policy.PolicyKind(), types.NamespacedName{Namespace: policy.GetNamespace(), Name: policy.GetName()}}
	entry, ok := p.entries[key]
	if !ok || entry.uid != policy.GetUID() || entry.generation != policy.GetGeneration() || entry.deleting != deleting {
		entry = policyEntry{uid: policy.GetUID(), generation: policy.GetGeneration(), deleting: deleting}
		entry.policy, entry.verdict = values.Parse(policy)
		p.entries[key] = entry
	}
	return entry.policy, entry.verdict
}

// all parses a list of policies. Invalid ones are handed on where values can tell what they would have guarded.
func (p *policies) all(list []v1alpha1.Policy) []*values.Policy {
	parsed := make([]*values.Policy, 0, len(list))
	for _, policy := range list {
		if v, _ := p.get(policy); v != nil {
			parsed = append(parsed, v)
		}
	}
	return parsed
}

// forget drops a policy that is gone.
func (p *policies) forget(kind string, name types.NamespacedName) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.entries, policyKey{kind, name})
}
