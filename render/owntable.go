package render

import (
	"maps"
	"strings"
)

// ownFunctions are those that Helm has and sprig lacks, those of text/template and sprig that must know about live objects,
// printed text, budgets or copies, and those that blueprints need and nobody has.
func ownFunctions() map[string]*function {
	functions := map[string]*function{}
	for _, part := range []map[string]*function{flowFunctions(), textFunctions(), parseFunctions(), treeFunctions()} {
		maps.Copy(functions, part)
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

// calls makes a function of min to max arguments and what else there is to say of it.
func calls(call func(s *state, args []any) (any, error), least, most int, traits ...func(*function)) *function {
	f := &function{min: least, max: most, call: call}
	for _, trait := range traits {
		trait(f)
	}
	return f
}

// unlimited stands for any number of arguments.
const unlimited = -1

func flowFunctions() map[string]*function {
	return map[string]*function{
		"include":  calls(include, 2, 2, seesText, takesNil, waits, costs(includeCost)),
		"tpl":      calls(tpl, 2, 2, takesNil, waits),
		"fail":     calls(fail, 1, 1),
		"required": calls(required, 2, 2, seesText, takesNil, waits),
		"default":  calls(defaultTo, 1, 2, seesText, copes),
		"coalesce": calls(coalesce, 1, unlimited, seesText, copes),
		"ternary":  calls(ternary, 3, 3, seesText, copes),
		"eq":       calls(equal, 2, unlimited, copes),
		"ne":       calls(notEqual, 2, 2, copes),
		"lt":       calls(compare(func(c int) bool { return c < 0 }), 2, 2),
		"le":       calls(compare(func(c int) bool { return c <= 0 }), 2, 2),
		"gt":       calls(compare(func(c int) bool { return c > 0 }), 2, 2),
		"ge":       calls(compare(func(c int) bool { return c >= 0 }), 2, 2),
	}
}

func textFunctions() map[string]*function {
	return map[string]*function{
		"toYaml":       calls(toYaml, 1, 1, seesText, walks),
		"toJson":       calls(toJSON(""), 1, 1, seesText, walks),
		"toRawJson":    calls(toJSON(""), 1, 1, seesText, walks),
		"toPrettyJson": calls(toJSON("  "), 1, 1, seesText, walks),
		"quote":        calls(quote, 1, unlimited, seesText, walks),
		"indent":       calls(indent(""), 2, 2, seesText),
		"nindent":      calls(indent("\n"), 2, 2, seesText),
		"trim":         calls(trim, 1, 1, seesText),
		"trimPrefix":   calls(trimEnd(strings.TrimPrefix), 2, 2, seesText),
		"trimSuffix":   calls(trimEnd(strings.TrimSuffix), 2, 2, seesText),
		"print":        calls(printAll, 0, unlimited, walks),
		"println":      calls(printLine, 0, unlimited, walks),
		"printf":       calls(printFormat, 1, unlimited, walks),
		"uniqueName":   calls(uniqueName, 1, unlimited, costs(lettersCost)),
	}
}

func parseFunctions() map[string]*function {
	return map[string]*function{
		"fromYaml": calls(fromYAML, 1, 1, seesText, costs(parseCost)),
		"fromJson": calls(fromJSON, 1, 1, seesText, costs(parseCost)),
		"b64dec":   calls(decode64, 1, 1),
		"b32dec":   calls(decode32, 1, 1),
	}
}

func treeFunctions() map[string]*function {
	return map[string]*function{
		"get":            calls(get, 2, 2, copes),
		"hasKey":         calls(hasKey, 2, 2, copes),
		"dig":            calls(dig, 3, unlimited, copes),
		"index":          calls(index, 1, unlimited),
		"len":            calls(lengthOf, 1, 1),
		"first":          calls(end(false), 1, 1),
		"last":           calls(end(true), 1, 1),
		"initial":        calls(initial, 1, 1),
		"set":            calls(set, 3, 3, takesNil, copies),
		"unset":          calls(unset, 2, 2, copies),
		"keys":           calls(keys, 1, unlimited, copies),
		"values":         calls(valuesOf, 1, 1, copies),
		"merge":          calls(merge(false), 1, unlimited, walks),
		"mergeOverwrite": calls(merge(true), 1, unlimited, walks),
		"deepCopy":       calls(deepCopy, 1, 1, walks),
		"typeOf":         calls(typeOf, 1, 1, copes),
		"typeIs":         calls(typeIs, 2, 2, copes),
		"typeIsLike":     calls(typeIs, 2, 2, copes),
	}
}

// The traits of functions; see the fields that they set.

func costs(cost func([]any) (int, error)) func(*function) { return func(f *function) { f.cost = cost } }
func copes(f *function)                                   { f.absent, f.nils = lenient, true }
func waits(f *function)                                   { f.absent = patient }
func takesNil(f *function)                                { f.nils = true }
func walks(f *function)                                   { f.walks = true }
func copies(f *function)                                  { f.copies = true }
func seesText(f *function)                                { f.raw = true }
