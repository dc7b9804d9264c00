package apply

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/internal/desired"
)

func TestWhatIsGoneIsForgottenUnlessItWasMadeAnew(t *testing.T) {
	object := func(uid types.UID) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		o.SetName("web")
		o.SetUID(uid)
		return o
	}
	first, second := object("first"), object("second")
	id := desired.IdentityOf(first)
	for name, c := range map[string]struct {
		applied   *unstructured.Unstructured
		confirmed bool
		want      int
	}{
		"what was applied and is gone":       {first, true, 0},
		"what goes before it was seen":       {first, false, 0},
		"what was applied after another one": {second, false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMemory()
			m.remember(id, c.applied)
			if c.confirmed && !m.confirm(id, c.applied) {
				t.Fatal("it is not known")
			}
			m.gone(id, first.GetUID())
			if len(m.entries) != c.want || len(m.unseen) != c.want {
				t.Errorf("%d objects and %d owners are remembered, want %d", len(m.entries), len(m.unseen), c.want)
			}
		})
	}
}
