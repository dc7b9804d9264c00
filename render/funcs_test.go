package render

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/go-cmp/cmp"
)

// allowedFunctions is the whole allow-list. A change of it is a change of what blueprints may do, so it is spelled out here.
const allowedFunctions = `
	abbrev abbrevboth add add1 add1f addf adler32sum all any append atoi b32dec b32enc b64dec b64enc base biggest camelcase cat
	ceil chunk clean coalesce compact concat contains deepCopy deepEqual default dict dig dir div divf empty eq ext fail first
	float64 floor fromJson fromYaml ge get gt has hasKey hasPrefix hasSuffix html include indent index initial initials int int64
	isAbs join js kebabcase keys kindIs kindOf last le len list lower lt max maxf merge mergeOverwrite min minf mod mul mulf
	mustAppend mustChunk mustCompact mustDeepCopy mustFirst mustFromJson mustHas mustInitial mustLast mustMerge
	mustMergeOverwrite mustPrepend mustPush mustRegexFind mustRegexFindAll mustRegexMatch mustRegexReplaceAll
	mustRegexReplaceAllLiteral mustRegexSplit mustRest mustReverse mustSlice mustToJson mustToPrettyJson mustToRawJson mustUniq
	mustWithout ne nindent nospace omit pick pluck plural prepend print printf println push quote regexFind regexFindAll
	regexMatch regexQuoteMeta regexReplaceAll regexReplaceAllLiteral regexSplit repeat replace required rest reverse round
	semverCompare seq set sha1sum sha256sum sha512sum slice snakecase sortAlpha split splitList splitn sub subf substr swapcase
	ternary title toDecimal toJson toPrettyJson toRawJson toString toStrings toYaml tpl trim trimAll trimPrefix trimSuffix
	trimall trunc tuple typeIs typeIsLike typeOf uniq uniqueName unset until untilStep untitle upper urlJoin urlParse urlquery
	values without wrap wrapWith`

func TestAllowList(t *testing.T) {
	want := strings.Fields(allowedFunctions)
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(functions))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSprigIsDecidedUpon fails when sprig brings a function that nobody has allowed or refused.
func TestSprigIsDecidedUpon(t *testing.T) {
	refused := strings.Fields(`
		ago bcrypt buildCustomCert date dateInZone dateModify date_in_zone date_modify decryptAES derivePassword duration
		durationRound encryptAES env expandenv genCA genCAWithKey genPrivateKey genSelfSignedCert genSelfSignedCertWithKey
		genSignedCert genSignedCertWithKey getHostByName hello htmlDate htmlDateInZone htpasswd mustDateModify mustToDate
		must_date_modify now osBase osClean osDir osExt osIsAbs randAlpha randAlphaNum randAscii randBytes randInt randNumeric
		semver shuffle squote toDate unixEpoch uuidv4`)
	for name := range sprig.TxtFuncMap() {
		if functions[name] == nil && !slices.Contains(refused, name) {
			t.Errorf("sprig has %s, which is neither allowed nor refused", name)
		}
		if functions[name] != nil && slices.Contains(refused, name) {
			t.Errorf("%s is refused, and allowed", name)
		}
	}
}

