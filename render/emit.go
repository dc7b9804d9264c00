package render

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/gatewright/gatewright/internal/manifest"
)

// emitter prints trees as YAML or JSON, each string as a token.
type emitter struct {
	state *state
	out   strings.Builder
}

// toYaml prints a tree in block style, keys sorted, lists not indented under their key, without a final newline.
func toYaml(s *state, args []any) (any, error) {
	e := &emitter{state: s}
	if err := e.yaml(args[0], 0, false, 0); err != nil {
		return nil, err
	}
	return text(strings.TrimPrefix(strings.TrimSuffix(e.out.String(), "\n"), " ")), nil
}

// yaml prints a value after "key:" or "-" or at the start, and ends with a newline. inline says that a map may begin on the
// current line, as it does after "- ".
func (e *emitter) yaml(v any, indent int, inline bool, depth int) error {
	if depth > maxNesting {
		return broken("the tree is nested too deeply")
	}
	if err := e.state.budget.print(indent); err != nil {
		return err
	}
	if m, ok := asMap(v); ok && len(m) > 0 {
		return e.yamlMap(m, indent, inline, depth)
	}
	if list, ok := asList(v); ok && len(list) > 0 {
		return e.yamlList(list, indent, inline, depth)
	}
	e.out.WriteByte(' ')
	if err := e.scalar(v, yamlText); err != nil {
		return err
	}
	e.out.WriteByte('\n')
	return nil
}

func (e *emitter) yamlMap(m map[string]any, indent int, inline bool, depth int) error {
	if inline {
		e.out.WriteByte(' ')
	} else if depth > 0 {
		e.out.WriteByte('\n')
	}
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 || !inline {
			e.pad(indent)
		}
		if err := e.token(token{value: key, text: yamlText(key), key: true}); err != nil {
			return err
		}
		e.out.WriteByte(':')
		below := indent + 2
		if list, ok := asList(m[key]); ok && len(list) > 0 {
			below = indent
		}
		if err := e.yaml(m[key], below, false, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (e *emitter) yamlList(list []any, indent int, inline bool, depth int) error {
	if inline {
		e.out.WriteByte(' ')
	} else if depth > 0 {
		e.out.WriteByte('\n')
	}
	for i, item := range list {
		if i > 0 || !inline {
			e.pad(indent)
		}
		e.out.WriteByte('-')
		if err := e.yaml(item, indent+2, true, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (e *emitter) pad(n int) {
	for range n {
		e.out.WriteByte(' ')
	}
}

// scalar prints a string, number, boolean, null, or an empty map or list.
func (e *emitter) scalar(v any, spell func(string) string) error {
	if err := e.state.budget.print(4); err != nil {
		return err
	}
	switch v := v.(type) {
	case nil:
		e.out.WriteString("null")
		return nil
	case bool:
		fmt.Fprint(&e.out, v)
		return nil
	case string:
		return e.token(token{value: v, text: spell(v)})
	case text:
		plain, err := e.state.expand(v)
		if err != nil {
			return err
		}
		return e.token(token{value: plain, text: spell(plain)})
	}
	if digits, ok := number(v); ok {
		e.out.WriteString(digits)
		return nil
	}
	switch reflect.ValueOf(v).Kind() {
	case reflect.Map:
		e.out.WriteString("{}")
	case reflect.Slice, reflect.Array:
		e.out.WriteString("[]")
	default:
		return broken("the tree holds something that is no string, number, boolean, list or map")
	}
	return nil
}

func (e *emitter) token(t token) error {
	printed, err := e.state.token(t)
	if err != nil {
		return err
	}
	e.out.WriteString(string(printed))
	return nil
}

// json prints a value; indent is "" for all in one line.
func (e *emitter) json(v any, indent, margin string, depth int) error {
	if depth > maxNesting {
		return broken("the tree is nested too deeply")
	}
	if err := e.state.budget.print(len(margin)); err != nil {
		return err
	}
	inner, newline, colon := margin+indent, "", ":"
	if indent != "" {
		newline, colon = "\n", ": "
	}
	if m, ok := asMap(v); ok && len(m) > 0 {
		e.out.WriteString("{")
		for i, key := range slices.Sorted(maps.Keys(m)) {
			e.separate(i, newline, inner)
			if err := e.jsonString(key, true); err != nil {
				return err
			}
			e.out.WriteString(colon)
			if err := e.json(m[key], indent, inner, depth+1); err != nil {
				return err
			}
		}
		e.out.WriteString(newline + margin + "}")
		return nil
	}
	if list, ok := asList(v); ok && len(list) > 0 {
		e.out.WriteString("[")
		for i, item := range list {
			e.separate(i, newline, inner)
			if err := e.json(item, indent, inner, depth+1); err != nil {
				return err
			}
		}
		e.out.WriteString(newline + margin + "]")
		return nil
	}
	switch v := v.(type) {
	case string:
		return e.jsonString(v, false)
	case text:
		plain, err := e.state.expand(v)
		if err != nil {
			return err
		}
		return e.jsonString(plain, false)
	}
	return e.scalar(v, jsonText)
}

func (e *emitter) separate(i int, newline, margin string) {
	if i > 0 {
		e.out.WriteByte(',')
	}
	if newline != "" {
		e.out.WriteString(newline + margin)
	}
}

// jsonString prints a string in quotes of its own, so that only what is between them is the token's.
func (e *emitter) jsonString(value string, key bool) error {
	spelled := jsonText(value)
	e.out.WriteByte('"')
	err := e.token(token{value: value, text: spelled[1 : len(spelled)-1], key: key})
	e.out.WriteByte('"')
	return err
}

func toJSON(indent string) func(s *state, args []any) (any, error) {
	return func(s *state, args []any) (any, error) {
		e := &emitter{state: s}
		if err := e.json(args[0], indent, "", 0); err != nil {
			return nil, err
		}
		return text(e.out.String()), nil
	}
}

// plainWord is text that every YAML parser reads as text without quotes, unless it is a word with a meaning: names, paths, ARNs, 256Mi.
var plainWord = regexp.MustCompile(`^([A-Za-z/]([A-Za-z0-9_./:@=+-]*[A-Za-z0-9_./@=+-])?|[0-9]+[A-Za-z]+)$`)

// yamlText spells a string as a YAML scalar on one line.
func yamlText(value string) string {
	if plainWord.MatchString(value) && manifest.Plain(value) == any(value) {
		return value
	}
	return jsonText(value)
}

// jsonText spells a string as JSON; YAML reads it just the same.
func jsonText(value string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return `""`
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func asList(v any) ([]any, bool) {
	switch v := v.(type) {
	case []any:
		return v, true
	case liveList:
		return v, true
	case liveObjects:
		return v, true
	case nil, string, text, bool, int, int64, float64, map[string]any, live:
		return nil, false
	}
	r := reflect.ValueOf(v)
	if r.Kind() != reflect.Slice && r.Kind() != reflect.Array {
		return nil, false
	}
	list := make([]any, r.Len())
	for i := range list {
		list[i] = r.Index(i).Interface()
	}
	return list, true
}
