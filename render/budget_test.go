package render

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// mostMemory is what a rendering may allocate, all in all: some times what functions may keep, since they take more on the way.
const mostMemory = 256 << 20

// TestBombs holds that whatever runs away is stopped with words about what to look for, and nothing else of the run with it.
func TestBombs(t *testing.T) {
	const memory = "the template needs more than 67108864 bytes of memory; look for a loop that a value makes too long"
	const loop = "the template takes more than 250000 steps; look for a loop that a value makes too long"
	wide := `{"a": 1`
	for i := range 1000 {
		wide += fmt.Sprintf(`, "k%d": %d`, i, i)
	}
	wide += "}"
	cases := map[string]struct{ text, helpers, values, want string }{
		"a loop over a huge number":             {text: `{{ range int .Values.n }}{{ end }}`, values: `{"n": 9000000000000000000}`, want: loop},
		"loops in loops":                        {text: `{{ $l := until 1000 }}{{ range $l }}{{ range $l }}{{ range $l }}x{{ end }}{{ end }}{{ end }}`, want: loop},
		"a helper that includes itself":         {text: `{{ include "h" . }}`, helpers: `{{ define "h" }}{{ include "h" . }}{{ end }}`, want: "templates include each other more than 32 deep"},
		"a template action that does the same":  {text: `{{ template "h" . }}`, helpers: `{{ define "h" }}{{ template "h" . }}{{ end }}`, want: "templates include each other more than 32 deep"},
		"a helper that includes itself twice":   {text: `{{ include "h" 25 }}`, helpers: `{{ define "h" }}{{ if . }}{{ include "h" (sub . 1) }}{{ include "h" (sub . 1) }}{{ end }}{{ end }}`, want: loop},
		"tpl in tpl":                            {text: `{{ tpl .Values.t . }}`, values: `{"t": "{{ tpl .Values.t . }}"}`, want: "templates include each other more than 32 deep"},
		"a long text for tpl":                   {text: `{{ tpl (repeat 100000 "x") . }}`, want: "tpl: the text is longer than 65536 bytes"},
		"many texts for tpl":                    {text: `{{ range until 10000 }}{{ $x := tpl (print "{{/*" (repeat 60000 "x") "*/}}") $ }}{{ end }}`, want: loop},
		"nesting in a text for tpl":             {text: `{{ tpl (print "{{ " (repeat 20000 "(") "1" (repeat 20000 ")") " }}") . }}`, want: "the text is not a template"},
		"until":                                 {text: `{{ until 20000000 | len }}`, want: "until: the list would have more than 50000 items"},
		"untilStep":                             {text: `{{ untilStep 0 20000000 1 | len }}`, want: "untilStep: the list would have more than 50000 items"},
		"seq":                                   {text: `{{ seq 1 1 900000000 }}`, want: "seq: the list would have more than 50000 items"},
		"repeat":                                {text: `{{ repeat 100000000 "x" }}`, want: "repeat: the result would be longer than 1048576 bytes"},
		"repeat, piped":                         {text: `{{ "xxxxxxxx" | repeat 1000000 }}`, want: "repeat: the result would be longer than 1048576 bytes"},
		"indent":                                {text: `{{ indent 50000000 "x" }}`, want: "indent: the indentation must be 0 to 256"},
		"indent backwards":                      {text: `{{ nindent -1 "x" }}`, want: "nindent: the indentation must be 0 to 256"},
		"indent of many lines":                  {text: `{{ repeat 500000 "\n" | indent 200 | len }}`, want: "the template prints more than 1048576 bytes"},
		"replace":                               {text: `{{ replace "a" (repeat 1000000 "b") (repeat 1000000 "a") | len }}`, want: "replace: the result would be longer than 1048576 bytes"},
		"replace between characters":            {text: `{{ replace "" (repeat 1000 "b") (repeat 10000 "a") | len }}`, want: "replace: the result would be longer than 1048576 bytes"},
		"join":                                  {text: `{{ join (repeat 1000000 "x") (until 10000) | len }}`, want: "join: the result would be longer than 1048576 bytes"},
		"wrapWith":                              {text: `{{ wrapWith 1 (repeat 1000 "x") (repeat 100000 "y ") | len }}`, want: "wrapWith: the result would be longer than 1048576 bytes"},
		"a format of great width":               {text: `{{ printf "%1000000000d" 1 | len }}`, want: "printf: a width in the format must be a number of at most 1024"},
		"a format of given width":               {text: `{{ printf "%*d" 1000000000 1 | len }}`, want: "printf: a width in the format must be a number of at most 1024"},
		"a format of great precision":           {text: `{{ printf "%.1000000000f" 1.5 | len }}`, want: "printf: a width in the format must be a number of at most 1024"},
		"a string that is doubled":              {text: `{{ $x := "xxxxxxxxxxxxxxxx" }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}`, want: "print: what it is given is too large"},
		"a list that is doubled":                {text: `{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = concat $x $x }}{{ end }}`, want: "concat: what it is given is too large"},
		"a list that holds itself twice":        {text: `{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ toJson $x | len }}`, want: "toJson: what it is given is too large"},
		"and is printed":                        {text: `{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ printf "%v" $x | len }}`, want: "printf: what it is given is too large"},
		"and is copied":                         {text: `{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ deepCopy $x | len }}`, want: "deepCopy: what it is given is too large"},
		"and is compared":                       {text: `{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ deepEqual $x $x }}`, want: "deepEqual: what it is given is too large"},
		"and is searched":                       {text: `{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ has $x (list $x) }}`, want: "has: what it is given is too large"},
		"and is merged":                         {text: `{{ $x := dict }}{{ range until 60 }}{{ $x = dict "a" $x "b" $x }}{{ end }}{{ merge $x | len }}`, want: "merge: what it is given is too large"},
		"and is quoted":                         {text: `{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ quote $x }}`, want: "quote: what it is given is too large"},
		"and is made a string":                  {text: `{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ toString $x | len }}`, want: "toString: what it is given is too large"},
		"and is joined":                         {text: `{{ $x := list 1 2 }}{{ range until 60 }}{{ $x = list $x $x }}{{ end }}{{ join "" $x | len }}`, want: "join: what it is given is too large"},
		"uniq of a long list":                   {text: `{{ uniq (until 40000) | len }}`, want: loop},
		"many long strings":                     {text: `{{ $all := list }}{{ range until 5000 }}{{ $all = append $all (repeat 200000 "x") }}{{ end }}`, want: loop},
		"a lot of output":                       {text: `{{ range until 10000 }}` + strings.Repeat("x", 200) + `{{ end }}`, want: "the template prints more than 1048576 bytes"},
		"a lot of output from values":           {text: `{{ range until 10000 }}{{ $.Values.long }}{{ end }}`, values: `{"long": "` + strings.Repeat("x", 1000) + `"}`, want: "the template prints more than 1048576 bytes"},
		"a little text that stands for a lot":   {text: `{{ $t := include "h" . }}{{ range until 100 }}{{ $t }}{{ end }}`, helpers: `{{ define "h" }}{{ .Values.long }}{{ end }}`, values: `{"long": "` + strings.Repeat("x", 100000) + `"}`, want: "the objects of the template hold more than 4194304 bytes"},
		"a regular expression that is too long": {text: `{{ regexMatch (repeat 2000 "a") "x" }}`, want: "regexMatch: the regular expression is longer than 1024 bytes"},
		"a replacement that brings much":        {text: `{{ regexReplaceAll ".*" (repeat 100000 "x") (repeat 1000 "$0") | len }}`, want: "regexReplaceAll: the result could be too long"},
		"many long matches":                     {text: `{{ range until 1000 }}{{ regexMatch "(x+x+)+y" $.Values.long }}{{ end }}`, values: `{"long": "` + strings.Repeat("x", 100000) + `"}`, want: loop},
		"an expression that repeats much":       {text: `{{ range until 40000 }}{{ $x := regexMatch "((ab?){20}){20}" "" }}{{ end }}`, want: loop},
		"an expression of many kinds of letters, repeated":    {text: `{{ regexMatch "[\\pL]{1000}" "" }}`, want: "regexMatch: the regular expression repeats too much"},
		"an expression that repeats much, and matches slowly": {text: `{{ $s := repeat 100000 "a" }}{{ range until 100 }}{{ $x := regexMatch "(a?){400}$" $s }}{{ end }}`, want: loop},
		"uniq of lists that are alike":                        {text: `{{ $l := list }}{{ range until 500 }}{{ $l = append $l (list (until 60) .) }}{{ end }}{{ $x := uniq $l }}`, want: loop},
		"without of lists that are alike":                     {text: `{{ $l := list }}{{ range until 500 }}{{ $l = append $l (list (until 60) .) }}{{ end }}{{ $x := without $l $l $l $l }}`, want: loop},
		"many little texts for tpl":                           {text: `{{ range until 40000 }}{{ $x := tpl "{{ if .a }}{{ end }}" dict }}{{ end }}`, want: loop},
		"a version that is long":                              {text: `{{ semverCompare (repeat 1000 ">1.0.0 || ") "1.2.3" }}`, want: "semverCompare: a version is longer than 256 bytes"},
		"a version to compare with":                           {text: `{{ semverCompare ">1.0.0" (print "1.2.3-" (repeat 1000 "a.")) }}`, want: "semverCompare: a version is longer than 256 bytes"},
		"many letters":                                        {text: `{{ range until 10 }}{{ $x := camelcase (repeat 900000 "\n") }}{{ end }}`, want: loop},
		"a map that is printed often":                         {text: `{{ range until 10000 }}{{ $x := print $.Values }}{{ end }}`, values: wide, want: loop},
		"a map that is encoded often":                         {text: `{{ range until 10000 }}{{ $x := toJson $.Values | len }}{{ end }}`, values: wide, want: "the template prints more than 1048576 bytes"},
		"a map that is made a key":                            {text: `{{ $x := dict .Values 1 }}`, values: wide, want: "dict: a key must be a string, and is a map"},
		"a map that is copied often":                          {text: `{{ range until 10000 }}{{ $x := set $.Values "x" . }}{{ end }}`, values: wide, want: memory},
		"a map that is copied in part":                        {text: `{{ range until 10000 }}{{ $x := omit $.Values "x" }}{{ end }}`, values: wide, want: memory},
		"YAML that is long":                                   {text: `{{ range until 1000 }}{{ fromYaml (repeat 100000 "[],") }}{{ end }}`, want: "fromYaml: the text is not YAML"},
		"YAML that is parsed often":                           {text: `{{ range until 1000 }}{{ $x := fromYaml (print "[" (repeat 100000 "[],") "]") }}{{ end }}`, want: loop},
		"YAML that is nested deeply":                          {text: `{{ $x := fromYaml (print (repeat 20000 "[") (repeat 20000 "]")) }}`, want: "fromYaml: the text is not YAML"},
		"a tree that is nested deeply":                        {text: `{{ $x := list }}{{ range until 500 }}{{ $x = list $x }}{{ end }}{{ toJson $x }}`, want: "toJson: the tree is nested too deeply"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.values == "" {
				c.values = "{}"
			}
			p := mustCompile(t, map[string]string{"t": configMap("data:\n  v: x" + c.text + "\n"), "helpers": c.helpers, "bystander": namedMap("bystander", "")})
			run := p.Gateway.Start(Context{Namespace: "team-a", Values: tree(t, c.values)})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			run.Advance(nothing)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > mostMemory {
				t.Errorf("it takes %d bytes of memory, and at most %d are allowed, all that is freed again among them", used, mostMemory)
			}
			result := run.Result()
			if len(result.Objects) != 1 || len(result.Failed) != 1 {
				t.Fatalf("want one failure and the bystander's object, got %+v and %d objects", result.Failed, len(result.Objects))
			}
			if got := result.Failed[0].Message; !strings.Contains(got, c.want) {
				t.Errorf("want ...%s...\n got %s", c.want, got)
			}
		})
	}
}

