package defaults

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/internal/manifest"
	"github.com/gatewright/gatewright/test/kube"
)

const file = "defaults.json"

var update = flag.Bool("update", false, "write defaults.json anew from the CRDs")

// needed are the kinds that Gatewright reads.
var needed = []schema.GroupKind{
	{Group: "gateway.networking.k8s.io", Kind: "GatewayClass"},
	{Group: "gateway.networking.k8s.io", Kind: "Gateway"},
	{Group: "gateway.networking.k8s.io", Kind: "ListenerSet"},
	{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute"},
	{Group: "gateway.networking.k8s.io", Kind: "GRPCRoute"},
	{Group: "gateway.networking.k8s.io", Kind: "TLSRoute"},
	{Group: "gateway.networking.k8s.io", Kind: "TCPRoute"},
	{Group: "gateway.networking.k8s.io", Kind: "UDPRoute"},
	{Group: "gateway.networking.k8s.io", Kind: "ReferenceGrant"},
	{Group: "gatewright.dev", Kind: "GatewayClassBlueprint"},
	{Group: "gatewright.dev", Kind: "GatewayClassConfig"},
	{Group: "gatewright.dev", Kind: "GatewayConfig"},
}

func TestTheFileHoldsTheDefaultsOfTheCRDs(t *testing.T) {
	all := map[string]*place{}
	for kind, versions := range schemas(t) {
		for version, s := range versions {
			p := boil(t, kind.Kind, withoutStatus(s))
			if before, other := all[key(kind)]; other {
				if diff := cmp.Diff(before, p); diff != "" {
					t.Errorf("%s: version %s has other defaults:\n%s", kind, version, diff)
				}
			}
			if p != nil {
				all[key(kind)] = p
			}
		}
	}
	want, err := json.MarshalIndent(all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(want), string(embedded)); diff != "" {
		t.Errorf("%s is not what the CRDs say; go test ./internal/defaults -update writes it anew (-want +got):\n%s", file, diff)
	}
}

func TestApplyFillsInWhatTheAPIServerFillsIn(t *testing.T) {
	all := schemas(t)
	for name, object := range objects(t) {
		t.Run(name, func(t *testing.T) {
			gvk := object.GroupVersionKind()
			s := all[gvk.GroupKind()][gvk.Version]
			if s == nil {
				t.Fatalf("there is no CRD for %s", gvk)
			}
			want := object.DeepCopy()
			defaulting.Default(want.Object, withoutStatus(s))
			before := object.DeepCopy()
			if diff := cmp.Diff(want.Object, Apply(object).Object); diff != "" {
				t.Errorf("filled in (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before.Object, object.Object); diff != "" {
				t.Errorf("the object itself changed (-before +after):\n%s", diff)
			}
		})
	}
}

func TestApplyLeavesKindsAloneThatItDoesNotKnow(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Gateway", "spec": map[string]any{"listeners": []any{map[string]any{"name": "a"}}},
	}}
	if diff := cmp.Diff(object, Apply(object)); diff != "" {
		t.Errorf("an object of another group changed (-want +got):\n%s", diff)
	}
}

// boil reduces a schema to its defaults; nil if there are none.
func boil(t *testing.T, at string, s *structuralschema.Structural) *place {
	t.Helper()
	if s == nil {
		return nil
	}
	if s.AdditionalProperties != nil && boil(t, at, s.AdditionalProperties.Structural) != nil {
		t.Fatalf("%s: a default below arbitrary keys is more than a place can say", at)
	}
	if s.Items != nil && s.Items.Default.Object != nil {
		t.Fatalf("%s: a default for null items is more than a place can say", at)
	}
	p := place{Default: s.Default.Object, Items: boil(t, at+"[]", s.Items), Fields: map[string]*place{}}
	for name, property := range s.Properties {
		if field := boil(t, at+"."+name, &property); field != nil {
			p.Fields[name] = field
		}
	}
	if p.Default == nil && p.Items == nil && len(p.Fields) == 0 {
		return nil
	}
	p.Nullable = s.Nullable
	return &p
}

// withoutStatus leaves out what users do not write.
func withoutStatus(s *structuralschema.Structural) *structuralschema.Structural {
	out := *s
	out.Properties = maps.Clone(s.Properties)
	delete(out.Properties, "status")
	return &out
}

// schemas reads those of the kinds that are needed, by kind and version.
func schemas(t *testing.T) map[schema.GroupKind]map[string]*structuralschema.Structural {
	t.Helper()
	all := map[schema.GroupKind]map[string]*structuralschema.Structural{}
	for _, kind := range needed {
		all[kind] = map[string]*structuralschema.Structural{}
	}
	for _, dir := range []string{kube.GatewayAPICRDs(), kube.OwnCRDs()} {
		paths, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			crd := readCRD(t, path)
			versions, wanted := all[schema.GroupKind{Group: crd.Spec.Group, Kind: crd.Spec.Names.Kind}]
			if !wanted {
				continue
			}
			for _, version := range crd.Spec.Versions {
				if version.Served {
					versions[version.Name] = structural(t, version.Schema.OpenAPIV3Schema)
				}
			}
		}
	}
	for kind, versions := range all {
		if len(versions) == 0 {
			t.Fatalf("no CRD serves %s", kind)
		}
	}
	return all
}

func readCRD(t *testing.T, path string) apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(bytes.TrimSpace(text), &crd); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return crd
}

func structural(t *testing.T, v1 *apiextensionsv1.JSONSchemaProps) *structuralschema.Structural {
	t.Helper()
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v1, &internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// objects are those of testdata/objects.yaml, by the name that says what they are about.
func objects(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile("testdata/objects.yaml")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := manifest.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*unstructured.Unstructured{}
	for _, doc := range docs {
		all[doc.GetKind()+" "+doc.GetAnnotations()["about"]] = doc.Unstructured
	}
	if len(all) != len(docs) {
		t.Fatal("two objects of testdata/objects.yaml are about the same")
	}
	return all
}
