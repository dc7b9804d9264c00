package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

func TestAppliedAsBelievesNobodyButUs(t *testing.T) {
	type told struct {
		Account types.NamespacedName
		Known   bool
	}
	ours := map[string]any{"f:metadata": map[string]any{"f:annotations": map[string]any{"f:" + v1alpha1.AnnotationRendered: map[string]any{}}}}
	without := map[string]any{"f:metadata": map[string]any{"f:annotations": map[string]any{}}}
	deployer := types.NamespacedName{Namespace: "team", Name: "deployer"}
	cases := map[string]struct {
		manager    string
		fields     map[string]any
		annotation string
		want       told
	}{
		"what the controller applied":                    {v1alpha1.FieldManager, ours, "0123", told{Known: true}},
		"what was applied as a ServiceAccount":           {v1alpha1.FieldManager, ours, "0123 as team/deployer", told{deployer, true}},
		"an annotation that somebody else changed since": {v1alpha1.FieldManager, without, "0123 as team/deployer", told{}},
		"an annotation that somebody else removed":       {v1alpha1.FieldManager, without, "", told{}},
		"an object that we never applied":                {"kubectl", ours, "0123", told{}},
		"half a ServiceAccount":                          {v1alpha1.FieldManager, ours, "0123 as team/", told{}},
		"nobody":                                         {v1alpha1.FieldManager, ours, "0123 as ", told{}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			live := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{
				"annotations":   map[string]any{v1alpha1.AnnotationRendered: c.annotation},
				"managedFields": []any{map[string]any{"manager": c.manager, "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": c.fields}},
			}}}
			account, known := AppliedAs(live)
			if diff := cmp.Diff(c.want, told{account, known}); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
