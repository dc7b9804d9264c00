package values

import (
	"cmp"
	"slices"

	"github.com/gatewright/gatewright/internal/order"
)

// Compute folds a blueprint's values (nil means none) and those of the policies that match the target into one tree. It
// is total: what is invalid contributes nothing and is reported. The policies may be listed in any order. If the blueprint has
// a schema, the tree is merged as that says, then filled up with its defaults and held against it.
//
// For a listener of a ListenerSet of another namespace than the Gateway's, the GatewayConfigs of that namespace are guests: as soon
// as they would keep the values from being put into effect, they are set aside, all of them. Otherwise whoever may attach a
// ListenerSet could stop the Gateway and all that share it.
func Compute(blueprint *Policy, policies []*Policy, t Target) Effective {
	sources, refused := attached(blueprint, policies, &t)
	e := compute(blueprint, sources, &t)
	isGuest := func(s source) bool { return s.isGuest(&t) }
	if len(e.Blocked()) > 0 && slices.ContainsFunc(sources, isGuest) {
		hosts := compute(blueprint, slices.DeleteFunc(slices.Clone(sources), isGuest), &t)
		if len(hosts.Blocked()) == 0 {
			hosts.setAside(slices.DeleteFunc(sources, func(s source) bool { return !isGuest(s) }), &e)
			e = hosts
		}
	}
	e.Refused = refused
	e.account()
	return e
}

// compute is Compute for sources in order.
func compute(blueprint *Policy, sources []source, t *Target) Effective {
	contract, marks := contractOf(blueprint)
	if marks.any((*Marks).restricts) {
		for i := range sources {
			sources[i].trespasses = sources[i].Policy.trespasses(marks, sources[i].rank.level)
		}
	}
	s := newStack(sources, marks, t)
	removed := s.activateDefaults()
	s.activateOverrides()
	e := Effective{Tree: s.tree, Removed: removed, Contributions: contributions(sources), Held: held(sources)}
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

// isGuest says whether the source is a policy of the namespace of a ListenerSet, for a listener of that, in a Gateway of another
// namespace.
func (s *source) isGuest(t *Target) bool {
	return t.ListenerSet != nil && t.Route == nil && s.meta.Namespace != t.Gateway.Namespace &&
		s.rank.level >= LevelListenerSetNamespace && s.rank.level <= LevelListenerSetListener
}

// setAside notes what became of guests that are left out. with is what came of it with them. They are the most specific sources.
func (e *Effective) setAside(guests []source, with *Effective) {
	for i := range guests {
		guest := &guests[i]
		at := slices.IndexFunc(with.Contributions, func(c Contribution) bool { return c.Source == guest.Ref() })
		e.Contributions = append(e.Contributions, Contribution{
			Source: guest.Ref(), Level: guest.rank.level, Refs: guest.refs, SetAside: true, Violations: with.Contributions[at].Violations,
		})
		for _, b := range guest.blocks() {
			e.Inactive = append(e.Inactive, Inactive{
				Setter: Setter{guest.Ref(), b.name, guest.rank.level}, Reason: SetAside,
				Message: "a policy of the ListenerSet's namespace is not allowed, and the listeners go without all of them",
			})
		}
	}
}

// account tells each source of what it took away or lost, and of its blocks that have no part.
func (e *Effective) account() {
	at := make(map[string]*Contribution, len(e.Contributions))
	for i := range e.Contributions {
		at[e.Contributions[i].Source] = &e.Contributions[i]
	}
	for _, r := range e.Removed {
		at[r.By.SetBy].Removes++
		at[r.SetBy].Removed = append(at[r.SetBy].Removed, r)
	}
	for _, inactive := range e.Inactive {
		c := at[inactive.SetBy]
		c.Inactive = append(c.Inactive, inactive)
	}
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
