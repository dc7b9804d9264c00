package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/render"
)

func object(apiVersion, kind, name string) render.Object {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(apiVersion)
	o.SetKind(kind)
	o.SetNamespace("shop")
	o.SetName(name)
	return render.Object{Template: "route", Unstructured: o}
}

func TestClaimsGiveEachObjectToOneRendering(t *testing.T) {
	taken := verdict.No("RenderFailed",
		"template route: ConfigMap cart is rendered already for another parent of the same route; put the parent into its name (uniqueName)")
	first, second := &Parent{}, &Parent{}
	for name, c := range map[string]struct {
		later  []render.Object
		want   *verdict.Verdict
		claims int
	}{
		"objects of other names are free":                          {[]render.Object{object("v1", "ConfigMap", "other")}, nil, 2},
		"an object of another kind is free":                        {[]render.Object{object("v1", "Service", "cart")}, nil, 2},
		"an object that is claimed is refused":                     {[]render.Object{object("v1", "ConfigMap", "cart")}, &taken, 1},
		"another version is the same object":                       {[]render.Object{object("v2", "ConfigMap", "cart")}, &taken, 1},
		"of objects of which one is claimed, none is given":        {[]render.Object{object("v1", "Service", "cart"), object("v1", "ConfigMap", "cart")}, &taken, 1},
		"a rendering that has nothing new has nothing to be taken": {nil, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			claims := Claims{}
			if v := claims.Claim(first, []render.Object{object("v1", "ConfigMap", "cart")}); v != nil {
				t.Fatalf("the first claim is refused: %v", v)
			}
			if diff := cmp.Diff(c.want, claims.Claim(second, c.later)); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
			if len(claims) != c.claims || claims[IdentityOf(object("v1", "ConfigMap", "cart").Unstructured)] != first {
				t.Errorf("want %d claims, the first unchanged, got %v", c.claims, claims)
			}
		})
	}
}
