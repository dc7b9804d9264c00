package render

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// defines are n define blocks.
func defines(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "{{ define %q }}{{ end }}", strconv.Itoa(i))
	}
	return text.String()
}

// pairs is a document of n versions and n kinds, each of which goes with each.
func pairs(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "apiVersion: a%d/v1\nkind: A%d\n", i, i)
	}
	return text.String()
}

func TestTemplatesOfAllSetsCountTogether(t *testing.T) {
	texts := map[string]string{}
	for i := range maxTemplates/2 + 1 {
		texts["t"+strconv.Itoa(i)] = configMap("")
	}
	b := blueprint(texts)
	b.Spec.HTTPRouteTemplate = &v1alpha1.RouteTemplate{ResourceTemplates: texts}
	_, err := Compile(b)
	if err == nil || err.Error() != "spec: there are 66 templates in all, and at most 64 are allowed" {
		t.Errorf("got %v", err)
	}
}

func TestCompileProblems(t *testing.T) {
	many := map[string]string{}
	for i := range maxTemplates + 1 {
		many["t"+strings.Repeat("x", i)[:min(i, 60)]+string(rune('a'+i%26))] = configMap("")
	}
	cases := map[string]struct {
		templates map[string]string
		want      string
	}{
		"a syntax error names template and line": {
			map[string]string{"t": configMap("data:\n  v: {{ .Values.x\n")},
			"gatewayTemplate t, line 7: unclosed action started at t:6"},
		"an unknown function suggests the nearest": {
			map[string]string{"t": configMap("data:\n  v: {{ .Values.x | toyml }}\n")},
			`gatewayTemplate t, line 6: there is no function "toyml"; did you mean toYaml?`},
		"a function that is left out on purpose says what to use": {
			map[string]string{"t": configMap("data:\n  v: {{ .Values.x | squote }}\n")},
			`gatewayTemplate t, line 6: there is no function "squote"; use quote, since single quotes escape nothing`},
		"our own functions cannot be called": {
			map[string]string{"t": configMap("data: {v: {{ _print 0 .Values.x }}}\n")},
			`gatewayTemplate t, line 5: there is no function "_print"; did you mean print?`},
		"too few arguments": {
			map[string]string{"t": configMap("data:\n  v: {{ replace \"a\" .Values.x }}\n")},
			"gatewayTemplate t, line 6: replace takes 3 arguments, and gets 2"},
		"too many arguments, one of them piped": {
			map[string]string{"t": configMap("data:\n  v: {{ .Values.x | quote | lower 1 }}\n")},
			"gatewayTemplate t, line 6: lower takes at most 1 argument, and gets 2"},
		"a value is not a function": {
			map[string]string{"t": configMap("data:\n  v: {{ .Values.x 1 }}{{ 1 | .Values.y }}\n")},
			"gatewayTemplate t, line 6: .Values.x is not a function\ngatewayTemplate t, line 6: .Values.y is not a function"},
		"a misspelt variable of the context": {
			map[string]string{"t": configMap("data:\n  v: {{ .Value.x }}{{ $.Gatway.x }}{{ with .Values }}{{ $.gateway.x }}{{ end }}\n")},
			"gatewayTemplate t, line 6: there is no .Value; did you mean .Values?\n" +
				"gatewayTemplate t, line 6: there is no .Gatway; did you mean .Gateway?\n" +
				"gatewayTemplate t, line 6: there is no .gateway; did you mean .Gateway?"},
		"a variable of route templates": {
			map[string]string{"t": configMap("data:\n  v: {{ .HTTPRoute.metadata.name }}\n")},
			"gatewayTemplate t, line 6: there is no .HTTPRoute here: it is only there in route templates of its kind"},
		"an unknown kind of hostnames": {
			map[string]string{"t": configMap("data:\n  v: {{ .Hostnames.All | toJson | quote }}\n")},
			"gatewayTemplate t, line 6: there is no .Hostnames.All; there are .Hostnames.Union and .Hostnames.Intersection"},
		"an unknown sibling suggests the nearest": {
			map[string]string{"config": configMap(""), "t": configMap("data:\n  v: {{ (index .Resources.conifg 0).metadata.uid }}\n")},
			`gatewayTemplate t, line 6: there is no template "conifg" to read by .Resources; did you mean config?`},
		"a sibling whose name is computed": {
			map[string]string{"config": configMap(""), "t": configMap("data:\n  v: {{ index .Resources .Values.which }}\n")},
			"gatewayTemplate t, line 6: .Resources must be followed by the name of a template, written out: .Resources.name or (index .Resources \"name\"); the order of rendering is made of these names"},
		"all siblings at once": {
			map[string]string{"config": configMap(""), "t": configMap("{{- range $name, $list := .Resources }}{{ end }}")},
			"gatewayTemplate t, line 5: .Resources must be followed by the name of a template, written out: .Resources.name or (index .Resources \"name\"); the order of rendering is made of these names"},
		"a template that reads itself": {
			map[string]string{"t": configMap("data:\n  v: {{ len .Resources.t }}\n")},
			"gatewayTemplate t, line 6: a template cannot read its own live objects, since it would wait for itself"},
		"a cycle is named": {
			map[string]string{"a": configMap("data: {v: {{ len .Resources.b }}}"), "b": configMap("data: {v: {{ include \"h\" . }}}"), "c": configMap("data: {v: {{ len .Resources.a }}}"),
				"helpers": `{{ define "h" }}{{ index .Resources "c" | len }}{{ end }}`},
			"spec.gatewayTemplate: templates wait for each other: a reads b reads c reads a"},
		"an unknown helper suggests the nearest": {
			map[string]string{"t": configMap("data:\n  v: {{ include \"labls\" . }}\n"), "helpers": `{{ define "labels" }}{{ end }}`},
			`gatewayTemplate t, line 6: there is no template "labls" to include; did you mean labels?`},
		"text outside of helpers": {
			map[string]string{"helpers": "{{/* fine */}}\n{{ define \"a\" }}{{ end }}\nstray"},
			"spec.helpers, line 2: only {{ define }} blocks belong here; what stands outside of them is never rendered"},
		"a helper that is defined twice": {
			map[string]string{"t": configMap("") + `{{ define "a" }}{{ end }}`, "helpers": `{{ define "a" }}{{ end }}`},
			`gatewayTemplate t: "a" is defined here and in spec.helpers; remove one`},
		"a problem in a helper": {
			map[string]string{"helpers": "{{ define \"a\" }}\n{{ nope }}{{ end }}"},
			`spec.helpers, line 2: there is no function "nope"`},
		"helpers that cannot be parsed are the only problem": {
			map[string]string{"t": configMap("data: {v: {{ include \"a\" . }}}"), "helpers": "{{ define \"a\" }}"},
			"spec.helpers, line 1: unexpected EOF"},
		"a changed copy that nobody gets": {
			map[string]string{"t": "{{- $m := dict }}{{ $_ := set $m \"a\" 1 }}" + configMap("")},
			"gatewayTemplate t, line 1: set changes nothing in place, it gives a changed copy: assign it, as in `{{ $map = set $map ... }}`"},
		"no kind is written literally": {
			map[string]string{"t": "apiVersion: v1\nkind: {{ .Values.kind }}\nmetadata: {name: x}\n"},
			"gatewayTemplate t: the template writes no apiVersion and kind literally; write them out, or write the apiVersion out and list the kinds in spec.permits.kinds"},
		"a dangerous kind": {
			map[string]string{"t": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: x}\n"},
			"gatewayTemplate t: Role.rbac.authorization.k8s.io must be permitted by name; list all kinds of the blueprint in spec.permits.kinds"},
		"our own kinds": {
			map[string]string{"t": "apiVersion: gatewright.dev/v1alpha1\nkind: GatewayConfig\nmetadata: {name: x}\n"},
			"gatewayTemplate t: objects of group gatewright.dev cannot be rendered"},
		"a name that cannot be a label": {
			map[string]string{"-t": configMap("")},
			"gatewayTemplate -t: the name of a template must be at most 63 letters, digits, '-', '_' or '.', and begin and end with a letter or digit"},
		"characters that stand for values": {
			map[string]string{"t": configMap("data:\n  v: " + tokenStart + "0" + tokenEnd + "\n  w: {{ \"" + tokenStart + "\" }}\n")},
			"gatewayTemplate t, line 1: the characters U+E000 and U+E001 are not allowed in a template\n" +
				"gatewayTemplate t, line 7: the characters U+E000 and U+E001 are not allowed in a template"},
		"control structures without end": {
			map[string]string{"t": configMap(strings.Repeat("{{ if 1 }}", 201) + strings.Repeat("{{ end }}", 201))},
			"gatewayTemplate t, line 5: control structures are nested more than 200 deep"},
		"alternatives without end": {
			map[string]string{"t": configMap("{{ if 1 }}" + strings.Repeat("{{ else if 1 }}", 200) + "{{ end }}")},
			"gatewayTemplate t, line 5: control structures are nested more than 200 deep"},
		"helpers without end": {
			map[string]string{"helpers": defines(maxDefines + 1)},
			"spec.helpers: there are more than 256 define blocks"},
		"kinds without end": {
			map[string]string{"t": pairs(32)},
			"gatewayTemplate t: the template writes more than 1000 combinations of apiVersion and kind; make it several templates"},
		"too many templates": {many, "spec.gatewayTemplate: there are 65 templates, and at most 64 are allowed"},
		"a text that is too long": {
			map[string]string{"t": configMap("# " + strings.Repeat("x", maxSource))},
			"gatewayTemplate t: the text is longer than 262144 bytes"},
		"parentheses without end": {
			map[string]string{"t": configMap("data: {v: {{ " + strings.Repeat("(", 200) + "1" + strings.Repeat(")", 200) + " }}}")},
			"gatewayTemplate t, line 5: parentheses are nested more than 64 deep"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := Compile(blueprint(c.templates))
			got := ""
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestServiceAccountIsNamedInFull(t *testing.T) {
	const none = "name a ServiceAccount, or leave serviceAccountRef out"
	cases := map[string]struct {
		ref  *v1alpha1.ServiceAccountReference
		want types.NamespacedName
		err  string
	}{
		"without one it is the controller": {nil, types.NamespacedName{}, ""},
		"one that is named": {
			&v1alpha1.ServiceAccountReference{Namespace: "team", Name: "deployer.of-team"}, types.NamespacedName{Namespace: "team", Name: "deployer.of-team"}, ""},
		"one without a name":      {&v1alpha1.ServiceAccountReference{Namespace: "team"}, types.NamespacedName{}, "spec.serviceAccountRef.name: is empty; " + none},
		"one without a namespace": {&v1alpha1.ServiceAccountReference{Name: "deployer"}, types.NamespacedName{}, "spec.serviceAccountRef.namespace: is empty; " + none},
		"one that nobody could be": {&v1alpha1.ServiceAccountReference{Namespace: "system:serviceaccounts", Name: "deployer"}, types.NamespacedName{},
			"spec.serviceAccountRef.namespace: cannot be the namespace of a ServiceAccount: " +
				validation.IsDNS1123Label("system:serviceaccounts")[0]},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := blueprint(map[string]string{"t": configMap("")})
			b.Spec.ServiceAccountRef = c.ref
			program, err := Compile(b)
			var got types.NamespacedName
			message := ""
			if err != nil {
				message = err.Error()
			} else {
				got = program.ServiceAccount()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.err, message); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKinds(t *testing.T) {
	core := schema.GroupVersion{Version: "v1"}
	networking := schema.GroupVersion{Group: "networking.k8s.io", Version: "v1"}
	cases := map[string]struct {
		templates map[string]string
		permits   *v1alpha1.Permits
		want      []schema.GroupVersionKind
		problem   string
	}{
		"what stands at the top level of documents, sorted": {
			templates: map[string]string{
				"a": "apiVersion: networking.k8s.io/v1\nkind: Ingress # why\nspec:\n  kind: Nested\n  apiVersion: apps/v1\n---\n'apiVersion': \"v1\"\n'kind': 'Service'\n",
				"b": configMap("")},
			want: []schema.GroupVersionKind{core.WithKind("ConfigMap"), core.WithKind("Service"), networking.WithKind("Ingress")}},
		"within control structures and after an indentation": {
			templates: map[string]string{"a": "{{ range .Listeners }}\n---\n  apiVersion: v1\n  {{ if .x }}\n  kind: Service\n  {{ else }}\n  kind: ConfigMap\n  {{ end }}\n  spec:\n    kind: Nested\n{{ end }}"},
			want:      []schema.GroupVersionKind{core.WithKind("ConfigMap"), core.WithKind("Service")}},
		"out of a helper": {
			templates: map[string]string{"a": `{{ include "head" . }}` + "\nmetadata: {name: x}\n", "b": `{{ template "head" . }}`, "helpers": `{{ define "head" }}apiVersion: v1` + "\n" + `kind: ConfigMap{{ end }}`},
			want:      []schema.GroupVersionKind{core.WithKind("ConfigMap")}},
		"a kind that is computed must be listed": {
			templates: map[string]string{"a": "apiVersion: v1\nkind: {{ .Values.kind }}\n"},
			permits:   &v1alpha1.Permits{Kinds: []v1alpha1.PermittedKind{{Kind: "Service"}, {Kind: "ConfigMap"}}},
			want:      []schema.GroupVersionKind{core.WithKind("ConfigMap"), core.WithKind("Service")}},
		"a list of kinds is complete": {
			templates: map[string]string{"a": configMap("")},
			permits:   &v1alpha1.Permits{Kinds: []v1alpha1.PermittedKind{{Group: "", Kind: "Service"}}},
			problem:   `gatewayTemplate a: ConfigMap is not among spec.permits.kinds; add {group: "", kind: ConfigMap}`},
		"a dangerous kind can be listed": {
			templates: map[string]string{"a": "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: x}\n"},
			permits:   &v1alpha1.Permits{Kinds: []v1alpha1.PermittedKind{{Group: "rbac.authorization.k8s.io", Kind: "Role"}}},
			want:      []schema.GroupVersionKind{{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}}},
		"our own kinds cannot": {
			templates: map[string]string{"a": configMap("")},
			permits:   &v1alpha1.Permits{Kinds: []v1alpha1.PermittedKind{{Kind: "ConfigMap"}, {Group: "gatewright.dev", Kind: "GatewayConfig"}}},
			problem:   "spec.permits.kinds[1]: objects of group gatewright.dev cannot be rendered"},
		"a listed kind needs a version": {
			templates: map[string]string{"a": configMap("")},
			permits:   &v1alpha1.Permits{Kinds: []v1alpha1.PermittedKind{{Kind: "ConfigMap"}, {Group: "apps", Kind: "Deployment"}}},
			problem:   `spec.permits.kinds[1]: no template writes an apiVersion of group "apps" literally, so the version of Deployment is not known; write it out or remove the kind`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := blueprint(c.templates)
			b.Spec.Permits = c.permits
			p, err := Compile(b)
			if err != nil {
				if diff := cmp.Diff(c.problem, err.Error()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				return
			}
			if diff := cmp.Diff(c.want, p.Kinds()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestOrderAndReads(t *testing.T) {
	reads := func(expr string) string { return configMap("data: {v: {{ " + expr + " | toJson | quote }}}") }
	templates := map[string]string{
		"a": reads(".Resources.z"), "b": reads(`index $.Resources "y"`), "c": reads(`include "reads.x" .`),
		"d": configMap("{{ with .Resources.w }}{{ range $.Resources.v }}{{ end }}{{ end }}"),
		"e": reads(`include "nested" (dict "context" .)`), "f": configMap(""), "g": reads(`get .Resources "u"`),
		"h": configMap("{{ $root := . }}data: {v: {{ len $root.Resources.t }}}"),
		"t": configMap(""), "u": configMap(""), "v": configMap(""), "w": configMap(""), "x": configMap(""), "y": configMap(""), "z": configMap(""),
		"i": configMap(`{{ with index .Values.Resources "nope" }}{{ end }}{{ index (dict "x" .).x.Resources "r" | len }}`), "r": configMap(""),
		"s": configMap(""), "status": "addresses: {{ toYaml .Resources.f }}",
		"helpers": `{{ define "reads.x" }}{{ len .Resources.x }}{{ end }}{{ define "nested" }}{{ len .context.Resources.s }}{{ end }}`,
	}
	p := mustCompile(t, templates)
	wantOrder := strings.Split("z a y b x c v w d s e f u g t h r i", " ")
	if diff := cmp.Diff(wantOrder, p.Gateway.Names()); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	got := slices.DeleteFunc(p.Gateway.Names(), func(name string) bool { return !p.Gateway.Reads(name) })
	if diff := cmp.Diff([]string{"f", "r", "s", "t", "u", "v", "w", "x", "y", "z"}, slices.Sorted(slices.Values(got))); diff != "" {
		t.Errorf("what is read (-want +got):\n%s", diff)
	}
}

func TestCompileLeavesTheBlueprintAlone(t *testing.T) {
	b := blueprint(maps.Clone(workload))
	before := b.DeepCopy()
	if _, err := Compile(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, b); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEmptyBlueprint(t *testing.T) {
	p, err := Compile(&v1alpha1.GatewayClassBlueprint{})
	if err != nil {
		t.Fatal(err)
	}
	run := p.Gateway.Start(Context{})
	if got := run.Advance(nothing); len(got) > 0 {
		t.Errorf("rendered %v", got)
	}
	if diff := cmp.Diff(Result{}, run.Result()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(Status{}, run.Status(nothing)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