func TestFunctions(t *testing.T) {
	const values = `{"s": "Text", "n": 3, "f": 1.5, "b": true, "list": ["b", "a", "b"], "map": {"z": 1, "a": {"x": "y"}, "m": null}, "empty": "", "big": "9000000000000000000"}`
	cases := map[string]struct{ text, want string }{
		"toYaml sorts keys and keeps types":                {`{{ toYaml .Values.map | quote }}`, "a:\n  x: \"y\"\nm: null\nz: 1"},
		"toYaml of lists of maps":                          {`{{ toYaml (list (dict "a" 1 "b" (list 2 (list 3))) (dict) (list)) | quote }}`, "- a: 1\n  b:\n  - 2\n  - - 3\n- {}\n- []"},
		"toJson":                                           {`{{ toJson .Values.map | quote }}`, `{"a":{"x":"y"},"m":null,"z":1}`},
		"toPrettyJson":                                     {`{{ toPrettyJson (dict "a" (list 1 2) "b" dict) | quote }}`, "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": {}\n}"},
		"fromYaml":                                         {`{{ (fromYaml "a: {b: [1, 2]}").a.b | toJson | quote }}`, "[1,2]"},
		"fromYaml of a list":                               {`{{ fromYaml "[1, 2]" | toJson | quote }}`, "[1,2]"},
		"fromYaml refuses what is not YAML":                {`{{ fromYaml "a: b: c" }}`, "failed: {{ fromYaml \"a: b: c\" }}: fromYaml: the text is not YAML"},
		"fromJson keeps whole numbers whole":               {`{{ fromJson "[1, 2.5, 9000000000000000001]" | toJson | quote }}`, "[1,2.5,9000000000000000001]"},
		"fromJson refuses what is not JSON":                {`{{ fromJson "{" }}`, "failed: {{ fromJson \"{\" }}: fromJson: the text is not JSON"},
		"quote of several":                                 {`{{ quote "a" 1 | sha256sum | trunc 8 | quote }}`, "2a2bd05f"},
		"required passes a value on":                       {`{{ required "must be set" .Values.s }}`, "Text"},
		"required refuses an empty one":                    {`{{ required "must be set" .Values.empty }}`, "failed: {{ required \"must be set\" .Values.empty }}: must be set"},
		"fail says what the author wrote":                  {`{{ fail "no such thing" }}`, "failed: {{ fail \"no such thing\" }}: no such thing"},
		"fail does not say values":                         {`{{ fail (printf "%s is wrong" .Values.s) }}`, "failed: {{ fail (printf \"%s is wrong\" .Values.s) }}: %s is wrong (the values in this message are not shown)"},
		"nor if they are piped":                            {`{{ .Values.s | printf "%s is wrong" | fail }}`, "failed: {{ .Values.s | printf \"%s is wrong\" | fail }}: %s is wrong (the values in this message are not shown)"},
		"nor if there are only values":                     {`{{ fail .Values.s }}`, "failed: {{ fail .Values.s }}: the template refuses what it was given; its message is made of values and is not shown"},
		"a function's error does not say values":           {`{{ .Values.list | join "%" | b64dec }}`, "failed: {{ .Values.list | join \"%\" | b64dec }}: b64dec: the string is not encoded that way"},
		"nor does a panic":                                 {`{{ substr 100 200 .Values.s }}`, "failed: {{ substr 100 200 .Values.s }}: substr cannot work with what it is given"},
		"division by zero is an error":                     {`{{ div 1 0 }}`, "failed: {{ div 1 0 }}: div cannot work with what it is given"},
		"tpl sees what it is given":                        {`{{ tpl "{{ .x }}-{{ lower .y }}" (dict "x" .Values.n "y" .Values.s) }}`, "3-text"},
		"tpl knows helpers":                                {`{{ tpl "{{ include \"h\" . }}" "x" }}`, "h:x"},
		"tpl sees a range":                                 {`{{ tpl "{{ range . }}{{ . }},{{ end }}" .Values.list }}`, "b,a,b,"},
		"tpl may use functions that the template does not": {`{{ tpl "{{ upper . }}" "x" }}`, "X"},
		"tpl refuses what is no template":                  {`{{ tpl "{{ .x" . }}`, "failed: {{ tpl \"{{ .x\" . }}: tpl: the text is not a template (line 1)"},
		"tpl refuses unknown functions":                    {`{{ tpl "{{ env \"HOME\" }}" . }}`, "failed: {{ tpl \"{{ env \\\"HOME\\\" }}: tpl: the text is not a template that can be used here (line 1)"},
		"tpl cannot define":                                {`{{ tpl "{{ define \"a\" }}{{ end }}" . }}`, "failed: {{ tpl \"{{ define \\\"a\\\" }}: tpl: the text must not define templates; define them in spec.helpers"},
		"include gives text to any function":               {`{{ include "h" "a" | upper | trunc 3 }}`, "H:A"},
		"include compares as what it stands for":           {`{{ eq (include "h" "a") "h:a" | quote }}`, "true"},
		"trimSuffix keeps printed text":                    {`{{ include "h" "a\n" | trimSuffix "\n" | trimPrefix "h:" | quote }}`, "a\n"},
		"set gives a copy":                                 {`{{ $m := .Values.map }}{{ $n := set $m "z" 2 }}{{ $m.z }}{{ $n.z }}`, "12"},
		"unset gives a copy":                               {`{{ $n := unset .Values.map "z" }}{{ hasKey $n "z" }}-{{ hasKey .Values.map "z" }}`, "false-true"},
		"merge gives a copy, deeply":                       {`{{ $n := merge .Values.map (dict "a" (dict "q" "r")) }}{{ $n.a.q }}{{ $n.a.x }}{{ hasKey .Values.map.a "q" }}`, "ryfalse"},
		"mergeOverwrite lets the last win":                 {`{{ (mergeOverwrite .Values.map (dict "z" 5)).z }}{{ .Values.map.z }}`, "51"},
		"keys are sorted":                                  {`{{ keys .Values.map | join "," }}`, "a,m,z"},
		"values are in the order of keys":                  {`{{ values (dict "b" 2 "a" 1) | join "," }}`, "1,2"},
		"a range over a map is sorted":                     {`{{ range $k, $v := .Values.map }}{{ $k }}{{ end }}`, "amz"},
		"get of an absent key is empty":                    {`{{ get .Values.map "nope" | quote }}`, ""},
		"dig refuses what is no map on the way":            {`{{ dig "s" "x" "none" .Values }}`, "failed: {{ dig \"s\" \"x\" \"none\" .Values }}: dig: there is a string on the way, not a map"},
		"numbers of all types compare":                     {`{{ and (eq 3 .Values.n) (lt 1 .Values.f) (gt .Values.n 2.5) (ge 2 2) (le "a" "b") (ne .Values.n 4) | quote }}`, "true"},
		"a string does not compare with a number":          {`{{ eq .Values.s 1 }}`, "failed: {{ eq .Values.s 1 }}: eq: a string cannot be compared with a number"},
		"eq finds one of several":                          {`{{ eq .Values.s "a" "Text" | quote }}`, "true"},
		"len counts":                                       {`{{ len .Values.list }}{{ len .Values.map }}{{ len .Values.s }}`, "334"},
		"index follows keys and positions":                 {`{{ index .Values.map "a" "x" }}{{ index .Values.list 1 }}`, "ya"},
		"chunk cuts a list":                                {`{{ range chunk 2 .Values.list }}({{ join "," . }}){{ end }}`, "(b,a)(b)"},
		"chunk refuses a size of none":                     {`{{ chunk 0 .Values.list | toJson | quote }}`, "failed: {{ chunk 0 .Values.list | toJson | quote }}: chunk: a chunk must have at least one item"},
		"append leaves its list alone":                     {`{{ $l := append .Values.list "c" }}{{ len $l }}{{ len .Values.list }}`, "43"},
		"has copes with nothing":                           {`{{ has "a" .Values.none }}-{{ has "a" .Values.list }}`, "false-true"},
		"uniq, without, sortAlpha, reverse":                {`{{ .Values.list | uniq | sortAlpha | join "" }}{{ without .Values.list "b" | join "" }}{{ reverse .Values.list | join "" }}`, "abababab"[:3] + "bab"},
		"whole numbers of any type fit":                    {`{{ repeat .Values.n "x" }}{{ until .Values.n | join "" }}`, "xxx012"},
		"a number is no string":                            {`{{ upper .Values.n }}`, "failed: {{ upper .Values.n }}: upper: argument 1 must be a string, and is a number; pipe it through toString"},
		"a string is no number":                            {`{{ repeat .Values.s "x" }}`, "failed: {{ repeat .Values.s \"x\" }}: repeat: argument 1 must be a whole number, and is a string; pipe it through int"},
		"a string is no map":                               {`{{ pick .Values.s "x" | toJson }}`, "failed: {{ pick .Values.s \"x\" | toJson }}: pick: argument 1 must be a map, and is a string"},
		"a range over a number that somebody mistyped":     {`{{ range .Values.n }}x{{ end }}`, "failed: {{ range .Values.n }}: range over .Values.n: it is a number, not a list or a map"},
		"a range over a string":                            {`{{ range .Values.s }}x{{ end }}`, "failed: {{ range .Values.s }}: range over .Values.s: it is a string, not a list or a map"},
		"a range over a literal number is meant":           {`{{ range $i := int .Values.n }}x{{ $i }}{{ end }}`, "x0x1x2"},
		"a format without its argument is an error":        {`{{ printf "%s-%d" .Values.s }}`, "failed: {{ printf \"%s-%d\" .Values.s }}: printf: the format does not fit its arguments: say %s for strings, %d for whole numbers, %v for anything"},
		"a value may look like a format's error":           {`{{ printf "%s" "100%!" }}`, "100%!"},
		"ternary":                                          {`{{ ternary "a" "b" .Values.b }}{{ ternary "a" "b" .Values.none }}`, "ab"},
		"coalesce":                                         {`{{ coalesce .Values.none .Values.empty .Values.s }}`, "Text"},
		"types have their usual names":                     {`{{ typeOf .Values.map }}-{{ kindOf .Values.list }}-{{ typeIs "string" .Values.s }}-{{ kindIs "invalid" .Values.none }}`, "map[string]interface {}-slice-true-true"},
		"printf does not say where something is kept":      {`{{ printf "%v %-8p" 1 .Values.map }}`, "failed: {{ printf \"%v %-8p\" 1 .Values.map }}: printf: %p prints where something is kept, which is never the same twice; say %v"},
		"nor takes a percent sign for that":                {`{{ printf "%d%%p" 5 }}`, "5%p"},
		"split gives a map":                                {`{{ (split "-" "a-b")._1 }}{{ (splitList "-" "a-b") | last }}`, "bb"},
		"regular expressions":                              {`{{ regexReplaceAll "(e)" .Values.s "<$1>" }}{{ regexMatch "^T" .Values.s }}`, "T<e>xttrue"},
		"a bad regular expression is an error":             {`{{ regexMatch "(" .Values.s }}`, "failed: {{ regexMatch \"(\" .Values.s }}: regexMatch cannot work with what it is given"},
		"sums":                                             {`{{ sha256sum "a" | trunc 8 }}-{{ adler32sum "a" }}`, "ca978112-6422626"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			run := mustCompile(t, map[string]string{"t": configMap("data:\n  v: " + c.text + "\n"), "helpers": `{{ define "h" }}h:{{ . }}{{ end }}`}).
				Gateway.Start(Context{Namespace: "team-a", Values: tree(t, values)})
			run.Advance(nothing)
			got := strings.Replace(outcomeOf(run.Result(), "t"), "failed: line 6: ", "failed: ", 1)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestUniqueName(t *testing.T) {
	name := func(args ...any) string {
		got, err := uniqueName(nil, args)
		if err != nil {
			return "error: " + err.Error()
		}
		return got.(string)
	}
	long := strings.Repeat("very-long-", 20)
	cases := map[string]struct {
		args []any
		want string
	}{
		"the parts and a hash of them":           {[]any{"team", "a-web"}, "team-a-web-b28su2uos1"},
		"other parts, another hash":              {[]any{"team-a", "web"}, "team-a-web-r7sc2ef9v7"},
		"a name fits a label":                    {[]any{long, long}, "very-long-very-long-very-long-very-long-very-long-ve-6im95v14nf"},
		"or what it is told to fit":              {[]any{"team-a", long, 32}, "team-a-very-long-very-b8f12koj55"},
		"what a label cannot hold becomes a '-'": {[]any{"*.Example.com"}, "example-com-rc1h2bcq2m"},
		"nothing but such":                       {[]any{"***"}, "6vfvv9rjup"},
		"a number that is no length":             {[]any{"a", 80}, "error: a number stands last, and is the greatest length, 16 to 63; to make a number part of the name, pipe it through toString"},
		"an empty part":                          {[]any{"a", ""}, "error: argument 2 must be a string that is not empty, and is a string"},
		"no part":                                {[]any{20}, "error: there must be at least one string"},
	}
	for what, c := range cases {
		t.Run(what, func(t *testing.T) {
			if diff := cmp.Diff(c.want, name(c.args...)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRenderingChangesNothingAndIsTheSameEveryTime(t *testing.T) {
	text := configMap(`{{- $v := set .Values "new" 1 }}{{ $v = unset $v "a" }}{{ $v = merge $v .Values (dict "m" (dict "deep" 1)) }}{{ $v = mergeOverwrite $v (dict "m" dict) }}
data:
  v: {{ toJson $v | quote }}
  w: {{ range $k, $x := .Values.m }}{{ $k }}{{ end }}
  x: {{ keys .Values.m | join "" }}{{ values .Values.m | join "" }}{{ .Values.list | sortAlpha | join "" }}{{ append .Values.list "x" | reverse | join "" }}
  y: {{ toYaml .Values | sha256sum }}
`)
	p := mustCompile(t, map[string]string{"t": text, "u": namedMap("u", "data: {v: {{ toJson .Values | quote }}}")})
	values := tree(t, `{"a": 1, "list": ["c", "b", "a"], "m": {"z": 1, "y": 2, "x": 3, "w": 4, "v": 5}}`)
	before := plainCopy(values)
	var first Result
	for i := range 50 {
		run := p.Gateway.Start(Context{Namespace: "team-a", Values: values})
		run.Advance(nothing)
		if result := run.Result(); i == 0 {
			first = result
		} else if diff := cmp.Diff(first, result); diff != "" {
			t.Fatalf("another result (-first +now):\n%s", diff)
		}
	}
	if len(first.Objects) != 2 {
		t.Errorf("failed: %+v", first.Failed)
	}
	if diff := cmp.Diff(before, values); diff != "" {
		t.Errorf("the values changed (-before +after):\n%s", diff)
	}
}

func TestProgramsAreSafeForConcurrentUse(t *testing.T) {
	p := mustCompile(t, workload)
	context := workloadContext()
	done := make(chan []Object)
	for range 8 {
		go func() {
			var objects []Object
			for range 20 {
				objects = p.Gateway.Start(context).Advance(nothing)
			}
			done <- objects
		}()
	}
	first := <-done
	for range 7 {
		if diff := cmp.Diff(first, <-done); diff != "" {
			t.Errorf("(-first +other):\n%s", diff)
		}
	}
}
