package values

import (
	"slices"
	"sync"
)

// layer is a block of a source that matches the target.
type layer struct {
	*block
	// source is the index of the source, and level that of its level: the greater, the less specific.
	source, level int
	isDefault     bool
	setter        Setter
	// whole is the block's tree as it is merged, and tree is that less what was removed from it.
	whole, tree Tree
	// items are the names of the items of the lists that are merged, in their order, by the list's path.
	items map[string][]string
	// inactive says why the layer has no part in the result; nil if it has.
	inactive *Inactive
	// failure is that of an override's or constraint's condition, which then counts as true.
	failure error
}

// level is all that the sources of one rank bring along. Within a level the oldest wins, so it comes last.
type level struct {
	defaults, overrides, constraints []*layer
	removes                          []*remover
}

// remover is a source's wish to remove a path.
type remover struct {
	removal
	setter Setter
	// isKey says that the path leads to the key of a list item, without which the item would be another.
	isKey bool
	// struck says that there is something to remove.
	struck bool
}

// stack is the state of a computation: what is active so far, and what it adds up to. All lists of layers in it have the
// weakest first.
type stack struct {
	// levels have the most specific first, as this is the order in which blocks are activated.
	levels []level
	// all are the layers of all valid sources.
	all []*layer
	// layers are the active ones, and tree is their fold with the layers of top over them.
	layers, top []*layer
	tree        Tree
	// seen is the tree as conditions see it; nil if none has looked since it changed.
	seen Tree
	// marks say how to merge; nil where there is nothing to heed.
	marks  *Marks
	target map[string]any
	budget budget
}

// newStack makes layers of the blocks of all valid sources, which come with the least specific first, the oldest first
// within a rank.
func newStack(sources []source, marks *Marks, t *Target) *stack {
	s := &stack{target: t.variable()}
	if marks.any((*Marks).reshapes) {
		s.marks = marks
	}
	for i := range slices.Backward(sources) {
		src := &sources[i]
		if i == len(sources)-1 || src.rank != sources[i+1].rank {
			s.levels = append(s.levels, level{})
		}
		if src.invalid || len(src.trespasses) > 0 {
			continue
		}
		l := &s.levels[len(s.levels)-1]
		if src.defaults != nil {
			l.defaults = append(l.defaults, s.layer(i, src, src.defaults))
		}
		if src.overrides != nil {
			l.overrides = append(l.overrides, s.layer(i, src, src.overrides))
		}
		for _, c := range src.constraints {
			l.constraints = append(l.constraints, s.layer(i, src, c))
		}
		for _, r := range src.removes {
			l.removes = append(l.removes, &remover{
				removal: r, setter: Setter{src.Ref(), BlockRemove, src.rank.level}, isKey: marks.isKey(r.keys),
			})
		}
	}
	return s
}

func (s *stack) layer(index int, src *source, b *block) *layer {
	l := &layer{
		block: b, source: index, level: len(s.levels) - 1, isDefault: b == src.defaults, whole: b.tree,
		setter: Setter{src.Ref(), b.name, src.rank.level},
	}
	if s.marks != nil {
		l.whole, l.items = shape(s.marks, b.tree)
	}
	l.tree = l.whole
	s.all = append(s.all, l)
	return l
}

// deactivate notes why a layer has no part in the result. That happens once at most, as only active layers are looked at.
func (l *layer) deactivate(reason Reason, by *layer, message string) {
	l.inactive = &Inactive{Setter: l.setter, Reason: reason, Message: message}
	if by != nil {
		l.inactive.By = &by.setter
	}
}

// activateDefaults decides, from the most specific level up, which defaults apply, after removals. It makes them the layers
// of the stack, and returns what was removed.
func (s *stack) activateDefaults() []Removal {
	var removed []Removal
	var removers []*remover
	var specific []*layer  // what more specific levels contribute
	var contributor *layer // the block there that an atomic default gives way to
	for i := range s.levels {
		l := &s.levels[i]
		self := s.lazily(specific)
		var candidates []*layer
		for _, d := range l.defaults {
			for _, r := range removers {
				removed = d.remove(r, removed)
			}
			if s.holds(d, self, self) && !d.givesWay(contributor) {
				candidates = append(candidates, d)
			}
		}
		removers = append(removers, l.removes...)
		stand := resolve(candidates)
		certain := standing(unconditional(l.overrides))
		if contributor == nil {
			contributor = strongestContributor(slices.Concat(stand, certain))
		}
		s.layers = slices.Concat(stand, s.layers)
		specific = slices.Concat(stand, specific)
		for _, o := range certain {
			specific = append(spared(specific, o), o)
		}
	}
	s.tree = fold(s.layers)
	return removed
}

// givesWay deactivates an atomic default if a more specific level contributes.
func (l *layer) givesWay(contributor *layer) bool {
	if !l.atomic || contributor == nil {
		return false
	}
	l.deactivate(AtomicSuperseded, contributor, "")
	return true
}

// strongestContributor finds a layer that sets at least one leaf, for which neither null nor an empty map counts.
func strongestContributor(layers []*layer) *layer {
	for _, l := range slices.Backward(layers) {
		if setsLeaf(l.tree) {
			return l
		}
	}
	return nil
}

