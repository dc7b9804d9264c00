package render

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Messages are read by more people than values are. Here a template does its best to put a value into one.
func TestMessagesHoldNoValues(t *testing.T) {
	const canary = "canary-7f3a"
	cases := map[string]struct{ text, want string }{
		"fail with a value":                         {`{{ fail .Values.s }}`, "its message is made of values and is not shown"},
		"fail with a value in a sentence":           {`{{ fail (printf "no %s here" .Values.s) }}`, "no %s here (the values in this message are not shown)"},
		"a value that is piped into fail":           {`{{ .Values.s | fail }}`, "its message is made of values and is not shown"},
		"and from there into something else":        {`{{ .Values.s | fail | quote }}`, "its message is made of values and is not shown"},
		"required with a value":                     {`{{ required .Values.s .Values.none }}`, "its message is made of values and is not shown"},
		"a helper whose name is a value":            {`{{ include .Values.s . }}`, "there is no template of the name that is computed here; define it in spec.helpers"},
		"a key that is a value":                     {`{{ index .Resources.live 0 .Values.s }}`, "what is looked for in a live object is not set yet"},
		"a key of a dict that is a value":           {`{{ dig .Values.s "x" "none" (dict .Values.s "y") }}`, "dig: there is a string on the way, not a map"},
		"a number that is a value":                  {`{{ index .Resources.live 424242 }}`, "the item that is looked for in a list of live objects is not there yet"},
		"what the text given to tpl says":           {`{{ tpl .Values.fails . }}`, "in the text given to tpl: the template refuses what it was given; its message is made of values and is not shown"},
		"what it takes for granted":                 {`{{ tpl .Values.needs . }}`, "in the text given to tpl: the template refuses what it was given; its message is made of values and is not shown"},
		"a field that it reads":                     {`{{ tpl .Values.reads . }}`, "in the text given to tpl: an expression is not set (in an expression)"},
		"a field that it takes of a string":         {`{{ tpl .Values.takes . }}`, "in the text given to tpl: an expression is a string, not a map, so it has no such field"},
		"what it cannot print":                      {`{{ tpl .Values.prints . }}`, "in the text given to tpl: an expression is a map, and only strings, numbers and booleans can be printed as they are"},
		"what it ranges over":                       {`{{ tpl .Values.ranges . }}`, "in the text given to tpl: range over an expression: it is a string, not a list or a map"},
		"what it includes":                          {`{{ tpl .Values.includes . }}`, "in the text given to tpl: there is no template of the name that is computed here"},
		"a text that is none":                       {`{{ tpl .Values.broken . }}`, "the text is not a template (line 1)"},
		"a text that calls what there is not":       {`{{ tpl .Values.calls . }}`, "the text is not a template that can be used here (line 1)"},
		"a key that stands there twice":             {"x\n  {{ .Values.s }}: a\n  {{ .Values.s }}: a", "data[...]: this key stands here twice"},
		"a part of a key that stands there twice":   {"x\n  a-{{ .Values.s }}: a\n  a-{{ .Values.s }}: a", "data[...]: this key stands here twice"},
		"what is below a key":                       {"x\n  {{ .Values.s }}: .inf", "data[...]: infinity and NaN are no values in Kubernetes"},
		"a label whose value is none":               {"x\nmetadata:\n  name: x\n  labels:\n    {{ .Values.s }}: {{ true }}", "metadata.labels: the value of a key that is made of values must be a string, and is true or false"},
		"text that is no YAML":                      {`{{ fromYaml .Values.alias }}`, "fromYaml: the text is not YAML"},
		"a value that is no YAML":                   {"x\n  {{ printf \"%s\\n: [\" .Values.s }}", "what the template prints"},
		"the kind of an object":                     {"x\n---\napiVersion: v1\nkind: {{ .Values.s }}\nmetadata: {name: x}", "an object is of a kind that the template may not produce; it may produce v1 ConfigMap"},
		"the namespace of an object":                {"x\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other, namespace: {{ .Values.s }}}", "metadata.namespace must be that of the object that is rendered for"},
		"the name of an object":                     {"x\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.s }}/x}", "metadata.name is not a name that an object can have"},
		"two objects of one name":                   {"x\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.s }}}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Values.s }}}", "the template renders two ConfigMap objects of the same name"},
		"what a library function is given":          {`{{ semverCompare .Values.s "1.0.0" }}`, "semverCompare cannot work with what it is given"},
		"a regular expression that is none":         {`{{ regexFind (print "[" .Values.s) "x" }}`, "regexFind cannot work with what it is given"},
		"a string where a number is needed":         {`{{ trunc .Values.s "x" }}`, "trunc: argument 1 must be a whole number, and is a string"},
		"a format that is a value":                  {`{{ printf .Values.format 1 }}`, "printf: the format does not fit its arguments"},
		"what is decoded":                           {`{{ b64dec .Values.s }}`, "b64dec: the string is not encoded that way"},
		"a map in the place of a name":              {`{{ (dict .Values.s "x") }}`, "and only strings, numbers and booleans can be printed as they are"},
		"a name that uniqueName cannot make a name": {`{{ uniqueName .Values.s "" }}`, "uniqueName: argument 2 must be a string that is not empty"},
	}
	values := `{"s": "` + canary + `", "fails": "{{ fail \"` + canary + `\" }}", "needs": "{{ required \"` + canary + `\" .Values.none }}",
		"reads": "{{ .Values.` + strings.ReplaceAll(canary, "-", "") + `.x }}", "takes": "{{ .Values.s.` + strings.ReplaceAll(canary, "-", "") + ` }}",
		"prints": "{{ dict \"` + canary + `\" 1 }}", "ranges": "{{ range \"` + canary + `\" }}{{ end }}", "includes": "{{ include \"` + canary + `\" . }}",
		"broken": "{{ ` + canary + `", "calls": "{{ ` + strings.ReplaceAll(canary, "-", "") + ` }}", "alias": "*` + canary + `", "format": "%d ` + canary + ` %d"}`
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := mustCompile(t, map[string]string{"t": configMap("data:\n  v: " + c.text + "\n"), "live": namedMap("live", "")})
			if rest, ok := strings.CutPrefix(c.text, "x\nmetadata:"); ok {
				p = mustCompile(t, map[string]string{"t": "apiVersion: v1\nkind: ConfigMap\nmetadata:" + rest + "\n"})
			}
			run := p.Gateway.Start(Context{Namespace: "team-a", Values: tree(t, values)})
			run.Advance(nothing)
			run.Advance(func(string) []*unstructured.Unstructured { return []*unstructured.Unstructured{object(t, "live", "")} })
			result := run.Result()
			var said string
			for _, failed := range result.Failed {
				said += failed.Error()
			}
			for _, pending := range result.Pending {
				said += pending.Message
			}
			if !strings.Contains(said, c.want) {
				t.Errorf("want ...%s...\n got %s", c.want, said)
			}
			if strings.Contains(said, canary) || strings.Contains(said, strings.ReplaceAll(canary, "-", "")) {
				t.Errorf("the value is in the message: %s", said)
			}
		})
	}
}

func TestTheStatusTemplateNamesNoValues(t *testing.T) {
	run := mustCompile(t, map[string]string{"status": "addresses: []\n{{ .Values.s }}: x\n"}).Gateway.Start(Context{Namespace: "a", Values: map[string]any{"s": "canary"}})
	run.Advance(nothing)
	got := run.Status(nothing).Failed
	if got == nil || !strings.Contains(got.Message, "a key of the status template must be written out") || strings.Contains(got.Message, "canary") {
		t.Errorf("got %+v", got)
	}
}
