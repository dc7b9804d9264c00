package render

import (
	"reflect"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// librarySafe are the functions taken from sprig as they are. Left out are those that read the machine (env, getHostByName),
// the clock (now, ago, date...), or a random source (rand..., uuidv4, gen..., shuffle, bcrypt, encryptAES...), the os... path
// functions, which differ between systems, squote, which does not escape, and those that ownFunctions replaces.
const librarySafe = `
	abbrev abbrevboth trunc upper lower title untitle substr repeat trimall trimAll nospace initials
	swapcase snakecase camelcase kebabcase wrap wrapWith contains hasPrefix hasSuffix cat replace plural sha1sum sha256sum
	sha512sum adler32sum toString atoi int64 int float64 seq toDecimal
	add1 add sub div mod mul add1f addf subf divf mulf biggest max min maxf minf ceil floor round
	splitList split splitn toStrings until untilStep join sortAlpha
	empty all any compact mustCompact kindOf kindIs deepEqual
	base dir clean ext isAbs b64enc b32enc
	list tuple dict pluck pick omit append push mustAppend mustPush prepend mustPrepend rest mustRest
	reverse mustReverse uniq mustUniq without mustWithout has mustHas slice mustSlice concat chunk mustChunk
	semverCompare regexMatch mustRegexMatch regexFindAll mustRegexFindAll regexFind mustRegexFind regexReplaceAll
	mustRegexReplaceAll regexReplaceAllLiteral mustRegexReplaceAllLiteral regexSplit mustRegexSplit regexQuoteMeta
	urlParse urlJoin html js urlquery`

// shallow are those of them that look at the items of lists and maps only, not at what is in the items. All others are assumed
// to walk the whole of what they are given, if only to print it in an error.
const shallow = `
	list tuple dict pluck pick omit append push mustAppend mustPush prepend mustPrepend rest mustRest reverse mustReverse slice
	mustSlice concat chunk mustChunk`

// libraryTraits is what else there is to say of some of them: what a call may cost, and whether they cope with what is absent.
var libraryTraits = []struct {
	names string
	trait func(*function)
}{
	{"repeat", costs(repeatCost)},
	{"replace", costs(replaceCost)},
	{"join", costs(joinCost)},
	{"wrapWith", costs(wrapCost)},
	{"until untilStep seq", costs(untilCost)},
	{"chunk mustChunk", costs(chunkCost)},
	{"dict", costs(dictCost)},
	{"pluck pick omit", copies},
	{"semverCompare", costs(versionCost)},
	{"camelcase snakecase kebabcase swapcase title untitle initials nospace abbrev abbrevboth plural wrap urlParse urlJoin urlquery html js", costs(lettersCost)},
	{"sortAlpha", costs(sortCost)},
	{"has mustHas", costs(hasCost)},
	{"without mustWithout", costs(withoutCost)},
	{"uniq mustUniq", costs(uniqCost)},
	{"regexMatch mustRegexMatch regexFind mustRegexFind regexFindAll mustRegexFindAll regexSplit mustRegexSplit", costs(regexCost)},
	{"regexReplaceAll mustRegexReplaceAll regexReplaceAllLiteral mustRegexReplaceAllLiteral", costs(regexCost)},
	{"has mustHas empty all any kindOf kindIs", copes},
	{"list tuple dict append push mustAppend mustPush prepend mustPrepend", takesNil},
}

// libraryFunctions takes the safe functions from sprig, and the few of text/template that only make strings.
func libraryFunctions() map[string]*function {
	library := sprig.TxtFuncMap()
	library["html"], library["js"], library["urlquery"] = template.HTMLEscaper, template.JSEscaper, template.URLQueryEscaper
	// sprig's own answers "no match" for what is no regular expression.
	library["regexMatch"] = library["mustRegexMatch"]
	functions := map[string]*function{}
	for name := range strings.FieldsSeq(librarySafe) {
		functions[name] = fromLibrary(library[name])
		functions[name].walks = true
	}
	for name := range strings.FieldsSeq(shallow) {
		functions[name].walks = false
	}
	for _, t := range libraryTraits {
		for name := range strings.FieldsSeq(t.names) {
			t.trait(functions[name])
		}
	}
	return functions
}

// fromLibrary makes a function of a Go function.
func fromLibrary(goFunction any) *function {
	fn := reflect.ValueOf(goFunction)
	typ := fn.Type()
	f := &function{min: typ.NumIn(), max: typ.NumIn()}
	if typ.IsVariadic() {
		f.min, f.max = typ.NumIn()-1, unlimited
	}
	f.call = func(_ *state, args []any) (any, error) {
		in := make([]reflect.Value, len(args))
		for i, arg := range args {
			want := typ.In(min(i, typ.NumIn()-1))
			if typ.IsVariadic() && i >= typ.NumIn()-1 {
				want = want.Elem()
			}
			value, err := convert(i, arg, want)
			if err != nil {
				return nil, err
			}
			in[i] = value
		}
		out := fn.Call(in)
		if len(out) == 2 && !out[1].IsNil() {
			return nil, out[1].Interface().(error)
		}
		return out[0].Interface(), nil
	}
	return f
}

// convert makes an argument fit a parameter: whole numbers of any type fit each other, all else must be what is asked for.
func convert(i int, arg any, want reflect.Type) (reflect.Value, error) {
	if arg == nil {
		return reflect.Zero(want), nil
	}
	value := reflect.ValueOf(arg)
	if value.Type().AssignableTo(want) {
		return value, nil
	}
	switch want.Kind() {
	case reflect.Int, reflect.Int64:
		if n, err := asInt(arg); err == nil {
			return reflect.ValueOf(n).Convert(want), nil
		}
		return value, broken("argument %d must be a whole number, and is %s; pipe it through int", i+1, describe(arg))
	case reflect.Float64:
		if value.CanInt() {
			return reflect.ValueOf(float64(value.Int())), nil
		}
	case reflect.String:
		return value, broken("argument %d must be a string, and is %s; pipe it through toString", i+1, describe(arg))
	case reflect.Map:
		return value, broken("argument %d must be a map, and is %s", i+1, describe(arg))
	}
	return value, broken("argument %d is %s, which does not fit here", i+1, describe(arg))
}
