package values

import (
	"cmp"
	"slices"

	"github.com/gatewright/gatewright/internal/order"
)

// Compute folds a blueprint's values (nil means none) and those of the policies that match the target into one tree. It
// is total: what is invalid contributes nothing and is reported. The policies may be listed in any order. If the blueprint has
// a schema, the tree is merged as that says, then filled up with its defaults and held against it.
func Compute(blueprint *Policy, policies []*Policy, t Target) Effective {
	sources, refused := attached(blueprint, policies, &t)
	contract, marks := contractOf(blueprint)
	if marks.any((*Marks).restricts) {
		for i := range sources {
			sources[i].trespasses = sources[i].Policy.trespasses(marks, sources[i].rank.level)
		}
	}
	s := newStack(sources, marks, &t)
	removed := s.activateDefaults()
	s.activateOverrides()
	e := Effective{Tree: s.tree, Removed: removed, Contributions: contributions(sources), Refused: refused, Held: held(sources)}
	trace(s.layers, &e)
	s.report(&e)
	s.restore(&e)
	if contract != nil {
		e.conform(contract, Setter{blueprint.Ref(), BlockSchema, LevelBlueprint})
	}
	e.blame(sources)
	return e
}

// contractOf is the schema of a blueprint and its marks, if there are any.
func contractOf(blueprint *Policy) (Schema, *Marks) {
	if blueprint == nil || blueprint.invalid || blueprint.schema == nil {
		return nil, nil
	}
	return blueprint.schema, blueprint.schema.Marks()
}

// source is a policy or blueprint that matches the target.
type source struct {
	*Policy
	rank rank
	refs []int
	// trespasses are why the policy contributes nothing, if there are any.
	trespasses []Violation
}

// attached finds the sources that match the target, the least specific first, the oldest first within a rank. A policy that
// is being deleted is ignored, and one that is listed twice counts once. Those that would match by references that are not
// accepted are refused.
func attached(blueprint *Policy, policies []*Policy, t *Target) (sources []source, refused []Refusal) {
	if blueprint != nil {
		sources = append(sources, source{Policy: blueprint, rank: rank{level: LevelBlueprint}})
	}
	for _, p := range policies {
		if p == nil || p.deleting {
			continue
		}
		at, refs, not := p.place(t)
		if len(refs) > 0 {
			sources = append(sources, source{Policy: p, rank: at, refs: refs})
		}
		if len(not) > 0 {
			refused = append(refused, Refusal{p.Ref(), not})
		}
	}
	slices.SortStableFunc(sources, func(a, b source) int {
		if c := a.rank.compare(b.rank); c != 0 {
			return c
		}
		return order.Compare(&a.meta, &b.meta)
	})
	slices.SortFunc(refused, func(a, b Refusal) int { return cmp.Compare(a.Source, b.Source) })
	return slices.CompactFunc(sources, func(a, b source) bool { return a.Ref() == b.Ref() }),
		slices.CompactFunc(refused, func(a, b Refusal) bool { return a.Source == b.Source })
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
