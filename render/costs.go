package render

import (
	"reflect"
	"regexp/syntax"
	"strings"
)

// A cost says how many steps a call takes, judged by its arguments, and refuses a call whose result would be out of bounds
// before anything is allocated. Arguments of the wrong type cost nothing: the call refuses them.

func repeatCost(args []any) (int, error) {
	n, isInt := wholeNumber(args[0])
	s, isString := args[1].(string)
	if !isInt || !isString || s == "" {
		return 0, nil
	}
	if n < 0 || n > maxOutput/len(s) {
		return 0, broken("the result would be longer than %d bytes", maxOutput)
	}
	return n * len(s) / bytesPerStep, nil
}

func replaceCost(args []any) (int, error) {
	from, ok1 := args[0].(string)
	to, ok2 := args[1].(string)
	in, ok3 := args[2].(string)
	if !ok1 || !ok2 || !ok3 {
		return 0, nil
	}
	return sizeCost(len(in) + strings.Count(in, from)*len(to))
}

func joinCost(args []any) (int, error) {
	separator, ok := args[0].(string)
	if !ok {
		return 0, nil
	}
	return sizeCost(length(args[1])*len(separator) + measure(args[1], maxOutput).bytes)
}

func wrapCost(args []any) (int, error) {
	width, ok1 := wholeNumber(args[0])
	separator, ok2 := args[1].(string)
	in, ok3 := args[2].(string)
	if !ok1 || !ok2 || !ok3 {
		return 0, nil
	}
	return sizeCost(len(in) + (len(in)/max(width, 1)+1)*len(separator))
}

func sizeCost(bytes int) (int, error) {
	if bytes > maxOutput {
		return 0, broken("the result would be longer than %d bytes", maxOutput)
	}
	return bytes / bytesPerStep, nil
}

// untilCost is for until, untilStep and seq, which all make a list from up to three numbers.
func untilCost(args []any) (int, error) {
	var n []float64
	for _, arg := range args {
		i, ok := wholeNumber(arg)
		if !ok {
			return 0, nil
		}
		n = append(n, float64(i))
	}
	from, to, step := 0.0, 0.0, 1.0
	switch len(n) {
	case 1:
		to = n[0]
	case 2:
		from, to = n[0], n[1]
	case 3:
		// untilStep takes from, to, step and seq takes from, step, to: whichever way is longer counts.
		return listCost(max(items(n[0], n[1], n[2]), items(n[0], n[2], n[1])))
	}
	return listCost(items(from, to, step))
}

func items(from, to, step float64) float64 {
	if step == 0 {
		return 0
	}
	return max((to-from)/step, (from-to)/step) + 2
}

func listCost(items float64) (int, error) {
	if items > maxItems {
		return 0, broken("the list would have more than %d items", maxItems)
	}
	return int(items) / itemsPerStep, nil
}

func chunkCost(args []any) (int, error) {
	if n, ok := wholeNumber(args[0]); ok && n < 1 {
		return 0, broken("a chunk must have at least one item")
	}
	return length(args[1]) / itemsPerStep, nil
}

// sortCost is for sorting a list of strings, which takes longer than going through it.
func sortCost(args []any) (int, error) { return length(args[0]) / itemsSortedPerStep, nil }

// hasCost is for functions that look for one item in a list, which may be large itself.
func hasCost(args []any) (int, error) {
	return compareCost(length(args[1]), measure(args[0], maxArguments)), nil
}

// withoutCost is for functions that look for some items in a list: each may be compared with each.
func withoutCost(args []any) (int, error) {
	return compareCost(length(args[0]), measure(args[1:], maxArguments)), nil
}

// uniqCost is for functions that compare each item of a list with all others.
func uniqCost(args []any) (int, error) {
	return compareCost(length(args[0]), measure(args[0], maxArguments)), nil
}

// compareCost is for comparing all of a tree a number of times.
func compareCost(times int, tree extent) int {
	return times * (tree.nodes + tree.bytes/bytesPerStep) / nodesComparedPerStep
}

// regexCost bounds what it takes to understand an expression and to match it, and for replacements what may come out: each
// reference to a group may at worst bring the subject.
func regexCost(args []any) (int, error) {
	var texts []string
	for _, arg := range args {
		if s, ok := arg.(string); ok {
			texts = append(texts, s)
		}
	}
	if len(texts) < 2 {
		return 0, nil
	}
	if len(texts[0]) > maxPattern {
		return 0, broken("the regular expression is longer than %d bytes", maxPattern)
	}
	size := len(texts[0])
	if parsed, err := syntax.Parse(texts[0], syntax.Perl); err == nil {
		size = programSize(parsed)
	}
	if size > maxProgram {
		return 0, broken("the regular expression repeats too much")
	}
	subject := len(texts[1])
	if len(texts) == 3 {
		replacement, _ := args[2].(string)
		if size := subject*(1+strings.Count(replacement, "$")) + (subject+1)*len(replacement); size > 16*maxOutput {
			return 0, broken("the result could be too long")
		}
	}
	return minProgram + size/instructionsPerStep + subject*(size+1)/matchedPerStep + subject/16, nil
}

// programSize says about how many instructions a regular expression has, all that it repeats among them; more than maxProgram if
// there are more.
func programSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)/8
	for _, part := range re.Sub {
		size += programSize(part)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, maxProgram+1)
}

// parseCost is for functions that parse a text, which costs more than looking at it.
func parseCost(args []any) (int, error) {
	switch v := args[0].(type) {
	case string:
		return len(v) / bytesParsedPerStep, nil
	case text:
		return len(v) / bytesParsedPerStep, nil
	}
	return 0, nil
}

// lettersCost is for functions that take a string apart letter by letter.
func lettersCost(args []any) (int, error) {
	bytes := 0
	for _, arg := range args {
		if s, ok := arg.(string); ok {
			bytes += len(s)
		}
	}
	return bytes / bytesParsedPerStep, nil
}

// versionCost is for functions that compare versions, which takes much longer than looking at them.
func versionCost(args []any) (int, error) {
	for _, arg := range args {
		if s, ok := arg.(string); ok && len(s) > maxVersion {
			return 0, broken("a version is longer than %d bytes", maxVersion)
		}
	}
	return maxVersion / bytesParsedPerStep, nil
}

// dictCost refuses keys that are no strings, of which making some could take long.
func dictCost(args []any) (int, error) {
	for i := 0; i < len(args); i += 2 {
		switch args[i].(type) {
		case string, bool, int, int64, float64:
		default:
			return 0, broken("a key must be a string, and is %s", describe(args[i]))
		}
	}
	return 0, nil
}

// includeCost is what executing a template costs besides its steps.
func includeCost([]any) (int, error) { return 4, nil }

// length of a list; 0 for all else.
func length(v any) int {
	if r := reflect.ValueOf(v); v != nil && (r.Kind() == reflect.Slice || r.Kind() == reflect.Array) {
		return r.Len()
	}
	return 0
}

// entries of a map; 0 for all else.
func entries(v any) int {
	if r := reflect.ValueOf(v); v != nil && r.Kind() == reflect.Map {
		return r.Len()
	}
	return 0
}
