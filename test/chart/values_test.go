package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/test/helm"
)

func TestLintFindsNothing(t *testing.T) {
	for name, file := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			if _, err := helm.Run(t, nil, "lint", "--strict", chartDir(), "--values", file); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestValuesThatCannotWorkAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		set  string
		want string
	}{
		"a key that the chart does not know":        {set: `replicas=2`, want: "'replicas' not allowed"},
		"a key that it does not know further down":  {set: `image={"name":"a"}`, want: "'name' not allowed"},
		"a blueprint that is not shipped":           {set: `rbac={"blueprints":{"other":true}}`, want: "'other' not allowed"},
		"a wildcard for the kinds of blueprints":    {set: `rbac={"blueprintKinds":[{"apiGroups":["*"],"resources":["a"]}]}`, want: "/rbac/blueprintKinds/0/apiGroups/0"},
		"kinds of blueprints without resources":     {set: `rbac={"blueprintKinds":[{"apiGroups":["a"]}]}`, want: "missing property 'resources'"},
		"a wildcard for the kinds that are watched": {set: `rbac={"watchedKinds":[{"apiGroups":["a"],"resources":["*"]}]}`, want: "/rbac/watchedKinds/0/resources/0"},
		"an account to act as without a namespace":  {set: `impersonation={"serviceAccounts":[{"name":"a"}]}`, want: "missing property 'namespace'"},
		"an account to act as that has no name":     {set: `impersonation={"serviceAccounts":[{"namespace":"a","name":""}]}`, want: "/impersonation/serviceAccounts/0/name"},
		"a namespace that is everywhere":            {set: `impersonation={"serviceAccounts":[{"namespace":"*","name":"a"}]}`, want: "/impersonation/serviceAccounts/0/namespace"},
		"the controller's own account to act as": {
			set: `impersonation={"serviceAccounts":[{"namespace":"default","name":"gatewright"}]}`, want: "must not name the controller's own ServiceAccount default/gatewright"},
		"a text where a number belongs":             {set: `controller={"replicas":"2"}`, want: "got string, want integer"},
		"replicas that would work against another":  {set: `controller={"replicas":2,"leaderElection":false}`, want: "set controller.leaderElection too"},
		"a monitor of metrics that are not served":  {set: `metrics={"enabled":false,"serviceMonitor":{"enabled":true}}`, want: "metrics.serviceMonitor.enabled needs metrics.enabled"},
		"a pod monitor of metrics that are not":     {set: `metrics={"enabled":false,"podMonitor":{"enabled":true}}`, want: "metrics.podMonitor.enabled needs metrics.enabled"},
		"a digest that is none":                     {set: `image={"digest":"latest"}`, want: "/image/digest"},
		"a name that no object could have":          {set: `fullnameOverride="Gate_Wright"`, want: "/fullnameOverride"},
		"an interval that Prometheus does not know": {set: `metrics={"serviceMonitor":{"interval":"often"}}`, want: "/metrics/serviceMonitor/interval"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := helm.Run(t, nil, "template", release, chartDir(), "--set-json", c.set)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v\nwant one that contains %q", err, c.want)
			}
		})
	}
}

func TestTheReadmeListsEveryValueAndItsDefault(t *testing.T) {
	var values map[string]any
	readYAML(t, "values.yaml", &values)
	want := map[string]string{}
	flatten("", values, want)

	readme, err := os.ReadFile(filepath.Join(chartDir(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| `([^`]+)` \\|").FindAllStringSubmatch(string(readme), -1) {
		got[row[1]] = canonical(t, row[2])
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("values (-values.yaml +README.md):\n%s", diff)
	}
}

// flatten puts the defaults into a map by their dotted paths, as JSON. What is handed on to Kubernetes whole counts as one.
func flatten(prefix string, value any, into map[string]string) {
	tree, isMap := value.(map[string]any)
	whole := prefix == "resources" || strings.HasSuffix(prefix, "ecurityContext")
	if !isMap || len(tree) == 0 || whole {
		text, _ := json.Marshal(value) // It was JSON before it came here.
		into[prefix] = string(text)
		return
	}
	for key, child := range tree {
		path := key
		if prefix != "" {
			path = prefix + "." + key
		}
		flatten(path, child, into)
	}
}

func canonical(t *testing.T, text string) string {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatalf("default in README.md: %v in %s", err, text)
	}
	sorted, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}

// readYAML reads a file of the chart.
func readYAML(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chartDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
