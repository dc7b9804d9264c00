package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// object makes an object, given as JSON after apiVersion and kind of a ConfigMap and the namespace.
func object(t testing.TB, name, rest string) *unstructured.Unstructured {
	t.Helper()
	return &unstructured.Unstructured{Object: tree(t, fmt.Sprintf(
		`{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": %q, "namespace": "team-a", "uid": "u-%s"}%s}`, name, name, rest))}
}

// cluster plays the API server: what was applied is there, with a status where one is given.
type cluster map[string][]*unstructured.Unstructured

func (c cluster) observe(template string) []*unstructured.Unstructured { return c[template] }

// summary is a Result without the bodies of objects.
type summary struct {
	Objects []string
	Pending []Pending
	Failed  []string
}

func summarize(r Result) summary {
	s := summary{Pending: r.Pending}
	for _, o := range r.Objects {
		s.Objects = append(s.Objects, o.Template+": "+o.GetKind()+"/"+o.GetName())
	}
	for _, f := range r.Failed {
		s.Failed = append(s.Failed, f.Error())
	}
	return s
}

func namedMap(name, rest string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n" + rest + "\n"
}

func TestAdvance(t *testing.T) {
	templates := map[string]string{
		"first":    namedMap("first", ""),
		"second":   namedMap("second", "data:\n  uid: {{ (index .Resources.first 0).metadata.uid }}"),
		"third":    namedMap("third", "data:\n  arn: {{ (index .Resources.first 0).status.arn }}\n  uid: {{ index .Resources.second 0 | include \"uid\" }}"),
		"nothing":  "{{ if .Values.wanted }}" + namedMap("wanted", "") + "{{ end }}",
		"broken":   namedMap("broken", "data: {v: {{ .Values.absent }}}"),
		"dragged":  namedMap("dragged", "data: {v: {{ len .Resources.broken }}}"),
		"helpers":  `{{ define "uid" }}{{ .metadata.uid }}{{ end }}`,
		"afterNil": namedMap("after", "data: {v: {{ len .Resources.nothing | quote }}}"),
	}
	brokenError := "blueprint test, template broken, line 5: {{ .Values.absent }}: .Values.absent is not set; give it a default in the blueprint's spec.values.default"
	dragged := Pending{Template: "dragged", Waits: []string{"broken"}, Message: "waits for .Resources.broken: its template failed"}
	run := mustCompile(t, templates).Gateway.Start(Context{Namespace: "team-a"})
	steps := []struct {
		name    string
		cluster cluster
		fresh   []string
		want    summary
	}{
		{
			"at first only what waits for nothing is rendered, and what waits is pending, not absent", cluster{},
			[]string{"after", "first"},
			summary{
				Objects: []string{"afterNil: ConfigMap/after", "first: ConfigMap/first"},
				Pending: []Pending{dragged,
					{Template: "second", Waits: []string{"first"}, Message: "waits for .Resources.first: not there yet"},
					{Template: "third", Waits: []string{"first", "second"}, Message: "waits for .Resources.first: not there yet; .Resources.second: its template is not rendered yet"}},
				Failed: []string{brokenError},
			},
		},
		{
			"once an object is there its reader is rendered, and a field that is not there yet is waited for",
			cluster{"first": {object(t, "other", ""), object(t, "first", "")}},
			[]string{"second"},
			summary{
				Objects: []string{"afterNil: ConfigMap/after", "first: ConfigMap/first", "second: ConfigMap/second"},
				Pending: []Pending{dragged,
					{Template: "third", Waits: []string{"second"}, Message: "waits for .Resources.second: not there yet"}},
				Failed: []string{brokenError},
			},
		},
		{
			"a missing status is waited for",
			cluster{"first": {object(t, "first", "")}, "second": {object(t, "second", "")}},
			nil,
			summary{
				Objects: []string{"afterNil: ConfigMap/after", "first: ConfigMap/first", "second: ConfigMap/second"},
				Pending: []Pending{dragged,
					{Template: "third", Waits: []string{"first"}, Message: "waits: {{ (index .Resources.first 0).status.arn }}: (index .Resources.first 0).status is not set yet"}},
				Failed: []string{brokenError},
			},
		},
		{
			"a status that is there is used, and nothing is rendered twice",
			cluster{"first": {object(t, "first", `, "status": {"arn": "arn:aws:x"}`)}, "second": {object(t, "second", "")}},
			[]string{"third"},
			summary{
				Objects: []string{"afterNil: ConfigMap/after", "first: ConfigMap/first", "second: ConfigMap/second", "third: ConfigMap/third"},
				Pending: []Pending{dragged},
				Failed:  []string{brokenError},
			},
		},
	}
	for _, step := range steps {
		var fresh []string
		for _, o := range run.Advance(step.cluster.observe) {
			fresh = append(fresh, o.GetName())
		}
		if diff := cmp.Diff(step.fresh, fresh); diff != "" {
			t.Errorf("%s: new objects (-want +got):\n%s", step.name, diff)
		}
		if diff := cmp.Diff(step.want, summarize(run.Result())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", step.name, diff)
		}
	}
	third := run.Result().Objects[3].Object["data"]
	if diff := cmp.Diff(map[string]any{"arn": "arn:aws:x", "uid": "u-second"}, third); diff != "" {
		t.Errorf("what was read (-want +got):\n%s", diff)
	}
}

