package values

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// rfc0009 reads the eleven examples of Kuadrant RFC 0009. Where the shared copy of the cases is at hand, ours must equal it.
func rfc0009(t *testing.T) []byte {
	t.Helper()
	ours, err := os.ReadFile(filepath.FromSlash("../test/cases/rfc0009.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	shared, err := os.ReadFile(filepath.FromSlash("../../shared/cases/rfc0009.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		return ours
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(ours, shared) {
		t.Fatal("test/cases/rfc0009.yaml differs from the shared copy")
	}
	return ours
}

func TestRFC0009(t *testing.T) {
	type blocks struct {
		v1alpha1.ValuesBlocks
		Remove []string `json:"remove,omitempty"`
	}
	var cases []struct {
		Name, Story   string
		Higher, Lower blocks
		Effective     map[string]any
	}
	if err := yaml.UnmarshalStrict(rfc0009(t), &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) != 11 {
		t.Fatalf("%d cases, want 11", len(cases))
	}
	policy := func(level Level, b blocks) *Policy {
		s := spots[level]
		o := object(t, s.kind, s.namespace, "p", 0, "targetRefs: ["+refYAML(s.ref)+"]")
		o.PolicySpec().ValuesBlocks, o.PolicySpec().Remove = b.ValuesBlocks, b.Remove
		return mustParse(t, o)
	}
	for _, c := range cases {
		t.Run(c.Name+" "+c.Story, func(t *testing.T) {
			want, err := yaml.Marshal(c.Effective)
			if err != nil {
				t.Fatal(err)
			}
			policies := []*Policy{policy(LevelGateway, c.Lower), policy(LevelClassGlobal, c.Higher)}
			if diff := cmp.Diff(tree(t, string(want)), Compute(nil, policies, gatewayTarget()).Tree); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
