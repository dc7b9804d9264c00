package render

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig/v3"
)

// function is a function that templates may call. All are hermetic and deterministic, and none changes its arguments.
type function struct {
	// min and max number of arguments; max -1 is any number.
	min, max int
	// absent says what an absent field means as an argument.
	absent mode
	// nils says that an argument may be nil.
	nils bool
	// walks says that the function walks the whole tree of an argument, which is then measured first.
	walks bool
	// raw says that the function sees printed text as text, not as the string that it stands for.
	raw bool
	// cost is the number of steps that a call takes, besides one for each so many bytes of its strings; may be nil.
	cost func(args []any) (int, error)
	call func(s *state, args []any) (any, error)
}

// functions are all that templates may call, besides and, or and not, whose arguments text/template evaluates only as needed.
// It is an allow-list: whatever sprig adds is out until somebody has looked at it.
var functions map[string]*function

// The list is made here rather than where it is declared, since tpl, which is in it, looks functions up.
func init() { functions = allowed() }

func allowed() map[string]*function {
	all := ownFunctions()
	library := sprig.TxtFuncMap()
	library["html"], library["js"], library["urlquery"] = template.HTMLEscaper, template.JSEscaper, template.URLQueryEscaper
	// sprig's own answers "no match" for what is no regular expression.
	library["regexMatch"] = library["mustRegexMatch"]
	for _, name := range strings.Fields(librarySafe) {
		all[name] = fromLibrary(library[name])
	}
	for name, change := range libraryBounds {
		change(all[name])
	}
	return all
}

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

// libraryBounds bounds what one call may allocate or take, where its arguments say how much that is, and says which functions
// cope with what is absent.
var libraryBounds = map[string]func(f *function){
	"repeat":                     costs(repeatCost),
	"replace":                    costs(replaceCost),
	"join":                       costs(joinCost),
	"wrapWith":                   costs(wrapCost),
	"until":                      costs(untilCost),
	"untilStep":                  costs(untilCost),
	"seq":                        costs(untilCost),
	"chunk":                      costs(chunkCost),
	"mustChunk":                  costs(chunkCost),
	"uniq":                       costs(squareCost),
	"mustUniq":                   costs(squareCost),
	"without":                    costs(squareCost),
	"mustWithout":                costs(squareCost),
	"regexMatch":                 costs(regexCost),
	"mustRegexMatch":             costs(regexCost),
	"regexFind":                  costs(regexCost),
	"mustRegexFind":              costs(regexCost),
	"regexFindAll":               costs(regexCost),
	"mustRegexFindAll":           costs(regexCost),
	"regexSplit":                 costs(regexCost),
	"mustRegexSplit":             costs(regexCost),
	"regexReplaceAll":            costs(regexCost),
	"mustRegexReplaceAll":        costs(regexCost),
	"regexReplaceAllLiteral":     costs(regexCost),
	"mustRegexReplaceAllLiteral": costs(regexCost),
	"has":                        func(f *function) { copes(f); costs(squareCost)(f) },
	"mustHas":                    func(f *function) { copes(f); costs(squareCost)(f) },
	"empty":                      copes,
	"all":                        copes,
	"any":                        copes,
	"kindOf":                     copes,
	"kindIs":                     copes,
	"list":                       takesNil,
	"tuple":                      takesNil,
	"dict":                       takesNil,
	"append":                     takesNil,
	"push":                       takesNil,
	"prepend":                    takesNil,
	"toString":                   walking,
	"cat":                        walking,
	"deepEqual":                  walking,
	"toStrings":                  walking,
	"sortAlpha":                  walking,
	"html":                       walking,
	"js":                         walking,
	"urlquery":                   walking,
}

func costs(cost func([]any) (int, error)) func(*function) {
	return func(f *function) { f.cost, f.walks = cost, true }
}

func copes(f *function)    { f.absent, f.nils = lenient, true }
func takesNil(f *function) { f.nils = true }
func walking(f *function)  { f.walks = true }

// invoke calls a function on behalf of a template: within the budget, with arguments that fit, and whatever happens inside.
func (s *state) invoke(name string, f *function, args []any) (result any, err error) {
	// The library panics on arguments that it does not like, and its words may quote them.
	defer func() {
		if recover() != nil {
			result, err = nil, broken("%s cannot work with what it is given", name)
		}
	}()
	args = slices.Clone(args)
	if err := s.prepare(name, f, args); err != nil {
		return nil, err
	}
	result, err = f.call(s, args)
	if err != nil {
		return nil, named(name, err)
	}
	if err := s.budget.keep(result); err != nil {
		return nil, named(name, err)
	}
	return result, nil
}

// named puts the name of a function before what it says. An error that is not ours says nothing, since it may quote values.
func named(name string, err error) error {
	f, ok := err.(*fault)
	if !ok {
		return broken("%s cannot work with what it is given", name)
	}
	if f.pending || f.within != "" || strings.HasPrefix(f.message, name+": ") || name == "include" || name == "fail" || name == "required" {
		return f
	}
	return broken("%s: %s", name, f.message)
}

// prepare charges for a call and gives the arguments the form that the function expects.
func (s *state) prepare(name string, f *function, args []any) error {
	bytes, items := 0, 0
	for i, arg := range args {
		switch v := arg.(type) {
		case nil:
			if !f.nils {
				return s.nothing(name)
			}
		case string:
			bytes += len(v)
		case text:
			bytes += len(v)
			if f.raw {
				continue
			}
			plain, err := s.expand(v)
			if err != nil {
				return err
			}
			bytes += len(plain)
			args[i] = plain
		case bool, int, int64, float64:
		default:
			items += length(v)
			if f.walks {
				bytes += measure(v, maxArguments)
			}
		}
	}
	if bytes > maxArguments || items > maxItems {
		return broken("%s: what it is given is too large", name)
	}
	steps := 1 + bytes/bytesPerStep + items/16
	if f.cost != nil {
		more, err := f.cost(args)
		if err != nil {
			return named(name, err)
		}
		steps += more
	}
	if f.walks {
		s.budget.memory -= bytes
	}
	return s.budget.spend(steps)
}

// nothing says that a function was given nothing, and waits if that is because of a live object.
func (s *state) nothing(name string) error {
	if s.missed != nil {
		return s.missed
	}
	return broken("%s: what it is given is not set; give it a default", name)
}

// fromLibrary makes a function of a Go function.
func fromLibrary(goFunction any) *function {
	fn := reflect.ValueOf(goFunction)
	typ := fn.Type()
	f := &function{min: typ.NumIn(), max: typ.NumIn()}
	if typ.IsVariadic() {
		f.min, f.max = typ.NumIn()-1, -1
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

// asInt takes a whole number of any type.
func asInt(v any) (int, error) {
	switch n := v.(type) {
	case int:
		return n, nil
	case int64:
		return int(n), nil
	case float64:
		if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
			return int(n), nil
		}
	}
	return 0, broken("a whole number is needed here, and this is %s", describe(v))
}
