package render

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/gatewright/gatewright/internal/manifest"
)

// The functions that read strings.

func fromYAML(s *state, args []any) (any, error) {
	// Printed text is parsed with its tokens in it, so that a string in it stays a string here too.
	var source string
	var bind manifest.Bind
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
		if e, ok := errors.AsType[*manifest.Error](err); ok && e.Line > 0 {
			return nil, broken("the text is not YAML: line %d: %s", e.Line, e.Message)
		}
		return nil, broken("the text is not YAML")
	}
	return tree, nil
}

func fromJSON(s *state, args []any) (any, error) {
	if _, ok := args[0].(text); ok {
		return fromYAML(s, args)
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
