package render

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"dario.cat/mergo"

	"github.com/gatewright/gatewright/internal/manifest"
)

// ownFunctions are those that Helm has and sprig lacks, those of text/template and sprig that must know about live objects,
// printed text, budgets or copies, and those that blueprints need and nobody has.
func ownFunctions() map[string]*function {
	fixed := func(n int, call func(*state, []any) (any, error)) *function {
		return &function{min: n, max: n, call: call}
	}
	walk := func(f *function) *function { f.walks = true; return f }
	raw := func(f *function) *function { f.raw = true; return f }
	cope := func(f *function) *function { f.absent, f.nils = lenient, true; return f }
	parses := func(f *function) *function { f.cost = parseCost; return f }
	any1 := func(call func(*state, []any) (any, error)) *function { return &function{min: 1, max: -1, call: call} }

	functions := map[string]*function{
		"toYaml": raw(walk(fixed(1, toYaml))), "toJson": raw(walk(fixed(1, toJson("")))), "toRawJson": raw(walk(fixed(1, toJson("")))),
		"toPrettyJson": raw(walk(fixed(1, toJson("  ")))), "fromYaml": raw(parses(fixed(1, fromYaml))), "fromJson": raw(parses(fixed(1, fromJson))),
		"quote":  raw(walk(&function{min: 1, max: -1, nils: true, call: quote})),
		"indent": raw(fixed(2, indent(""))), "nindent": raw(fixed(2, indent("\n"))),
		"trim": raw(fixed(1, trim)), "trimPrefix": raw(fixed(2, trimEnd(strings.TrimPrefix))), "trimSuffix": raw(fixed(2, trimEnd(strings.TrimSuffix))),
		"include": {min: 2, max: 2, absent: patient, nils: true, raw: true, cost: includeCost, call: include},
		"tpl":     {min: 2, max: 2, absent: patient, nils: true, call: tpl},
		"fail":    fixed(1, fail), "required": {min: 2, max: 2, absent: patient, nils: true, raw: true, call: required},
		"default": raw(cope(&function{min: 1, max: 2, call: defaultTo})), "coalesce": raw(cope(any1(coalesce))),
		"ternary": raw(cope(fixed(3, ternary))),
		"eq":      cope(&function{min: 2, max: -1, call: equal}), "ne": cope(fixed(2, notEqual)),
		"lt": fixed(2, compare(func(c int) bool { return c < 0 })), "le": fixed(2, compare(func(c int) bool { return c <= 0 })),
		"gt": fixed(2, compare(func(c int) bool { return c > 0 })), "ge": fixed(2, compare(func(c int) bool { return c >= 0 })),
		"len": fixed(1, lengthOf), "index": any1(index), "first": fixed(1, end(false)), "last": fixed(1, end(true)), "initial": fixed(1, initial),
		"print": walk(&function{max: -1, call: printAll}), "println": walk(&function{max: -1, call: printLine}),
		"printf": walk(any1(printFormat)),
		"get":    cope(fixed(2, get)), "hasKey": cope(fixed(2, hasKey)), "dig": cope(&function{min: 3, max: -1, call: dig}),
		"set": {min: 3, max: 3, nils: true, call: set}, "unset": fixed(2, unset),
		"keys": any1(keys), "values": fixed(1, valuesOf),
		"merge": walk(any1(merge(false))), "mergeOverwrite": walk(any1(merge(true))), "deepCopy": walk(fixed(1, deepCopy)),
		"typeOf": cope(fixed(1, typeOf)), "typeIs": cope(fixed(2, typeIs)), "typeIsLike": cope(fixed(2, typeIs)),
		"b64dec": fixed(1, decode64), "b32dec": fixed(1, decode32),
		"uniqueName": any1(uniqueName),
	}
	for alias, name := range map[string]string{
		"mustToJson": "toJson", "mustToRawJson": "toRawJson", "mustToPrettyJson": "toPrettyJson", "mustFromJson": "fromJson",
		"mustMerge": "merge", "mustMergeOverwrite": "mergeOverwrite", "mustDeepCopy": "deepCopy",
		"mustFirst": "first", "mustLast": "last", "mustInitial": "initial",
	} {
		functions[alias] = functions[name]
	}
	return functions
}

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

func fromYaml(s *state, args []any) (any, error) {
	// Printed text is parsed with its tokens in it, so that a string in it stays a string here too.
	source, bind := "", manifest.Bind(nil)
	switch v := args[0].(type) {
	case text:
		source, bind = string(v), s.bindString
	case string:
		source = v
	default:
		return nil, broken("a string is needed here, and this is %s", describe(v))
	}
	tree, err := manifest.DecodeTree([]byte(source), bind)
	if err != nil {
		var e *manifest.Error
		if errors.As(err, &e) && e.Line > 0 {
			return nil, broken("the text is not YAML: line %d: %s", e.Line, e.Message)
		}
		return nil, broken("the text is not YAML")
	}
	return tree, nil
}

