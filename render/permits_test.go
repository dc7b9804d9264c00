package render

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

func TestAdmit(t *testing.T) {
	deployment := "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: x}\nspec: {template: {spec: {containers: [], serviceAccountName: admin}}}\n"
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
		"another service account lends its rights":            {deployment, nil, "Deployment: spec.template.spec.serviceAccountName lends the rights of that account, and must be permitted by name; list all kinds of the blueprint in spec.permits.kinds"},
		"also under its old name":                             {strings.ReplaceAll(deployment, "serviceAccountName", "serviceAccount"), nil, "Deployment: spec.template.spec.serviceAccount lends the rights of that account, and must be permitted by name; list all kinds of the blueprint in spec.permits.kinds"},
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
