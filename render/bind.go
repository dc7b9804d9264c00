package render

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gatewright/gatewright/internal/manifest"
)

// Values are bound, not pasted. What an action prints is not the string itself but a token, a word of two characters of
// Unicode's private use area around a number; once the text is parsed as YAML, each token is replaced by its string. As with
// the parameters of a prepared statement, no string can then be anything but (a part of) one scalar: it cannot end a quote,
// open a key, start a document or become a number. The alternative, escaping or refusing by what stands around an action, has
// to know where in YAML's grammar the action is, and refuses strings that do no harm.
const (
	tokenStart = "\uE000"
	tokenEnd   = "\uE001"
)

// text is printed text: the author's words with tokens in it. include, toYaml, toJson, quote and the like return it, and an
// action prints it as it is. Every other function is given the string that it stands for.
type text string

// token is a string that was printed.
type token struct {
	// value is the string.
	value string
	// text is how the string is spelled where its token is only a part of a larger text, such as YAML in a ConfigMap.
	text string
	// loose marks a string straight out of .Values, which is a number where YAML would read one. See bindScalar.
	loose bool
	// line marks one of several lines of a string that was indented.
	line bool
	// key marks the key of a map, which errors may name as a part of the way to what is wrong. All other strings are values.
	key bool
}

// token prints a string as a token.
func (s *state) token(t token) (text, error) {
	if !utf8.ValidString(t.value) {
		return "", broken("a string is not valid UTF-8; a function cut it in the middle of a character")
	}
	if err := s.budget.print(len(t.value)); err != nil {
		return "", err
	}
	s.tokens = append(s.tokens, t)
	return text(tokenStart + strconv.Itoa(len(s.tokens)-1) + tokenEnd), nil
}

// print is the last function of every action that prints.
func (s *state) print(at int, v any) (any, error) {
	site := s.site(at)
	missed := s.missed
	s.missed = nil
	switch v := v.(type) {
	case text:
		return v, nil
	case string:
		return s.token(token{value: v, text: v, loose: site.loose, key: site.key})
	case nil:
		if missed != nil {
			return nil, missed
		}
		return nil, broken("%s is not set; give it a default", site.expr)
	case bool:
		return v, nil
	}
	if digits, ok := number(v); ok {
		return text(digits), nil
	}
	return nil, broken("%s is %s, and only strings, numbers and booleans can be printed as they are; pipe it through toYaml or toJson", site.expr, describe(v))
}

// expand gives the string that a text stands for.
func (s *state) expand(t text) (string, error) {
	rest := string(t)
	if !strings.Contains(rest, tokenStart) {
		return rest, nil
	}
	var out strings.Builder
	for {
		before, after, found := strings.Cut(rest, tokenStart)
		out.WriteString(before)
		if !found {
			return out.String(), nil
		}
		number, after, _ := strings.Cut(after, tokenEnd)
		token, err := s.tokenNumber(number)
		if err != nil {
			return "", err
		}
		if err := s.budget.take(len(token.text)); err != nil {
			return "", err
		}
		out.WriteString(token.text)
		rest = after
	}
}

func (s *state) tokenNumber(number string) (token, error) {
	i, err := strconv.Atoi(number)
	if err != nil || i < 0 || i >= len(s.tokens) {
		return token{}, broken("a function cut printed text in the middle of a value")
	}
	return s.tokens[i], nil
}

// isEmpty says whether a text stands for the empty string.
func (s *state) isEmpty(t text) bool {
	rest := string(t)
	for rest != "" {
		after, found := strings.CutPrefix(rest, tokenStart)
		if !found {
			return false
		}
		number, after, _ := strings.Cut(after, tokenEnd)
		if token, err := s.tokenNumber(number); err != nil || token.text != "" {
			return false
		}
		rest = after
	}
	return true
}