// activateOverrides decides, from the most specific level up, which overrides and constraints apply, and lays them over the
// stack.
func (s *stack) activateOverrides() {
	for i := range s.levels {
		s.activateSiblings(i)
		lower := s.lazily(s.moreSpecific(i))
		for _, c := range s.levels[i].constraints {
			if s.holds(c, s.fold, lower) {
				s.push([]*layer{c})
			}
		}
	}
}

// activateSiblings activates the overrides of one level. Each condition sees what its block would be laid over, newer
// siblings included, except those that would conflict with it.
func (s *stack) activateSiblings(i int) {
	lower := s.lazily(s.moreSpecific(i))
	var candidates []*layer
	for _, o := range s.levels[i].overrides {
		withIt := append(slices.Clone(candidates), o)
		beneath := func() Tree {
			stand := standing(withIt)
			return s.view(stand[:len(stand)-1])
		}
		if s.holds(o, beneath, lower) {
			candidates = withIt
		}
	}
	s.push(resolve(candidates))
}

// standing are those of the siblings that may stand together: if one of two is atomic, the older takes all.
func standing(siblings []*layer) []*layer {
	last := len(siblings) - 1
	if last < 0 {
		return nil
	}
	if siblings[last].atomic {
		return siblings[last:]
	}
	return slices.DeleteFunc(slices.Clone(siblings), func(l *layer) bool { return l.atomic })
}

// resolve is standing for siblings that would all apply. Those that may not conflict with the oldest.
func resolve(siblings []*layer) []*layer {
	stand := standing(siblings)
	if len(stand) == len(siblings) {
		return stand
	}
	oldest := siblings[len(siblings)-1]
	for _, l := range siblings[:len(siblings)-1] {
		if l.atomic || oldest.atomic {
			l.deactivate(Conflicted, oldest, "")
		}
	}
	return stand
}

// unconditional are the layers that have no condition.
func unconditional(layers []*layer) []*layer {
	return slices.DeleteFunc(slices.Clone(layers), func(l *layer) bool { return l.when != nil })
}

// spared are the layers that an override leaves standing, which for an atomic one are the defaults of less specific levels.
func spared(layers []*layer, o *layer) []*layer {
	if !o.atomic {
		return layers
	}
	return slices.DeleteFunc(slices.Clone(layers), func(l *layer) bool { return !l.isDefault || l.level <= o.level })
}

// moreSpecific are the active layers of levels that are more specific.
func (s *stack) moreSpecific(i int) []*layer {
	return slices.DeleteFunc(slices.Clone(s.layers), func(l *layer) bool { return l.level >= i })
}

// fold is what the active layers add up to, as conditions see it.
func (s *stack) fold() Tree { return s.view(nil) }

// view is what the active layers add up to with the given overrides of one level over them, as conditions see it.
func (s *stack) view(top []*layer) Tree {
	s.lay(top)
	if s.marks == nil {
		return s.tree
	}
	if s.seen == nil {
		s.seen, _ = unshape(s.marks, s.tree, slices.Concat(s.layers, top))
	}
	return s.seen
}

// lay makes the tree what the active layers add up to with the given overrides of one level over them. It builds on what it
// made before, where it can.
func (s *stack) lay(top []*layer) {
	if len(top) < len(s.top) || !slices.Equal(top[:len(s.top)], s.top) {
		s.tree, s.top, s.seen = fold(s.layers), nil, nil
	}
	for _, l := range top[len(s.top):] {
		if l.atomic {
			s.tree = fold(spared(s.layers, l))
		}
		overlay(s.tree, l.tree)
		s.seen = nil
	}
	s.top = top
}

// push lays overrides over the active layers.
func (s *stack) push(top []*layer) {
	s.lay(top)
	s.top = nil
	for _, o := range top {
		if !o.atomic {
			s.layers = append(s.layers, o)
			continue
		}
		kept := spared(s.layers, o)
		for _, l := range s.layers {
			if !slices.Contains(kept, l) {
				l.deactivate(AtomicOverridden, o, "")
			}
		}
		kept = append(kept, o)
		s.layers = kept
	}
}

// lazily folds layers, for conditions, when one of them looks.
func (s *stack) lazily(layers []*layer) func() Tree {
	return sync.OnceValue(func() Tree {
		tree := fold(layers)
		if s.marks != nil {
			tree, _ = unshape(s.marks, tree, layers)
		}
		return tree
	})
}

// holds says whether a block's condition holds, and deactivates the block if not. A condition that fails counts as false
// for a default and as true for an override or constraint: no value may escape a guard rail by being of a wrong type.
func (s *stack) holds(l *layer, self, lower func() Tree) bool {
	if l.when == nil {
		return true
	}
	held, err := s.look(l, self, lower)
	switch {
	case err != nil && l.isDefault:
		l.deactivate(ConditionError, nil, err.Error())
		return false
	case err != nil:
		l.failure = err
		return true
	case !held:
		l.deactivate(WhenFalse, nil, "")
	}
	return held
}

// look evaluates a layer's condition, unless what conditions may cost is spent.
func (s *stack) look(l *layer, self, lower func() Tree) (bool, error) {
	if err := s.budget.exhausted(l.source); err != nil {
		return false, err
	}
	held, cost, err := l.when.holds(map[string]any{
		varSelf:   self(),
		varLower:  func() any { return lower() },
		varTarget: s.target,
	})
	s.budget.spend(l.source, cost)
	return held, err
}
