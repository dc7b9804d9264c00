package render

import (
	"cmp"
	"reflect"
)

// equal says whether the first argument equals any other. Numbers of all types compare with each other; nothing equals nothing.
func equal(_ *state, args []any) (any, error) {
	for _, other := range args[1:] {
		same, err := same(args[0], other)
		if same || err != nil {
			return same, err
		}
	}
	return false, nil
}

func notEqual(_ *state, args []any) (any, error) {
	same, err := same(args[0], args[1])
	return !same, err
}

func same(a, b any) (bool, error) {
	if a == nil || b == nil {
		return a == nil && b == nil, nil
	}
	if c, ok := order(a, b); ok {
		return c == 0, nil
	}
	if x, ok := a.(bool); ok {
		if y, ok := b.(bool); ok {
			return x == y, nil
		}
	}
	return false, incomparable(a, b)
}

// compare is lt, le, gt or ge: which results of a comparison are true.
func compare(holds func(c int) bool) func(s *state, args []any) (any, error) {
	return func(_ *state, args []any) (any, error) {
		c, ok := order(args[0], args[1])
		if !ok {
			return nil, incomparable(args[0], args[1])
		}
		return holds(c), nil
	}
}

// order compares two numbers or two strings.
func order(a, b any) (c int, ok bool) {
	if x, ok := a.(string); ok {
		y, ok := b.(string)
		return cmp.Compare(x, y), ok
	}
	x, y := reflect.ValueOf(a), reflect.ValueOf(b)
	switch {
	case x.CanInt() && y.CanInt():
		return cmp.Compare(x.Int(), y.Int()), true
	case x.CanInt() && y.CanFloat():
		return cmp.Compare(float64(x.Int()), y.Float()), true
	case x.CanFloat() && y.CanInt():
		return cmp.Compare(x.Float(), float64(y.Int())), true
	case x.CanFloat() && y.CanFloat():
		return cmp.Compare(x.Float(), y.Float()), true
	}
	return 0, false
}

func incomparable(a, b any) error {
	return broken("%s cannot be compared with %s", describe(a), describe(b))
}
