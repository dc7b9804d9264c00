package values

import (
	"slices"

	"github.com/gatewright/gatewright/internal/order"
)

// source is a policy or blueprint that matches the target.
type source struct {
	*Policy
	rank rank
	refs []int
}

// layer is a block of a source in the stack.
type layer struct {
	// source is the index of the source.
	source int
	setter Setter
	tree   Tree
}

// Compute folds a blueprint's values (nil means none) and those of the policies that match the target into one tree. It
// is total: what is invalid contributes nothing and is reported. The policies may be listed in any order.
func Compute(blueprint *Policy, policies []*Policy, t Target) Effective {
	sources := attached(blueprint, policies, &t)
	stack := stacked(sources)
	e := Effective{Tree: fold(stack), Contributions: contributions(sources), Held: held(sources)}
	trace(stack, &e)
	return e
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

// stacked lists the blocks of the sources from the weakest to the strongest: defaults from the least specific rank to the
// most specific one, then overrides the other way round; within a rank the newest first, so that the oldest wins.
func stacked(sources []source) []*layer {
	var stack []*layer
	push := func(i int, b *block) {
		s := &sources[i]
		if b == nil || s.invalid {
			return
		}
		stack = append(stack, &layer{source: i, setter: Setter{s.Ref(), b.name, s.rank.level}, tree: b.tree})
	}
	ranks := ranked(sources)
	for _, r := range ranks {
		for i := r.end - 1; i >= r.start; i-- {
			push(i, sources[i].defaults)
		}
	}
	for _, r := range slices.Backward(ranks) {
		for i := r.end - 1; i >= r.start; i-- {
			push(i, sources[i].overrides)
		}
	}
	return stack
}

// span is the part of the sorted sources that shares a rank.
type span struct{ start, end int }

func ranked(sources []source) []span {
	var spans []span
	for i := range sources {
		if i == 0 || sources[i].rank != sources[i-1].rank {
			spans = append(spans, span{start: i})
		}
		spans[len(spans)-1].end = i + 1
	}
	return spans
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
