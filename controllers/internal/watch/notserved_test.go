package watch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestWhoRendersAKindThatIsNotServedIsToldWhatToDo(t *testing.T) {
	for name, c := range map[string]struct {
		kind schema.GroupVersionKind
		want string
	}{
		"a kind of somebody's own needs its CRD": {
			kind: schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Cache"},
			want: "the API server does not serve kind Cache of example.com/v1; " +
				"install its CRD, or look whether group, version and kind are written right",
		},
		"a misspelled kind of Kubernetes has no CRD": {
			kind: schema.GroupVersionKind{Version: "v1", Kind: "Servce"},
			want: "the API server does not serve kind Servce of v1; " +
				"that group is part of Kubernetes: look whether version and kind are written right, and are those of this Kubernetes",
		},
		"so is one of another group of Kubernetes": {
			kind: schema.GroupVersionKind{Group: "apps", Version: "v1beta1", Kind: "Deployment"},
			want: "the API server does not serve kind Deployment of apps/v1beta1; " +
				"that group is part of Kubernetes: look whether version and kind are written right, and are those of this Kubernetes",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, (&KindNotServedError{c.kind}).Error()); diff != "" {
				t.Errorf("message (-want +got):\n%s", diff)
			}
		})
	}
}