// TestWhatIsMissing tells what is waited for from what is broken. The reading template is given the live object of `src` with
// status {"list": [], "empty": {}, "addresses": [{"ip": "10.0.0.1"}]}.
func TestWhatIsMissing(t *testing.T) {
	const live = `, "status": {"list": [], "empty": {}, "none": null, "text": "x", "addresses": [{"ip": "10.0.0.1"}]}`
	wait := func(s string) string { return "pending: waits: " + s }
	broken := func(s string) string { return "failed: " + s }
	cases := map[string]struct{ text, want string }{
		"a field of a live object is waited for":                   {"{{ (index .Resources.src 0).status.arn }}", wait("{{ (index .Resources.src 0).status.arn }}: (index .Resources.src 0).status.arn is not set yet")},
		"also below a missing field":                               {"{{ (index .Resources.src 0).spec.a.b }}", wait("{{ (index .Resources.src 0).spec.a.b }}: (index .Resources.src 0).spec is not set yet")},
		"also if it is null":                                       {"{{ (index .Resources.src 0).status.none }}", wait("{{ (index .Resources.src 0).status.none }}: (index .Resources.src 0).status.none is not set yet")},
		"also through index":                                       {`{{ index .Resources.src 0 "status" "arn" }}`, wait(`{{ index .Resources.src 0 "status" "arn" }}: what is looked for in a live object is not set yet`)},
		"an item of a live list is waited for":                     {"{{ index (index .Resources.src 0).status.list 0 }}", wait("{{ index (index .Resources.src 0).status.list 0 }}: the item that is looked for in a list of live objects is not there yet")},
		"also the first":                                           {"{{ first (index .Resources.src 0).status.list }}", wait("{{ first (index .Resources.src 0).status.list }}: a list of a live object is still empty")},
		"also through with":                                        {"{{ with index .Resources.src 0 }}{{ .status.arn }}{{ end }}", wait("{{ .status.arn }}: .status.arn is not set yet")},
		"also through range":                                       {"{{ range .Resources.src }}{{ .status.arn }}{{ end }}", wait("{{ .status.arn }}: .status.arn is not set yet")},
		"also through a variable":                                  {"{{ $s := (index .Resources.src 0).status }}{{ $s.arn }}", wait("{{ $s.arn }}: $s.arn is not set yet")},
		"also through functions":                                   {`{{ (merge (dict) (dict "a" (index .Resources.src 0))).a.status.text }}{{ (get (index .Resources.src 0) "status").arn }}`, wait(`{{ (get (index .Resources.src 0) "status").arn }}: (get (index .Resources.src 0) "status").arn is not set yet`)},
		"also through a helper":                                    {`{{ include "arn" (index .Resources.src 0) }}`, wait(`{{ include "arn" (index .Resources.src 0) }}: in "arn", line 1 of spec.helpers: .status.arn is not set yet`)},
		"also in a list that a helper is given":                    {`{{ include "arn" (dict "status" (dict "arn" (index .Resources.src 0).status.arn)) }}`, wait(`{{ include "arn" (dict "status" (dict "arn" (index .Resources.src 0).status.arn)...: (index .Resources.src 0).status.arn is not set yet`)},
		"also in a range over it":                                  {"{{ range (index .Resources.src 0).status.many }}x{{ end }}", wait("{{ range (index .Resources.src 0).status.many }}: (index .Resources.src 0).status.many is not set yet")},
		"also in quotes":                                           {"{{ (index .Resources.src 0).status.arn | quote }}", wait("{{ (index .Resources.src 0).status.arn | quote }}: (index .Resources.src 0).status.arn is not set yet")},
		"also where it is required":                                {`{{ required "no arn" (index .Resources.src 0).status.arn }}`, wait(`{{ required "no arn" (index .Resources.src 0).status.arn }}: (index .Resources.src 0).status.arn is not set yet`)},
		"also if every alternative is missing":                     {"{{ coalesce (index .Resources.src 0).status.a (index .Resources.src 0).status.b | quote }}", wait("{{ coalesce (index .Resources.src 0).status.a (index .Resources.src 0).status.b ...: (index .Resources.src 0).status.b is not set yet")},
		"a list of one object stands for the object":               {"{{ .Resources.src.status.arn }}", wait("{{ .Resources.src.status.arn }}: .Resources.src.status.arn is not set yet")},
		"a condition asks, and is answered":                        {"{{ if (index .Resources.src 0).status.arn }}some{{ else }}none{{ end }}", "none"},
		"so does with":                                             {"{{ with (index .Resources.src 0).status.arn }}some{{ else }}none{{ end }}", "none"},
		"so do and, or, not":                                       {"{{ if and (not (index .Resources.src 0).a) (or (index .Resources.src 0).b true) }}some{{ end }}", "some"},
		"so does eq":                                               {`{{ eq (index .Resources.src 0).status.arn "x" | quote }}`, "false"},
		"default says what to do without":                          {`{{ (index .Resources.src 0).status.arn | default "none" }}`, "none"},
		"so does dig":                                              {`{{ dig "status" "a" "b" "none" (index .Resources.src 0) }}`, "none"},
		"so do get and hasKey":                                     {`{{ hasKey (index .Resources.src 0).status "arn" }}-{{ get (index .Resources.src 0).nope "x" | quote }}`, `false-""`},
		"what is there is used":                                    {"{{ range (index .Resources.src 0).status.addresses }}{{ .hostname | default .ip }}{{ end }}", "10.0.0.1"},
		"a missing value is an error":                              {"{{ .Values.absent }}", broken("line 6: {{ .Values.absent }}: .Values.absent is not set; give it a default in the blueprint's spec.values.default")},
		"also beside a live object":                                {"{{ if (index .Resources.src 0).status.arn }}{{ end }}{{ .Values.absent }}", broken("line 6: {{ .Values.absent }}: .Values.absent is not set; give it a default in the blueprint's spec.values.default")},
		"a field of a live string is an error: it will never come": {"{{ (index .Resources.src 0).status.text.x }}", broken(`line 6: {{ (index .Resources.src 0).status.text.x }}: (index .Resources.src 0).status.text is a string, not a map, so it has no "x"`)},
		"an item of a list of values is an error":                  {"{{ index .Values.list 0 }}", broken("line 6: {{ index .Values.list 0 }}: index: the list has no item at that position")},
		"the data of a Secret cannot be read":                      {"{{ (index .Resources.secret 0).data.password }}", broken("line 6: {{ (index .Resources.secret 0).data.password }}: (index .Resources.secret 0).data cannot be read: templates do not see what is in a Secret")},
		"nor is it elsewhere in it":                                {"{{ (index .Resources.secret 0) | toJson | quote }}", `{"apiVersion":"v1","kind":"Secret","metadata":{"annotations":{},"name":"secret","namespace":"team-a"}}`},
		"who manages fields is not shown":                          {"{{ (index .Resources.src 0).metadata.managedFields | default \"none\" }}", "none"},
		"a condition on a value that is missing is false":          {"{{ if .Values.a.b.c }}some{{ else }}none{{ end }}", "none"},
		"a range over a value that is missing is empty":            {"{{ range .Values.a.b.c }}some{{ else }}none{{ end }}", "none"},
		"a helper may be given a value that is missing":            {`{{ include "maybe" .Values.a }}`, "none"},
		"printed text that stands for nothing is nothing":          {`{{ if include "maybe-empty" . }}some{{ else }}none{{ end }}{{ if and (include "maybe-empty" .) true }}some{{ end }}`, "none"},
	}
	src := object(t, "src", live)
	src.Object["metadata"].(map[string]any)["managedFields"] = []any{"x"}
	secret := &unstructured.Unstructured{Object: tree(t, `{"apiVersion": "v1", "kind": "Secret", "data": {"password": "canary"}, "stringData": {"a": "canary"},
		"metadata": {"name": "secret", "namespace": "team-a", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "canary"}}}`)}
	observed := cluster{"src": {src}, "secret": {secret}}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			run := mustCompile(t, map[string]string{
				"src":    namedMap("src", ""),
				"secret": "apiVersion: v1\nkind: Secret\nmetadata: {name: secret}\n",
				"t":      namedMap("t", "data:\n  v: "+c.text),
				"helpers": `{{ define "arn" }}{{ .status.arn }}{{ end }}{{ define "maybe" }}{{ if . }}some{{ else }}none{{ end }}{{ end }}` +
					`{{ define "maybe-empty" }}{{ .Values.empty }}{{ end }}`,
			}).Gateway.Start(Context{Namespace: "team-a", Values: tree(t, `{"list": [], "empty": ""}`)})
			run.Advance(nothing)
			run.Advance(observed.observe)
			if diff := cmp.Diff(c.want, outcomeOf(run.Result(), "t")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// outcomeOf is data.v of a template's object, or why there is none.
func outcomeOf(r Result, template string) string {
	for _, p := range r.Pending {
		if p.Template == template {
			return "pending: " + p.Message
		}
	}
	for _, f := range r.Failed {
		if f.Template == template {
			return "failed: " + strings.TrimPrefix(f.Error(), "blueprint test, template t, ")
		}
	}
	for _, o := range r.Objects {
		if o.Template == template {
			data, _ := o.Object["data"].(map[string]any)
			return fmt.Sprint(data["v"])
		}
	}
	return "nothing"
}

func TestLiveObjectsComeInRenderedOrder(t *testing.T) {
	text := "{{ range list \"c\" \"a\" \"b\" }}---\n" + namedMap("{{ . }}", "") + "{{ end }}"
	run := mustCompile(t, map[string]string{
		"many": text, "t": namedMap("t", "data: {v: {{ range .Resources.many }}{{ .metadata.name }}{{ end }}}"),
	}).Gateway.Start(Context{Namespace: "team-a"})
	run.Advance(nothing)
	run.Advance(cluster{"many": {object(t, "a", ""), object(t, "b", "")}}.observe)
	if got := outcomeOf(run.Result(), "t"); got != "pending: waits for .Resources.many: not there yet" {
		t.Errorf("while one of three is missing: %s", got)
	}
	run.Advance(cluster{"many": {object(t, "a", ""), object(t, "b", ""), object(t, "c", "")}}.observe)
	if got := outcomeOf(run.Result(), "t"); got != "cab" {
		t.Errorf("with all three: %s", got)
	}
}

func TestNoObjectIsRenderedTwice(t *testing.T) {
	cases := map[string]struct {
		templates map[string]string
		want      []string
	}{
		"by two templates": {
			map[string]string{"a": namedMap("x", ""), "b": namedMap("x", "")},
			[]string{"blueprint test, template b, line 1: template a renders the same ConfigMap already; give one of them another name"}},
		"by two templates, in different versions": {
			map[string]string{"a": "apiVersion: autoscaling/v1\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\n", "b": "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: x}\n"},
			[]string{"blueprint test, template b, line 1: template a renders the same HorizontalPodAutoscaler already; give one of them another name"}},
		"by one template": {
			map[string]string{"a": namedMap("x", "") + "---\n" + namedMap("x", "")},
			[]string{"blueprint test, template a, line 7: the template renders two ConfigMap objects of the same name"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			run := mustCompile(t, c.templates).Gateway.Start(Context{Namespace: "team-a"})
			run.Advance(nothing)
			if diff := cmp.Diff(c.want, summarize(run.Result()).Failed); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRoutesOfEveryKindAreRenderedByTheirOwnTemplates(t *testing.T) {
	b := blueprint(nil)
	for field, template := range map[string]**v1alpha1.RouteTemplate{
		"HTTPRoute": &b.Spec.HTTPRouteTemplate, "GRPCRoute": &b.Spec.GRPCRouteTemplate, "TLSRoute": &b.Spec.TLSRouteTemplate,
		"TCPRoute": &b.Spec.TCPRouteTemplate, "UDPRoute": &b.Spec.UDPRouteTemplate,
	} {
		*template = &v1alpha1.RouteTemplate{ResourceTemplates: map[string]string{"route": namedMap(
			"{{ ."+field+".metadata.name }}-{{ .Gateway.metadata.name }}",
			"data:\n  kind: "+field+"\n  same: {{ eq .Route.metadata.name ."+field+".metadata.name | quote }}\n  parent: {{ .ParentRef.name }}\n"+
				"  hostnames: {{ .Hostnames.Union | join \",\" }}/{{ .Hostnames.Intersection | join \",\" }}")}}
	}
	p, err := Compile(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []gatewayv1.Kind{"HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute"} {
		t.Run(string(kind), func(t *testing.T) {
			run := p.Routes[kind].Start(Context{
				Namespace: "team-b", Route: tree(t, `{"metadata": {"name": "shop"}}`), ParentRef: tree(t, `{"name": "web"}`),
				Gateway: tree(t, `{"metadata": {"name": "web"}}`), Hostnames: Hostnames{Union: []string{"a", "b"}, Intersection: []string{"a"}},
			})
			got := run.Advance(nothing)
			want := []Object{{Template: "route", Unstructured: &unstructured.Unstructured{Object: tree(t, `{"apiVersion": "v1", "kind": "ConfigMap",
				"metadata": {"name": "shop-web", "namespace": "team-b"},
				"data": {"kind": "`+string(kind)+`", "same": "true", "parent": "web", "hostnames": "a,b/a"}}`)}}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%v (-want +got):\n%s", run.Result().Failed, diff)
			}
		})
	}
}

func TestARouteTemplateKnowsItsOwnKindOnly(t *testing.T) {
	b := blueprint(nil)
	b.Spec.GRPCRouteTemplate = &v1alpha1.RouteTemplate{ResourceTemplates: map[string]string{"route": namedMap("{{ .HTTPRoute.metadata.name }}", "")}}
	b.Spec.UDPRouteTemplate = &v1alpha1.RouteTemplate{ResourceTemplates: map[string]string{"route": namedMap("{{ .Rout.metadata.name }}", "")}}
	_, err := Compile(b)
	want := "grpcRouteTemplate route, line 4: there is no .HTTPRoute here: it is only there in route templates of its kind\n" +
		"udpRouteTemplate route, line 4: there is no .Rout; did you mean .Route?"
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}
