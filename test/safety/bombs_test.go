package safety

import (
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// mostMemory is what it may take to refuse a policy, all that is freed again among it.
const mostMemory = 128 << 20

// A condition that takes too long counts as true, so that no bomb switches a constraint off: here it is one that cannot be met.
//
// A policy is a tenant's, and what is in it must not keep the controller busy either. Bombs in templates are held in package render.
func TestBombsInPoliciesAreRefused(t *testing.T) {
	const digits = "['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']"
	nested := "a + b + c + d + e + f + g != 'x'"
	for name := range strings.SplitSeq("a b c d e f g", " ") {
		nested = digits + ".all(" + name + ", " + nested + ")"
	}
	deep := any("x")
	for range 5000 {
		deep = map[string]any{"a": deep}
	}
	override := map[string]any{"scaling": map[string]any{"maxReplicas": int64(1)}}
	cases := map[string]struct {
		spec map[string]any
		want string
	}{
		"a condition of loops in loops": {
			map[string]any{"constraints": []any{map[string]any{"name": "bomb", "when": nested, "override": override}}},
			"/scaling must have a minReplicas that is not above maxReplicas"},
		"a condition that is long": {
			map[string]any{"constraints": []any{map[string]any{"name": "bomb", "when": strings.Repeat("1 == 1 && ", 100_000) + "true", "override": override}}},
			"GatewayConfig/infra/web is invalid and carries overrides or constraints"},
		"a tree without end": {map[string]any{"default": map[string]any{"service": deep}}, "spec.default is nested more than 64 deep"},
	}
	s := sceneOf(t, "shadow/values")
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got := s.withPolicy(c.spec).render()
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > mostMemory {
				t.Errorf("it takes %d bytes of memory, and at most %d are allowed", used, mostMemory)
			}
			if said := strings.Join(slices.Concat(got.problems, got.invalid), "\n"); !strings.Contains(said, c.want) {
				t.Errorf("want ...%s...\n got %s", c.want, said)
			}
		})
	}
}

func sceneOf(t *testing.T, name string) scene {
	t.Helper()
	for _, s := range scenes(t) {
		if s.name == name {
			return s
		}
	}
	t.Fatalf("there is no case %s", name)
	return scene{}
}

// withPolicy is the scene with more in the spec of its tenant's policy.
func (s scene) withPolicy(spec map[string]any) scene {
	var objects []*unstructured.Unstructured
	for _, o := range s.objects {
		if o.GetKind() == "GatewayConfig" {
			o = o.DeepCopy()
			maps.Copy(o.Object["spec"].(map[string]any), spec)
		}
		objects = append(objects, o)
	}
	s.objects = objects
	return s
}