// bindScalar says what a scalar of the rendered text stands for. A key that is made of values is not named by errors.
func (s *state) bindScalar(scalar manifest.Scalar) (any, bool, error) {
	value, ok, err := s.boundScalar(scalar)
	if key, isString := value.(string); ok && isString && scalar.Key && !s.isKey(scalar.Text) {
		return manifest.Unnamed(key), true, err
	}
	return value, ok, err
}

// isKey says whether a text is the key of a map, as it is.
func (s *state) isKey(scalar string) bool {
	number, rest, _ := strings.Cut(strings.TrimPrefix(scalar, tokenStart), tokenEnd)
	token, err := s.tokenNumber(number)
	return err == nil && rest == "" && token.key
}

// boundScalar says what a scalar stands for.
//
// A token that is all of a scalar is its string, whatever YAML would read in it: a Gateway named 1e3 has a name, not a number.
// The one exception is for strings straight out of .Values, since `minAvailable: "1"` is a common way to write a default: where
// such a string is a whole decimal number, and stands unquoted where Kubernetes may want a number, it is that number.
func (s *state) boundScalar(scalar manifest.Scalar) (any, bool, error) {
	if !strings.Contains(scalar.Text, tokenStart) {
		return nil, false, nil
	}
	number, rest, _ := strings.Cut(strings.TrimPrefix(scalar.Text, tokenStart), tokenEnd)
	if rest != "" || scalar.Block || !strings.HasPrefix(scalar.Text, tokenStart) {
		if !scalar.Block && s.hasLines(scalar.Text) {
			// YAML would fold the lines into one, which nobody wants.
			return nil, false, broken("a string of several lines is indented where YAML is expected; if the string is YAML, parse it first: `fromYaml | toYaml | nindent`, else quote it")
		}
		expanded, err := s.expand(text(scalar.Text))
		return expanded, true, err
	}
	token, err := s.tokenNumber(number)
	if err != nil {
		return nil, false, err
	}
	if err := s.budget.take(len(token.value)); err != nil {
		return nil, false, err
	}
	if token.loose && scalar.Plain && !scalar.Key && !wantsStrings(scalar.Path) {
		if i, err := strconv.ParseInt(token.value, 10, 64); err == nil && strconv.FormatInt(i, 10) == token.value {
			return i, true, nil
		}
	}
	return token.value, true, nil
}

// bindString is bindScalar for text that a function parses: there, a string is always a string.
func (s *state) bindString(scalar manifest.Scalar) (any, bool, error) {
	scalar.Plain = false
	return s.bindScalar(scalar)
}

// hasLines says whether a text holds lines of an indented string.
func (s *state) hasLines(scalar string) bool {
	for _, after := range strings.Split(scalar, tokenStart)[1:] {
		number, _, _ := strings.Cut(after, tokenEnd)
		if token, err := s.tokenNumber(number); err == nil && token.line {
			return true
		}
	}
	return false
}

// wantsStrings says whether Kubernetes takes only strings there: metadata, and the data of ConfigMaps and Secrets.
func wantsStrings(path *manifest.Path) bool {
	keys := path.Keys()
	if len(keys) == 0 {
		return false
	}
	switch keys[0] {
	case "metadata":
		return true
	case "data", "stringData", "binaryData":
		return len(keys) == 2
	}
	return false
}

// describe names the type of a value for people.
func describe(v any) string {
	if t, ok := v.(text); ok {
		v = string(t)
	}
	if v != nil {
		switch reflect.ValueOf(v).Kind() {
		case reflect.Map:
			return "a map"
		case reflect.Slice, reflect.Array:
			return "a list"
		}
	}
	return manifest.Describe(v)
}

// number prints a number as JSON and YAML have it; ok is false if v is none.
func number(v any) (string, bool) {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "", false
		}
		if v == math.Trunc(v) && math.Abs(v) < 1e15 {
			return strconv.FormatInt(int64(v), 10), true
		}
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprint(v), true
	}
	return "", false
}