func fromJson(s *state, args []any) (any, error) {
	if _, ok := args[0].(text); ok {
		return fromYaml(s, args)
	}
	source, ok := args[0].(string)
	if !ok {
		return nil, broken("a string is needed here, and this is %s", describe(args[0]))
	}
	decoder := json.NewDecoder(strings.NewReader(source))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return nil, broken("the text is not JSON")
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, broken("the text goes on after the JSON")
	}
	return numbers(tree), nil
}

// numbers gives numbers the types that Kubernetes gives them.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for key, child := range v {
			v[key] = numbers(child)
		}
	case []any:
		for i, child := range v {
			v[i] = numbers(child)
		}
	}
	return v
}

func trim(s *state, args []any) (any, error) {
	switch v := args[0].(type) {
	case text:
		return text(strings.TrimSpace(string(v))), nil
	case string:
		return strings.TrimSpace(v), nil
	}
	return nil, broken("a string is needed here, and this is %s", describe(args[0]))
}

// trimEnd is trimPrefix or trimSuffix. White space is trimmed from printed text as it is; for anything else it must be known
// what the text stands for.
func trimEnd(cut func(s, end string) string) func(s *state, args []any) (any, error) {
	return func(s *state, args []any) (any, error) {
		end, err := s.plainArgument(args[0])
		if err != nil {
			return nil, err
		}
		if t, ok := args[1].(text); ok && strings.TrimSpace(end) == "" {
			return text(cut(string(t), end)), nil
		}
		value, err := s.plainArgument(args[1])
		return cut(value, end), err
	}
}

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
				return nil, &fault{pending: true, message: fmt.Sprintf("%q of a live object is not set yet", name)}
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
				return nil, &fault{pending: true, message: fmt.Sprintf("item %d of a list of live objects is not there yet", i)}
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

func printAll(s *state, args []any) (any, error) {
	return fmt.Sprint(printable(args)...), nil
}

func printLine(s *state, args []any) (any, error) {
	return fmt.Sprintln(printable(args)...), nil
}

func printable(args []any) []any {
	out := make([]any, len(args))
	for i, arg := range args {
		out[i] = plainCopy(arg)
	}
	return out
}

var verb = regexp.MustCompile(`%[-+# 0]*(\[\d+\])?(\*|\d*)(?:\.(\[\d+\])?(\*|\d*))?`)

func printFormat(s *state, args []any) (any, error) {
	format, ok := args[0].(string)
	if !ok {
		return nil, broken("the format must be a string, and is %s", describe(args[0]))
	}
	for _, match := range verb.FindAllStringSubmatch(format, -1) {
		for _, width := range []string{match[2], match[4]} {
			if n, err := strconv.Atoi(width); width != "" && (err != nil || n > maxWidth) {
				return nil, broken("a width in the format must be a number of at most %d", maxWidth)
			}
		}
	}
	out := fmt.Sprintf(format, printable(args[1:])...)
	if strings.Contains(out, "%!") && !strings.Contains(format, "%!") {
		return nil, broken("the format does not fit its arguments: say %%s for strings, %%d for whole numbers, %%v for anything")
	}
	return out, nil
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

func decode64(_ *state, args []any) (any, error) {
	return decoded(args[0], base64.StdEncoding.DecodeString)
}

func decode32(_ *state, args []any) (any, error) {
	return decoded(args[0], base32.StdEncoding.DecodeString)
}

func decoded(v any, decode func(string) ([]byte, error)) (any, error) {
	source, ok := v.(string)
	if !ok {
		return nil, broken("a string is needed here, and this is %s", describe(v))
	}
	out, err := decode(source)
	if err != nil {
		return nil, broken("the string is not encoded that way")
	}
	return string(out), nil
}

// uniqueName makes one DNS-1123 label of several strings, for names that two different lists of strings never share:
// `uniqueName .Gateway.metadata.namespace .Gateway.metadata.name`. A number at the end is the greatest length, 63 if there is none. Plain concatenation is not enough: team/a-web and team-a/web would both be team-a-web.
func uniqueName(_ *state, args []any) (any, error) {
	most, hash := 63, sha256.New()
	var parts []string
	for i, arg := range args {
		if n, err := asInt(arg); err == nil {
			if n < 16 || n > 63 || i != len(args)-1 {
				return nil, broken("a number stands last, and is the greatest length, 16 to 63; to make a number part of the name, pipe it through toString")
			}
			most = n
			continue
		}
		part, ok := arg.(string)
		if !ok || part == "" {
			return nil, broken("argument %d must be a string that is not empty, and is %s", i+1, describe(arg))
		}
		// Lengths keep the parts apart whatever they hold.
		fmt.Fprintf(hash, "%d:%s", len(part), part)
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return nil, broken("there must be at least one string")
	}
	const digits = 10
	sum := base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").EncodeToString(hash.Sum(nil))[:digits]
	slug := notInLabel.ReplaceAllString(strings.ToLower(strings.Join(parts, "-")), "-")
	slug = strings.Trim(slug[:min(len(slug), most-digits-1)], "-")
	if slug == "" {
		return sum, nil
	}
	return slug + "-" + sum, nil
}

var notInLabel = regexp.MustCompile(`[^a-z0-9]+`)
