package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// usesHead is an object to which text can be added.
const usesHead = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n"

func TestUsesAreWhatTemplatesMayRead(t *testing.T) {
	const (
		values         = `{{ .Values.a }}`
		listenerValues = `{{ range .Listeners }}{{ .Values.a }}{{ end }}`
	)
	all, listeners := Uses{true, true, true, true}, Uses{Listeners: true}
	read := Uses{Listeners: true, ListenerValues: true}
	for name, c := range map[string]struct {
		template, helpers string
		want              Uses
	}{
		"nothing":                                   {`{{ .Gateway.metadata.name }}{{ range .Gateway.spec.listeners }}{{ .Values }}{{ end }}`, "", Uses{}},
		"values":                                    {values, "", Uses{Values: true}},
		"values by a variable":                      {`{{ $v := .Values }}{{ $v.a }}`, "", Uses{Values: true}},
		"values by index":                           {`{{ index . "Values" "a" }}`, "", Uses{Values: true}},
		"how many listeners there are":              {`{{ len .Listeners }}{{ if and .Listeners (not .Listeners) }}{{ end }}`, "", listeners},
		"fields of listeners":                       {`{{ range $i, $l := .Listeners }}{{ $i }}{{ .name }}{{ $l.source.name }}{{ end }}`, "", listeners},
		"the first listener":                        {`{{ (first .Listeners).name }}{{ (index .Listeners 0).port }}{{ index .Listeners 1 "port" }}`, "", listeners},
		"ports of listeners in a list":              {`{{ $p := list }}{{ range .Listeners }}{{ $p = append $p .port }}{{ end }}{{ uniq $p | join "," }}`, "", listeners},
		"listeners in a list of their own":          {`{{ $o := list }}{{ range .Listeners }}{{ $o = append $o . }}{{ end }}{{ range $o }}{{ .name }}{{ end }}`, "", listeners},
		"a part of a listener without its values":   {`{{ range .Listeners }}{{ toYaml (omit . "Values") }}{{ toYaml (pick . "name") }}{{ end }}`, "", listeners},
		"values of listeners":                       {listenerValues, "", read},
		"by a variable":                             {`{{ range $l := .Listeners }}{{ $l.Values.a }}{{ end }}`, "", read},
		"by a variable that is assigned later":      {`{{ $l := dict }}{{ range .Listeners }}{{ $l.Values }}{{ $l = . }}{{ end }}`, "", read},
		"by with":                                   {`{{ with first .Listeners }}{{ .Values.a }}{{ end }}`, "", read},
		"by index":                                  {`{{ index .Listeners 0 "Values" "a" }}`, "", read},
		"by a field of what is in parentheses":      {`{{ (index .Listeners 0).Values.a }}`, "", read},
		"by get in a pipeline":                      {`{{ "Values" | get (first .Listeners) | toYaml }}`, "", read},
		"by a key that is computed":                 {`{{ get (first .Listeners) .Gateway.metadata.name }}`, "", read},
		"by default and ternary":                    {`{{ (ternary (last .Listeners) (dict) true | default dict).Values }}`, "", read},
		"by a list of some":                         {`{{ range list (first .Listeners) }}{{ .Values.a }}{{ end }}`, "", read},
		"by what is left of the list":               {`{{ range rest .Listeners }}{{ .Values.a }}{{ end }}`, "", read},
		"a listener as a whole":                     {`{{ range .Listeners }}{{ toYaml . }}{{ end }}`, "", read},
		"a listener that is printed":                {`{{ range .Listeners }}{{ . }}{{ end }}`, "", read},
		"every key of a listener":                   {`{{ range $k, $v := first .Listeners }}{{ $k }}{{ end }}`, "", read},
		"a listener less something else":            {`{{ range .Listeners }}{{ toYaml (omit . "name") }}{{ end }}`, "", read},
		"a listener with its values":                {`{{ range .Listeners }}{{ toYaml (pick . "Values") }}{{ end }}`, "", read},
		"the whole context":                         {`{{ toYaml . }}`, "", all},
		"the whole context by a computed key":       {`{{ index $ .Gateway.metadata.name }}`, "", all},
		"the whole context in a map":                {`{{ if (dict "context" $).context.Values.a }}{{ end }}`, "", Uses{Values: true, ListenerValues: true}},
		"the whole context under any name":          {`{{ range (dict "Values" $).Values.Listeners }}{{ .Values.a }}{{ end }}`, "", all},
		"what is in a map of all":                   {`{{ range (dict "context" $).context.Listeners }}{{ .name }}{{ end }}`, "", all},
		"the whole context for tpl":                 {`{{ tpl "x" $ }}`, "", all},
		"something else for tpl":                    {`{{ tpl "{{ .x }}" (dict "x" 1) }}`, "", Uses{}},
		"a helper that reads nothing":               {`{{ include "h" . }}`, `{{ define "h" }}{{ .Gateway.metadata.name }}{{ end }}`, Uses{}},
		"a helper that reads values":                {`{{ include "h" . }}`, `{{ define "h" }}` + values + `{{ end }}`, Uses{Values: true}},
		"a helper that is given a listener":         {`{{ range .Listeners }}{{ include "h" . }}{{ end }}`, `{{ define "h" }}` + values + `{{ end }}`, read},
		"a helper of a helper":                      {`{{ template "h" . }}`, `{{ define "h" }}{{ . | include "i" }}{{ end }}{{ define "i" }}` + listenerValues + `{{ end }}`, read},
		"a helper that calls itself":                {`{{ include "h" . }}`, `{{ define "h" }}{{ if .Values.a }}{{ include "h" . }}{{ end }}{{ end }}`, Uses{Values: true}},
		"a helper that is given the context by $":   {`{{ range .Listeners }}{{ include "h" $ }}{{ end }}`, `{{ define "h" }}{{ $.Values.a }}{{ end }}`, Uses{Values: true, Listeners: true}},
		"a helper whose name is computed":           {`{{ include .Gateway.metadata.name . }}`, `{{ define "h" }}{{ end }}`, all},
		"a helper that nobody includes":             {`{{ .Gateway.metadata.name }}`, `{{ define "h" }}` + listenerValues + `{{ end }}`, Uses{}},
		"a block of the template's own":             {`{{ define "own" }}` + listenerValues + `{{ end }}{{ include "own" . }}`, "", read},
		"what is said only if something else is so": {`{{ if .Gateway.spec }}{{ else }}` + listenerValues + `{{ end }}`, "", read},
	} {
		t.Run(name, func(t *testing.T) {
			b := &v1alpha1.GatewayClassBlueprint{}
			b.Spec.Helpers = c.helpers
			b.Spec.GatewayTemplate = &v1alpha1.GatewayTemplate{ResourceTemplates: map[string]string{"t": usesHead + "# " + c.template}}
			p, err := Compile(b)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.Gateway.Uses()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestUsesAreThoseOfAllTemplatesOfASet(t *testing.T) {
	b := &v1alpha1.GatewayClassBlueprint{}
	b.Spec.GatewayTemplate = &v1alpha1.GatewayTemplate{
		ResourceTemplates: map[string]string{"a": usesHead + "data: {a: {{ .Values.a }}}", "b": usesHead + "data: {a: {{ len .Listeners }}}"},
		Status:            &v1alpha1.StatusTemplate{Template: "{{ range .Listeners }}{{ .Values.a }}{{ end }}"},
	}
	b.Spec.HTTPRouteTemplate = &v1alpha1.RouteTemplate{ResourceTemplates: map[string]string{"a": usesHead + "data: {a: {{ .Values.a }}, b: {{ range .Rules }}{{ .Values.b }}{{ end }}}"}}
	p, err := Compile(b)
	if err != nil {
		t.Fatal(err)
	}
	got := map[gatewayv1.Kind]Uses{"Gateway": p.Gateway.Uses()}
	for kind, set := range p.Routes {
		got[kind] = set.Uses()
	}
	want := map[gatewayv1.Kind]Uses{"Gateway": {true, true, true, false}, "HTTPRoute": {Values: true, Rules: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
