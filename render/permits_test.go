package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

func TestAdmit(t *testing.T) {
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: [], serviceAccountName: admin}}}\n"
	const lends = "lends the rights of that account: name one that another template renders and that this one reads, " +
		"as in {{ .Resources.account.metadata.name }}, or list all kinds of the blueprint in spec.permits.kinds"
	kinds := func(k ...v1alpha1.PermittedKind) *v1alpha1.Permits { return &v1alpha1.Permits{Kinds: k} }
	cases := map[string]struct {
		text    string
		permits *v1alpha1.Permits
		want    string
	}{
		"the parent's namespace is filled in":        {namedMap("x", ""), nil, "team-a/x"},
		"and may be written":                         {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: team-a}\n", nil, "team-a/x"},
		"another namespace is refused":               {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: kube-system}\n", nil, "ConfigMap: metadata.namespace must be that of the object that is rendered for, or left out"},
		"a namespace that is no string is refused":   {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: [a]}\n", nil, "ConfigMap: metadata.namespace must be that of the object that is rendered for, or left out"},
		"it is left open where cluster scope may be": {namedMap("x", ""), &v1alpha1.Permits{ClusterScoped: true}, "/x"},
		"also then, another is refused":              {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: kube-system}\n", &v1alpha1.Permits{ClusterScoped: true}, "ConfigMap: metadata.namespace must be that of the object that is rendered for, or left out"},
		"a name must be there":                       {"apiVersion: v1\nkind: ConfigMap\nmetadata: {}\n", nil, "ConfigMap: metadata.name must be a string that is not empty"},
		"metadata must be there":                     {"apiVersion: v1\nkind: ConfigMap\n", nil, "ConfigMap: metadata must be a map with a name"},
		"a name must not lead elsewhere":             {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ../x}\n", nil, "ConfigMap: metadata.name is not a name that an object can have"},
		"a name that would be made up is refused":    {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, generateName: x-}\n", nil, "ConfigMap: metadata.generateName must not be set by a template"},
		"owners are not the template's to set":       {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, ownerReferences: []}\n", nil, "ConfigMap: metadata.ownerReferences must not be set by a template"},
		"nor are finalizers":                         {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, finalizers: [a/b]}\n", nil, "ConfigMap: metadata.finalizers must not be set by a template"},
		"nor is the uid":                             {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, uid: a}\n", nil, "ConfigMap: metadata.uid must not be set by a template"},
		"nor is the resourceVersion":                 {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, resourceVersion: \"1\"}\n", nil, "ConfigMap: metadata.resourceVersion must not be set by a template"},
		"nor are managedFields":                      {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, managedFields: []}\n", nil, "ConfigMap: metadata.managedFields must not be set by a template"},
		"nor are our labels":                         {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {gatewright.dev/owner-uid: a}}\n", nil, "ConfigMap: metadata.labels: keys under gatewright.dev/ must not be set by a template"},
		"nor are our annotations":                    {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, annotations: {gatewright.dev/owner: a}}\n", nil, "ConfigMap: metadata.annotations: keys under gatewright.dev/ must not be set by a template"},
		"a label is a string":                        {"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, labels: {a: 1}}\n", nil, "ConfigMap: metadata.labels: the value of \"a\" must be a string, and is a number; pipe it through quote"},
		"labels without a label are left out":        {"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n  labels:\n", nil, "team-a/x"},
		"a computed kind must be one of those that are written": {
			"{{ if false }}" + namedMap("x", "") + "---{{ end }}\napiVersion: v1\nkind: {{ .Values.kind }}\nmetadata: {name: x}\n", nil,
			"an object is of a kind that the template may not produce; it may produce v1 ConfigMap: what it writes literally, or what spec.permits.kinds lists"},
		"or of those that are listed":                         {"apiVersion: v1\nkind: {{ .Values.kind }}\nmetadata: {name: x}\n", kinds(v1alpha1.PermittedKind{Kind: "Secret"}), "team-a/x"},
		"a Gateway of the class itself would never end":       {"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: x}\nspec: {gatewayClassName: outer}\n", kinds(v1alpha1.PermittedKind{Group: "gateway.networking.k8s.io", Kind: "Gateway"}), "Gateway: spec.gatewayClassName is the class that is being rendered, so this would never end"},
		"a Gateway of another class is fine":                  {"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: x}\nspec: {gatewayClassName: istio}\n", nil, "team-a/x"},
		"another service account lends its rights":            {deployment, nil, "Deployment: spec.template.spec.serviceAccountName " + lends},
		"also under its old name":                             {strings.ReplaceAll(deployment, "serviceAccountName", "serviceAccount"), nil, "Deployment: spec.template.spec.serviceAccount " + lends},
		"also in a Pod":                                       {podOf("Pod", "spec"), nil, "Pod: spec.serviceAccountName " + lends},
		"also in a CronJob":                                   {podOf("CronJob", "spec", "jobTemplate", "spec", "template", "spec"), nil, "CronJob: spec.jobTemplate.spec.template.spec.serviceAccountName " + lends},
		"also in a PodTemplate":                               {podOf("PodTemplate", "template", "spec"), nil, "PodTemplate: template.spec.serviceAccountName " + lends},
		"also in kinds of others":                             {podOf("Rollout", "spec", "template", "spec"), nil, "Rollout: spec.template.spec.serviceAccountName " + lends},
		"the account that every Pod has lends nothing":        {strings.ReplaceAll(deployment, "admin", "default"), nil, "team-a/x"},
		"unless the kind is permitted by name":                {deployment, kinds(v1alpha1.PermittedKind{Group: "apps", Kind: "Deployment"}), "team-a/x"},
		"a token of a service account lends its rights, too":  {"apiVersion: v1\nkind: Secret\ntype: kubernetes.io/service-account-token\nmetadata: {name: x}\n", nil, "Secret: a token of a service account must be permitted by name; list all kinds of the blueprint in spec.permits.kinds"},
		"a document that is no object":                        {namedMap("x", "") + "---\n- a\n", nil, "line 7 of what the template prints: the document is a list, not an object; note that a printed value is always one scalar: to insert a map or a list, print it with toYaml and nindent"},
		"a key that stands twice":                             {namedMap("x", "data:\n  a: b\n  a: c"), nil, "line 7 of what the template prints: data.a: this key stands here twice"},
		"a key of the author's that values bring along again": {namedMap("x", "data:\n  kind: mine\n  {{- toYaml .Values | nindent 2 }}"), nil, "line 7 of what the template prints: data.kind: this key stands here twice"},
		"an anchor":         {namedMap("x", "data: &a {b: c}"), nil, "line 5 of what the template prints: data: an anchor (&) is not allowed; quote the value if it is text"},
		"a tag":             {namedMap("x", "data: !!binary aGk="), nil, "line 5 of what the template prints: data: a tag (!) is not allowed; quote the value if it is text"},
		"an empty document": {"---\n# nothing\n---\n" + namedMap("x", ""), nil, "team-a/x"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := blueprint(map[string]string{"t": c.text})
			b.Spec.Permits = c.permits
			p, err := Compile(b)
			if err != nil {
				t.Fatal(err)
			}
			run := p.Gateway.Start(Context{Namespace: "team-a", Class: tree(t, `{"metadata": {"name": "outer"}}`), Values: tree(t, `{"kind": "Secret"}`)})
			run.Advance(nothing)
			got := "nothing"
			switch result := run.Result(); {
			case len(result.Failed) > 0:
				got = result.Failed[0].Message
			case len(result.Objects) > 0:
				got = result.Objects[0].GetNamespace() + "/" + result.Objects[0].GetName()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// podOf is an object of a kind of nobody's, with the spec of a Pod of another account at a place.
func podOf(kind string, place ...string) string {
	return "apiVersion: example.com/v1\nkind: " + kind + "\nmetadata: {name: x}\n" +
		strings.Join(place, ": {") + ": {containers: [], serviceAccountName: admin" + strings.Repeat("}", len(place)) + "\n"
}

func TestPodsMayRunAsAnAccountThatIsRenderedBeside(t *testing.T) {
	const account = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: proxy}\n"
	pod := func(account string) string {
		return "apiVersion: v1\nkind: Pod\nmetadata: {name: x}\nspec: {containers: [], serviceAccountName: " + account + "}\n"
	}
	cases := map[string]struct {
		pod  string
		want summary
	}{
		"one that is read is there, and ours": {pod("{{ .Resources.account.metadata.name }}"),
			summary{Objects: []string{"account: ServiceAccount/proxy", "pod: Pod/x"}}},
		"it may be written out, too": {pod("proxy") + "{{ $wait := .Resources.account }}",
			summary{Objects: []string{"account: ServiceAccount/proxy", "pod: Pod/x"}}},
		"one that is not read may be somebody else's": {pod("proxy"),
			summary{Objects: []string{"account: ServiceAccount/proxy"}, Failed: []string{
				"blueprint test, template pod, line 1: Pod: spec.serviceAccountName lends the rights of that account: name one that another template " +
					"renders and that this one reads, as in {{ .Resources.account.metadata.name }}, or list all kinds of the blueprint in spec.permits.kinds"}}},
		"another name than that of the one that is read": {pod("admin") + "{{ $wait := .Resources.account }}",
			summary{Objects: []string{"account: ServiceAccount/proxy"}, Failed: []string{
				"blueprint test, template pod, line 1: Pod: spec.serviceAccountName lends the rights of that account: name one that another template " +
					"renders and that this one reads, as in {{ .Resources.account.metadata.name }}, or list all kinds of the blueprint in spec.permits.kinds"}}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			run := mustCompile(t, map[string]string{"account": account, "pod": c.pod}).Gateway.Start(Context{Namespace: "team-a"})
			run.Advance(nothing)
			live := &unstructured.Unstructured{Object: tree(t, `{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "proxy", "namespace": "team-a"}}`)}
			run.Advance(cluster{"account": {live}}.observe)
			if diff := cmp.Diff(c.want, summarize(run.Result())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGroupsThatGiveRightsMustBePermittedByName(t *testing.T) {
	for _, group := range []string{
		"rbac.authorization.k8s.io", "authorization.k8s.io", "authentication.k8s.io", "certificates.k8s.io",
		"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io",
	} {
		t.Run(group, func(t *testing.T) {
			b := blueprint(map[string]string{"t": "apiVersion: " + group + "/v1\nkind: Thing\nmetadata: {name: x}\n"})
			want := "gatewayTemplate t: Thing." + group + " must be permitted by name; list all kinds of the blueprint in spec.permits.kinds"
			if _, err := Compile(b); err == nil || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
			b.Spec.Permits = &v1alpha1.Permits{Kinds: []v1alpha1.PermittedKind{{Group: group, Kind: "Thing"}}}
			if _, err := Compile(b); err != nil {
				t.Errorf("it is permitted by name, and still: %v", err)
			}
		})
	}
}

func TestAnObjectIsTheSameWithAndWithoutItsNamespace(t *testing.T) {
	b := blueprint(map[string]string{
		"a":      namedMap("x", ""),
		"b":      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: team-a}\n",
		"reader": namedMap("reader", "data: {v: {{ .Resources.a.metadata.uid }}}"),
	})
	b.Spec.Permits = &v1alpha1.Permits{ClusterScoped: true}
	p, err := Compile(b)
	if err != nil {
		t.Fatal(err)
	}
	run := p.Gateway.Start(Context{Namespace: "team-a"})
	run.Advance(nothing)
	run.Advance(cluster{"a": {object(t, "x", "")}}.observe)
	want := summary{
		Objects: []string{"a: ConfigMap/x", "reader: ConfigMap/reader"},
		Failed:  []string{"blueprint test, template b, line 1: template a renders the same ConfigMap already; give one of them another name"},
	}
	if diff := cmp.Diff(want, summarize(run.Result())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !p.ClusterScopedPermitted() {
		t.Error("cluster-scoped objects are permitted, and it says no")
	}
}

func TestMessagesAreBounded(t *testing.T) {
	key := strings.Repeat("long", 1000)
	_, got := renderOne(t, namedMap("x", "data:\n  {{- toYaml .Values | nindent 2 }}\n  {{- toYaml .Values | nindent 2 }}"), "", `{"`+key+`": 1}`)
	if len(got) > 1100 || !strings.HasSuffix(got, "...") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}

// A route that is rendered for a route, and attaches where that does, would be a route to render for, and so on.
func TestARouteIsNotRenderedForItself(t *testing.T) {
	const own = "HTTPRoute: spec.parentRefs[0] is the Gateway that is being rendered, so this would never end"
	const ownSet = "HTTPRoute: spec.parentRefs[0] is the ListenerSet that is being rendered, so this would never end"
	cases := map[string]struct{ parent, want string }{
		"the Gateway of the route": {"{name: web, namespace: infra}", own},
		"spelled out":              {"{group: gateway.networking.k8s.io, kind: Gateway, name: web, namespace: infra, sectionName: x}", own},
		"another Gateway":          {"{name: inner, namespace: infra}", ""},
		"one of that name in the namespace of the route": {"{name: web}", ""},
		"the ListenerSet of the route":                   {"{kind: ListenerSet, name: mine}", ownSet},
		"another ListenerSet of the Gateway":             {"{kind: ListenerSet, name: shop, namespace: infra}", ownSet},
		"a ListenerSet of another Gateway":               {"{kind: ListenerSet, name: shop}", ""},
		"a Service of that name":                         {"{group: \"\", kind: Service, name: web, namespace: infra}", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := &v1alpha1.GatewayClassBlueprint{}
			b.Spec.HTTPRouteTemplate = &v1alpha1.RouteTemplate{ResourceTemplates: map[string]string{
				"t": "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: x}\nspec:\n  parentRefs: [" + c.parent + "]\n"}}
			p, err := Compile(b)
			if err != nil {
				t.Fatal(err)
			}
			run := p.Routes["HTTPRoute"].Start(Context{
				Namespace: "team-a", Gateway: tree(t, `{"metadata": {"name": "web", "namespace": "infra"}}`),
				ParentRef: tree(t, `{"kind": "ListenerSet", "name": "mine", "namespace": "team-a"}`),
				Listeners: []any{tree(t, `{"source": {"kind": "ListenerSet", "name": "shop", "namespace": "infra"}}`)},
			})
			run.Advance(nothing)
			got := ""
			for _, failed := range run.Result().Failed {
				got += failed.Message
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
