package render

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"dario.cat/mergo"
)

// The functions that take maps and lists apart and put them together. None changes what it is given.

func lengthOf(_ *state, args []any) (any, error) {
	if v, ok := args[0].(string); ok {
		return len(v), nil
	}
	switch r := reflect.ValueOf(args[0]); r.Kind() {
	case reflect.Slice, reflect.Array, reflect.Map:
		return r.Len(), nil
	}
	return nil, broken("only strings, lists and maps have a length, and this is %s", describe(args[0]))
}

// index follows keys and positions, as text/template's does, and waits for what a live object does not have yet.
func index(s *state, args []any) (any, error) {
	value := args[0]
	for _, key := range args[1:] {
		if m, ok := asMap(value); ok {
			name, ok := key.(string)
			if !ok {
				return nil, broken("the key of a map must be a string, and is %s", describe(key))
			}
			next, found := m[name]
			switch _, isResources := value.(resources); {
			case !found && isResources:
				return nil, broken("index .Resources: the text of the template itself must name the template that is read")
			case next == nil && isLive(value):
				return nil, &fault{pending: true, message: "what is looked for in a live object is not set yet"}
			}
			value = next
			continue
		}
		list, ok := asList(value)
		if !ok {
			return nil, broken("only lists and maps can be indexed, and this is %s", describe(value))
		}
		i, err := asInt(key)
		if err != nil {
			return nil, err
		}
		if i < 0 || i >= len(list) {
			if isLive(value) {
				return nil, &fault{pending: true, message: "the item that is looked for in a list of live objects is not there yet"}
			}
			return nil, broken("the list has no item at that position")
		}
		value = list[i]
	}
	return value, nil
}

func end(last bool) func(s *state, args []any) (any, error) {
	return func(s *state, args []any) (any, error) {
		list, ok := asList(args[0])
		switch {
		case !ok:
			return nil, broken("a list is needed here, and this is %s", describe(args[0]))
		case len(list) > 0 && last:
			return list[len(list)-1], nil
		case len(list) > 0:
			return list[0], nil
		case isLive(args[0]):
			return nil, &fault{pending: true, message: "a list of a live object is still empty"}
		}
		return nil, nil
	}
}

func initial(_ *state, args []any) (any, error) {
	list, ok := asList(args[0])
	if !ok {
		return nil, broken("a list is needed here, and this is %s", describe(args[0]))
	}
	return slices.Clone(list[:max(len(list)-1, 0)]), nil
}

func get(_ *state, args []any) (any, error) {
	m, key, err := mapAndKey(args)
	if err != nil || m[key] == nil {
		return "", err
	}
	return m[key], nil
}

func hasKey(_ *state, args []any) (any, error) {
	m, key, err := mapAndKey(args)
	_, found := m[key]
	return found, err
}

func mapAndKey(args []any) (map[string]any, string, error) {
	key, ok := args[1].(string)
	if !ok {
		return nil, "", broken("the key must be a string, and is %s", describe(args[1]))
	}
	m, ok := asMap(args[0])
	if !ok && args[0] != nil {
		return nil, "", broken("argument 1 must be a map, and is %s", describe(args[0]))
	}
	return m, key, nil
}

// dig follows keys through nested maps, and gives the last but one argument where one is absent.
func dig(_ *state, args []any) (any, error) {
	value, fallback := args[len(args)-1], args[len(args)-2]
	for _, key := range args[:len(args)-2] {
		if value == nil {
			return fallback, nil
		}
		m, ok := asMap(value)
		if !ok {
			return nil, broken("there is %s on the way, not a map", describe(value))
		}
		name, ok := key.(string)
		if !ok {
			return nil, broken("a key must be a string, and is %s", describe(key))
		}
		value = m[name]
	}
	if value == nil {
		return fallback, nil
	}
	return value, nil
}

// set gives a copy of a map with one more key. sprig's set changes the map itself, which templates share.
func set(_ *state, args []any) (any, error) {
	m, key, err := mapAndKey(args)
	if err != nil {
		return nil, err
	}
	changed := make(map[string]any, len(m)+1)
	maps.Copy(changed, m)
	changed[key] = args[2]
	return changed, nil
}

func unset(_ *state, args []any) (any, error) {
	m, key, err := mapAndKey(args)
	if err != nil {
		return nil, err
	}
	changed := maps.Clone(m)
	delete(changed, key)
	return changed, nil
}

func keys(_ *state, args []any) (any, error) {
	var all []any
	for _, arg := range args {
		m, ok := asMap(arg)
		if !ok {
			return nil, broken("a map is needed here, and this is %s", describe(arg))
		}
		for _, key := range slices.Sorted(maps.Keys(m)) {
			all = append(all, key)
		}
	}
	return all, nil
}

func valuesOf(_ *state, args []any) (any, error) {
	m, ok := asMap(args[0])
	if !ok {
		return nil, broken("a map is needed here, and this is %s", describe(args[0]))
	}
	var all []any
	for _, key := range slices.Sorted(maps.Keys(m)) {
		all = append(all, m[key])
	}
	return all, nil
}

func merge(overwrite bool) func(s *state, args []any) (any, error) {
	return func(s *state, args []any) (any, error) {
		var result map[string]any
		for i, arg := range args {
			m, ok := asMap(arg)
			if !ok {
				return nil, broken("argument %d must be a map, and is %s", i+1, describe(arg))
			}
			if i == 0 {
				result = plainMap(m)
				continue
			}
			var options []func(*mergo.Config)
			if overwrite {
				options = append(options, mergo.WithOverride)
			}
			if err := mergo.Merge(&result, plainMap(m), options...); err != nil {
				return nil, broken("the maps cannot be merged")
			}
		}
		return result, nil
	}
}

func deepCopy(_ *state, args []any) (any, error) {
	return plainCopy(args[0]), nil
}

func typeOf(_ *state, args []any) (any, error) {
	return typeName(args[0]), nil
}

func typeIs(_ *state, args []any) (any, error) {
	return typeName(args[1]) == args[0], nil
}

// typeName hides our own types.
func typeName(v any) string {
	switch v.(type) {
	case live, resources:
		return "map[string]interface {}"
	case liveList, liveObjects:
		return "[]interface {}"
	}
	return fmt.Sprintf("%T", v)
}
