package values

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// report tells which blocks are inactive and what authors should hear about, the least specific source first. The origins
// must be known already.
func (s *stack) report(e *Effective) {
	slices.SortStableFunc(s.all, func(a, b *layer) int { return cmp.Compare(a.source, b.source) })
	for _, l := range s.all {
		if l.inactive != nil {
			e.Inactive = append(e.Inactive, *l.inactive)
		}
		if l.failure != nil {
			e.Warnings = append(e.Warnings, Warning{
				Setter: l.setter, Reason: ConditionError,
				Message: l.failure.Error() + ", so the block applies",
			})
		}
	}
	for _, l := range slices.Backward(s.levels) {
		for _, r := range l.removes {
			if w := r.warning(e.Origins); w != nil {
				e.Warnings = append(e.Warnings, *w)
			}
		}
	}
}

// warning says that a removal is ineffective, if it is: it found nothing, or an override sets what it names.
func (r *remover) warning(origins []Origin) *Warning {
	w := &Warning{Setter: r.setter, Reason: RemoveIneffective, Path: r.path}
	if r.isKey {
		w.Message = "it is the key of an item of a list, which can only be removed with the item"
		return w
	}
	if held := overriddenAt(origins, r.path); held != nil {
		w.Message = fmt.Sprintf("the %s of %s sets it, which cannot be removed", held.Block, held.SetBy)
		return w
	}
	if !r.struck {
		w.Message = "no less specific default sets it, and nothing else can be removed"
		return w
	}
	return nil
}

// overriddenAt finds an override or constraint that sets a leaf at a path or below it.
func overriddenAt(origins []Origin, path string) *Setter {
	for _, o := range within(origins, path) {
		if o.Block != BlockDefault {
			return &o.Setter
		}
	}
	return nil
}

// within are the origins of the leaves at a path or below it. The origins are sorted by path.
func within(origins []Origin, path string) []Origin {
	at, _ := slices.BinarySearchFunc(origins, path, comparePath)
	end := at
	for end < len(origins) && origins[end].Path == path {
		end++
	}
	found := slices.Clone(origins[at:end])
	at, _ = slices.BinarySearchFunc(origins, path+"/", comparePath)
	for end = at; end < len(origins) && strings.HasPrefix(origins[end].Path, path+"/"); end++ {
	}
	return append(found, origins[at:end]...)
}

func comparePath(o Origin, path string) int { return strings.Compare(o.Path, path) }
