package render

import (
	"errors"
	"maps"
	"math"
	"slices"
)

// function is a function that templates may call. All are hermetic and deterministic, and none changes its arguments.
type function struct {
	// min and max number of arguments; max may be unlimited.
	min, max int
	// absent says what an absent field means as an argument.
	absent mode
	// nils says that an argument may be nil.
	nils bool
	// walks says that the function walks the whole tree of an argument, which is then measured first.
	walks bool
	// copies says that the function goes through the entries of a map that it is given, and not through what is in them.
	copies bool
	// raw says that the function sees printed text as text, not as the string that it stands for.
	raw bool
	// cost is the number of steps that a call takes, besides one for each so many bytes of its strings; may be nil.
	cost func(args []any) (int, error)
	call func(s *state, args []any) (any, error)
}

// functions are all that templates may call, besides and, or and not, whose arguments text/template evaluates only as needed.
// It is an allow-list: whatever sprig adds is out until somebody has looked at it.
var functions map[string]*function

// The list is made here rather than where it is declared, since tpl, which is in it, looks functions up.
func init() {
	functions = libraryFunctions()
	maps.Copy(functions, ownFunctions())
}

// invoke calls a function on behalf of a template: within the budget, with arguments that fit, and whatever happens inside.
func (s *state) invoke(name string, f *function, args []any) (result any, err error) {
	// The library panics on arguments that it does not like, and its words may quote them.
	defer func() {
		if recover() != nil {
			result, err = nil, broken("%s cannot work with what it is given", name)
		}
	}()
	args = slices.Clone(args)
	if err := s.prepare(name, f, args); err != nil {
		return nil, err
	}
	result, err = f.call(s, args)
	if err != nil {
		return nil, named(name, err)
	}
	size := shallowSize(result)
	if f.walks {
		size = measure(result, maxMemory).bytes
	}
	if err := s.budget.keep(size); err != nil {
		return nil, named(name, err)
	}
	return result, nil
}

// named puts the name of a function before what it says. An error that is not ours says nothing, since it may quote values.
func named(name string, err error) error {
	var f *fault
	switch {
	case !errors.As(err, &f):
		return broken("%s cannot work with what it is given", name)
	case f.pending || f.within != "" || saysItAll[name]:
		return f
	}
	return broken("%s: %s", name, f.message)
}

// saysItAll are functions whose faults need not be told whose they are.
var saysItAll = map[string]bool{"include": true, "fail": true, "required": true}

// prepare charges for a call and gives the arguments the form that the function expects.
func (s *state) prepare(name string, f *function, args []any) error {
	bytes, items, copied := 0, 0, 0
	var walked extent
	for i, arg := range args {
		switch v := arg.(type) {
		case nil:
			if !f.nils {
				return s.nothing(name)
			}
		case string:
			bytes += len(v)
		case text:
			bytes += len(v)
			if f.raw {
				continue
			}
			plain, err := s.expand(v)
			if err != nil {
				return err
			}
			bytes += len(plain)
			args[i] = plain
		case bool, int, int64, float64:
		default:
			items += length(v)
			if f.walks {
				tree := measure(v, maxArguments)
				walked.bytes += tree.bytes
				walked.entries += tree.entries
			} else if f.copies {
				copied += entries(v)
			}
		}
	}
	if bytes+walked.bytes > maxArguments || items > maxItems {
		return broken("%s: what it is given is too large", name)
	}
	steps := 1 + bytes/bytesPerStep + walked.bytes/bytesWalkedPerStep + walked.entries + (items+copied)/itemsPerStep
	if f.cost != nil {
		more, err := f.cost(args)
		if err != nil {
			return named(name, err)
		}
		steps += more
	}
	return s.budget.spend(steps)
}

// nothing says that a function was given nothing, and waits if that is because of a live object.
func (s *state) nothing(name string) error {
	if s.missed != nil {
		return s.missed
	}
	return broken("%s: what it is given is not set; give it a default", name)
}

// asInt takes a whole number of any type.
func asInt(v any) (int, error) {
	n, ok := wholeNumber(v)
	if !ok {
		return 0, broken("a whole number is needed here, and this is %s", describe(v))
	}
	return n, nil
}

func wholeNumber(v any) (n int, ok bool) {
	switch n := v.(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	case float64:
		return int(n), n == math.Trunc(n) && math.Abs(n) < 1<<53
	}
	return 0, false
}