func TestTooManyObjects(t *testing.T) {
	run := mustCompile(t, map[string]string{"t": "{{ range until 201 }}---\n" + namedMap("x{{ . }}", "") + "{{ end }}"}).Gateway.Start(Context{Namespace: "a"})
	run.Advance(nothing)
	if result := run.Result(); len(result.Failed) != 1 || result.Failed[0].Message != "there are more than 200 objects" || len(result.Objects) > 0 {
		t.Errorf("got %+v and %d objects", result.Failed, len(result.Objects))
	}
}

// TestAThousandListenersAreNoBomb keeps the budget honest: this is what blueprints do with each listener, and more.
func TestAThousandListenersAreNoBomb(t *testing.T) {
	text := namedMap("x", `data:
  {{- $seen := list }}
  listeners: |
    {{- range .Listeners }}
    {{- $hostname := .hostname | default "" }}
    {{- if not (has $hostname $seen) }}
    {{- $seen = append $seen $hostname }}
    - name: {{ uniqueName .source.namespace .source.name .name }}
      hostname: {{ $hostname | quote }}
      port: {{ .port }}
      tls: {{ include "tls" . | nindent 8 }}
      {{- if eq .protocol "HTTPS" }}
      secret: {{ printf "%s-%s" .source.namespace .name | trunc 63 | trimSuffix "-" }}
      {{- end }}
    {{- end }}
    {{- end }}
  hostnames: {{ $seen | uniq | sortAlpha | join "," }}`)
	helpers := `{{ define "tls" }}{{ range .tls.certificateRefs }}{{ .name | default "none" }}{{ end }}{{ end }}`
	var listeners []any
	for i := range 1000 {
		listeners = append(listeners, tree(t, fmt.Sprintf(`{"name": "l%d", "hostname": "h%d.example.com", "port": 443, "protocol": "HTTPS",
			"tls": {"certificateRefs": [{"name": "cert-%d"}]}, "source": {"namespace": "team-a", "name": "set-%d"}}`, i, i, i, i)))
	}
	run := mustCompile(t, map[string]string{"t": text, "helpers": helpers}).Gateway.Start(Context{Namespace: "team-a", Listeners: listeners})
	if got := run.Advance(nothing); len(got) != 1 {
		t.Errorf("got %+v", run.Result().Failed)
	}
}
