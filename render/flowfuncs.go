package render

import "reflect"

// The functions that decide what is rendered, and with what.

func include(s *state, args []any) (any, error) {
	name, err := s.plainArgument(args[0])
	if err != nil {
		return nil, err
	}
	return s.include(name, args[1])
}

func tpl(s *state, args []any) (any, error) {
	source, ok := args[0].(string)
	if !ok {
		return nil, broken("argument 1 must be a string, and is %s", describe(args[0]))
	}
	return s.tpl(source, args[1])
}

// plainArgument is a string that may have been printed.
func (s *state) plainArgument(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case text:
		return s.expand(v)
	}
	return "", broken("a string is needed here, and this is %s", describe(v))
}

func fail(_ *state, args []any) (any, error) {
	message, _ := args[0].(string)
	return nil, broken("%s", message)
}

func required(s *state, args []any) (any, error) {
	message, err := s.plainArgument(args[0])
	if err != nil {
		return nil, err
	}
	if args[1] == nil || args[1] == "" || args[1] == text("") {
		if s.missed != nil {
			return nil, s.missed
		}
		return nil, broken("%s", message)
	}
	return args[1], nil
}

func defaultTo(s *state, args []any) (any, error) {
	if len(args) == 2 && !s.isNothing(args[1]) {
		return args[1], nil
	}
	return args[0], nil
}

func coalesce(s *state, args []any) (any, error) {
	for _, arg := range args {
		if !s.isNothing(arg) {
			return arg, nil
		}
	}
	return nil, nil
}

// isNothing is what default and coalesce pass over: nil, false, 0, and whatever is empty.
func (s *state) isNothing(v any) bool {
	if t, ok := v.(text); ok {
		return s.isEmpty(t)
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Slice, reflect.Map, reflect.Array:
		return r.Len() == 0
	}
	return r.IsZero()
}

func ternary(s *state, args []any) (any, error) {
	switch condition := args[2].(type) {
	case bool:
		if condition {
			return args[0], nil
		}
	case nil:
	default:
		return nil, broken("the condition must be true or false, and is %s", describe(condition))
	}
	return args[1], nil
}
