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

// overriddenAt finds an override or constraint that sets a leaf at a path or below it. The origins are sorted by path.
func overriddenAt(origins []Origin, path string) *Setter {
	at, _ := slices.BinarySearchFunc(origins, path, comparePath)
	below, _ := slices.BinarySearchFunc(origins, path+"/", comparePath)
	for i := at; i < len(origins) && origins[i].Path == path; i++ {
		if origins[i].Block != BlockDefault {
			return &origins[i].Setter
		}
	}
	for i := below; i < len(origins) && strings.HasPrefix(origins[i].Path, path+"/"); i++ {
		if origins[i].Block != BlockDefault {
			return &origins[i].Setter
		}
	}
	return nil
}

func comparePath(o Origin, path string) int { return strings.Compare(o.Path, path) }
