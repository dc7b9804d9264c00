package chart

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/test/kube"
)

var update = flag.Bool("update", false, "write testdata/rbac.golden anew")

// A change of rights is to be seen, line by line, by whoever reviews it.
func TestRightsAreThoseOfTheTable(t *testing.T) {
	objects := render(t, "gatewright-system", "--values", valuesFiles(t)["all"])
	got := rights(t, objects)
	golden := filepath.Join("testdata", "rbac.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("rights (-%s +chart; -update writes it):\n%s", golden, diff)
	}
}

// rights is a table: role, group/resource and the names that it is limited to, verbs.
func rights(t *testing.T, objects []*unstructured.Unstructured) string {
	t.Helper()
	var rows []string
	for _, role := range roles(t, objects) {
		for _, rule := range role.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					what := schema.GroupResource{Group: group, Resource: resource}.String()
					if len(rule.ResourceNames) > 0 {
						what += " " + strings.Join(rule.ResourceNames, ",") + " in " + role.Namespace
					}
					rows = append(rows, fmt.Sprintf("%s/%s\t%s\t%s", role.Kind, role.Name, what, strings.Join(rule.Verbs, " ")))
				}
			}
		}
	}
	slices.Sort(rows)
	var table strings.Builder
	columns := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, strings.Join(rows, "\n"))
	if err := columns.Flush(); err != nil {
		t.Fatal(err)
	}
	return table.String()
}

// roles returns all ClusterRoles and Roles; a Role has the same fields.
func roles(t *testing.T, objects []*unstructured.Unstructured) []rbacv1.ClusterRole {
	t.Helper()
	var all []rbacv1.ClusterRole
	for _, object := range slices.Concat(find(objects, "ClusterRole"), find(objects, "Role")) {
		var role rbacv1.ClusterRole
		if err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, &role, true); err != nil {
			t.Fatal(err)
		}
		all = append(all, role)
	}
	return all
}

func TestRightsHoldNoWildcardAndLetNobodyWriteASecret(t *testing.T) {
	bannedVerbs := []string{"*", "impersonate", "escalate", "bind"}
	bannedResources := []string{"*", "secrets", "clusterroles", "clusterrolebindings", "roles", "rolebindings", "serviceaccounts/token"}
	for name, file := range valuesFiles(t) {
		t.Run(name, func(t *testing.T) {
			for _, role := range roles(t, render(t, "gatewright-system", "--values", file)) {
				for _, rule := range role.Rules {
					if slices.Equal(rule.Resources, []string{"secrets"}) && slices.Equal(rule.Verbs, []string{"list", "watch"}) {
						// What listeners name as certificates, wherever it is.
						continue
					}
					if role.Kind == "Role" && slices.Equal(rule.Resources, []string{"serviceaccounts"}) &&
						slices.Equal(rule.Verbs, []string{"impersonate"}) && len(rule.ResourceNames) > 0 {
						// As whom blueprints may have their objects written, by name.
						continue
					}
					banned := slices.ContainsFunc(rule.Verbs, func(verb string) bool { return slices.Contains(bannedVerbs, verb) }) ||
						slices.ContainsFunc(rule.Resources, func(r string) bool { return slices.Contains(bannedResources, r) }) ||
						slices.Contains(rule.APIGroups, "*")
					if banned {
						t.Errorf("%s %s must not hold the rule %v", role.Kind, role.Name, rule)
					}
				}
			}
		})
	}
}

func TestWithoutRBACThereIsNone(t *testing.T) {
	objects := render(t, "edge", "--set", "rbac.create=false")
	for _, kind := range []string{"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"} {
		if found := find(objects, kind); len(found) > 0 {
			t.Errorf("%s %s is rendered", kind, found[0].GetName())
		}
	}
}

