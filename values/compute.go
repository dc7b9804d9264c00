package values

import (
	"slices"

	"github.com/gatewright/gatewright/internal/order"
)

// Compute folds a blueprint's values (nil means none) and those of the policies that match the target into one tree. It
// is total: what is invalid contributes nothing and is reported. The policies may be listed in any order.
func Compute(blueprint *Policy, policies []*Policy, t Target) Effective {
	sources := attached(blueprint, policies, &t)
	s := newStack(sources, &t)
	removed := s.activateDefaults()
	s.activateOverrides()
	e := Effective{Tree: s.tree, Removed: removed, Contributions: contributions(sources), Held: held(sources)}
	trace(s.layers, &e)
	s.report(&e)
	return e
}

// source is a policy or blueprint that matches the target.
type source struct {
	*Policy
	rank rank
	refs []int
}

// attached finds the sources that match the target, the least specific first, the oldest first within a rank. A policy that
// is being deleted is ignored, and one that is listed twice counts once.
func attached(blueprint *Policy, policies []*Policy, t *Target) []source {
	var sources []source
	if blueprint != nil {
		sources = append(sources, source{Policy: blueprint, rank: rank{level: LevelBlueprint}})
	}
	for _, p := range policies {
		if p == nil || p.deleting {
			continue
		}
		if at, refs := p.place(t); len(refs) > 0 {
			sources = append(sources, source{p, at, refs})
		}
	}
	slices.SortStableFunc(sources, func(a, b source) int {
		if c := a.rank.compare(b.rank); c != 0 {
			return c
		}
		return order.Compare(&a.meta, &b.meta)
	})
	return slices.CompactFunc(sources, func(a, b source) bool { return a.Ref() == b.Ref() })
}

func contributions(sources []source) []Contribution {
	list := make([]Contribution, len(sources))
	for i, s := range sources {
		list[i] = Contribution{Source: s.Ref(), Level: s.rank.level, Refs: s.refs}
	}
	return list
}

// held names the invalid sources whose guard rails must not be lifted by rendering without them.
func held(sources []source) []string {
	var refs []string
	for _, s := range sources {
		if s.invalid && s.guards {
			refs = append(refs, s.Ref())
		}
	}
	return refs
}
