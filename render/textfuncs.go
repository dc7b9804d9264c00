package render

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The functions that make strings.

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

// anyVerb is a verb with all that may stand before it.
var anyVerb = regexp.MustCompile(`%[-+# 0-9.*\[\]]*.`)

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
	if slices.ContainsFunc(anyVerb.FindAllString(format, -1), func(verb string) bool { return strings.HasSuffix(verb, "p") }) {
		return nil, broken("%%p prints where something is kept, which is never the same twice; say %%v")
	}
	out := fmt.Sprintf(format, printable(args[1:])...)
	if strings.Contains(out, "%!") && !strings.Contains(fmt.Sprint(args...), "%!") {
		return nil, broken("the format does not fit its arguments: say %%s for strings, %%d for whole numbers, %%v for anything")
	}
	return out, nil
}

// quote prints each argument in double quotes.
func quote(s *state, args []any) (any, error) {
	var out strings.Builder
	for i, arg := range args {
		value, err := s.plainString(arg)
		if err != nil {
			return nil, err
		}
		spelled := fmt.Sprintf("%q", value)
		printed, err := s.token(token{value: value, text: spelled[1 : len(spelled)-1]})
		if err != nil {
			return nil, err
		}
		if i > 0 {
			out.WriteByte(' ')
		}
		out.WriteString(`"` + string(printed) + `"`)
	}
	return text(out.String()), nil
}

// indent puts spaces before each line. The lines of a string become tokens one by one, so that the text lines up as the author
// wants it, for instance below `key: |`, and yet no line is more than a value.
func indent(prefix string) func(s *state, args []any) (any, error) {
	return func(s *state, args []any) (any, error) {
		n, err := asInt(args[0])
		if err != nil {
			return nil, err
		}
		if n < 0 || n > maxIndent {
			return nil, broken("the indentation must be 0 to %d", maxIndent)
		}
		pad := strings.Repeat(" ", n)
		if t, ok := args[1].(text); ok {
			if err := s.budget.print(n * strings.Count(string(t), "\n")); err != nil {
				return nil, err
			}
			return text(prefix+pad) + text(strings.ReplaceAll(string(t), "\n", "\n"+pad)), nil
		}
		value, ok := args[1].(string)
		if !ok {
			return nil, broken("only text can be indented, and this is %s; pipe it through toYaml first", describe(args[1]))
		}
		var out strings.Builder
		out.WriteString(prefix)
		lines := strings.Split(value, "\n")
		for i, line := range lines {
			if err := s.budget.print(n + 1); err != nil {
				return nil, err
			}
			if i > 0 {
				out.WriteByte('\n')
			}
			out.WriteString(pad)
			if line == "" {
				continue
			}
			printed, err := s.token(token{value: line, text: line, line: len(lines) > 1})
			if err != nil {
				return nil, err
			}
			out.WriteString(string(printed))
		}
		return text(out.String()), nil
	}
}

// plainString is a value as a string, the way that printing would spell it.
func (s *state) plainString(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case text:
		return s.expand(v)
	}
	if digits, ok := number(v); ok {
		return digits, nil
	}
	return fmt.Sprint(plainCopy(v)), nil
}