func TestRolesOfBlueprintsAddUpToTheControllers(t *testing.T) {
	objects := render(t, "edge", "--values", valuesFiles(t)["all"])
	var selector *rbacv1.AggregationRule
	var summed []string
	for _, role := range roles(t, objects) {
		if role.AggregationRule != nil {
			selector = role.AggregationRule
			if role.Rules != nil {
				t.Errorf("ClusterRole %s has rules of its own, about which an upgrade and the cluster would disagree", role.Name)
			}
		}
		if role.Labels["gatewright.dev/aggregate-to-controller"] == "true" {
			summed = append(summed, role.Name)
		}
	}
	want := []string{
		"edge-gw-blueprint-aws-alb-crossplane", "edge-gw-blueprint-istio-ingress", "edge-gw-blueprint-kinds", "edge-gw-blueprint-shadow",
		"edge-gw-blueprint-shadow-gateway", "edge-gw-watched-kinds",
	}
	slices.Sort(summed)
	if diff := cmp.Diff(want, summed); diff != "" {
		t.Errorf("ClusterRoles that add up (-want +got):\n%s", diff)
	}
	if selector == nil || selector.ClusterRoleSelectors[0].MatchLabels["gatewright.dev/aggregate-to-controller"] != "true" {
		t.Errorf("aggregation rule = %v, want one for the label gatewright.dev/aggregate-to-controller", selector)
	}
}

// What a template says in its first column is what it makes; deeper it may speak of other objects, as an autoscaler does.
var rendered = regexp.MustCompile(`(?m)^apiVersion: (\S+)\nkind: (\S+)$`)

func TestEveryShippedBlueprintHasExactlyTheRightsThatItNeeds(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(kube.RepoRoot(), "blueprints", "*", "blueprint.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("shipped blueprints: %v, error %v", paths, err)
	}
	cluster := newCluster(t)
	if err := kube.InstallCRDs(t.Context(), kube.Config(t), kube.GatewayAPICRDs(), kube.ForeignCRDs()); err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		name := filepath.Base(filepath.Dir(path))
		t.Run(name, func(t *testing.T) {
			switches := `rbac={"blueprints":{"shadow":false,"` + camelCase(name) + `":true}}`
			objects := render(t, "edge", "--set-json", switches)
			var got []string
			for _, role := range roles(t, objects) {
				if role.Name == "edge-gatewright-blueprint-"+name {
					got = resources(role)
				}
			}
			if diff := cmp.Diff(resourcesOf(t, cluster, path), got); diff != "" {
				t.Errorf("resources (-blueprint +chart):\n%s", diff)
			}
		})
	}
}

// resources returns what a role is about as "resource.group", sorted.
func resources(role rbacv1.ClusterRole) []string {
	var all []string
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				all = append(all, schema.GroupResource{Group: group, Resource: resource}.String())
			}
		}
	}
	slices.Sort(all)
	return all
}

// resourcesOf returns what a blueprint's templates make, likewise, under the names by which the API server serves it.
func resourcesOf(t *testing.T, c cluster, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var blueprint v1alpha1.GatewayClassBlueprint
	if err := yaml.UnmarshalStrict(text, &blueprint); err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, template := range templates(blueprint.Spec) {
		for _, match := range rendered.FindAllStringSubmatch(template, -1) {
			kind := schema.FromAPIVersionAndKind(match[1], match[2])
			mapping, err := c.mapper.RESTMapping(kind.GroupKind(), kind.Version)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, mapping.Resource.GroupResource().String())
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func templates(spec v1alpha1.GatewayClassBlueprintSpec) []string {
	var texts []string
	if spec.GatewayTemplate != nil {
		for _, text := range spec.GatewayTemplate.ResourceTemplates {
			texts = append(texts, text)
		}
	}
	routes := []*v1alpha1.RouteTemplate{
		spec.HTTPRouteTemplate, spec.GRPCRouteTemplate, spec.TLSRouteTemplate, spec.TCPRouteTemplate, spec.UDPRouteTemplate,
	}
	for _, route := range routes {
		if route != nil {
			for _, text := range route.ResourceTemplates {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// camelCase turns a blueprint's name into its key in the values.
func camelCase(name string) string {
	words := strings.Split(name, "-")
	for i := 1; i < len(words); i++ {
		words[i] = strings.ToUpper(words[i][:1]) + words[i][1:]
	}
	return strings.Join(words, "")
}
