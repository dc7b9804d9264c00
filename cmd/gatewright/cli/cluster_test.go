package cli

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/gatewright/gatewright/internal/intake"
)

// serving is a cluster that holds a ReferenceGrant and does not serve some resources, named as resources.version.
func serving(notServed ...string) *cluster {
	lists := map[schema.GroupVersionResource]string{}
	for _, kind := range intake.Kinds() {
		for _, version := range kind.Versions {
			lists[schema.GroupVersionResource{Group: kind.Group, Version: version, Resource: kind.Resource}] = kind.Kind + "List"
		}
	}
	grant := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant",
		"metadata": map[string]any{"namespace": "team", "name": "grant"},
	}}
	client := fake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), lists, grant)
	for _, name := range notServed {
		client.PrependReactor("list", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
			resource := action.GetResource()
			if resource.Resource+"."+resource.Version != name {
				return false, nil, nil
			}
			return true, nil, apierrors.NewNotFound(resource.GroupResource(), "")
		})
	}
	return &cluster{client: client, world: &world{}}
}

func TestAClusterNeedNotServeEveryKind(t *testing.T) {
	for name, c := range map[string]struct {
		notServed []string
		grants    int
		notes     []string
		err       string
	}{
		"where all is served there is nothing to tell": {},
		"a kind that is there in an older version only is read in that": {
			notServed: []string{"referencegrants.v1", "httproutes.v1"},
			grants:    1,
		},
		"kinds that are not served are told in one line": {
			notServed: []string{"tcproutes.v1", "udproutes.v1", "listenersets.v1"},
			notes:     []string{"the cluster does not serve ListenerSet, TCPRoute, UDPRoute, or only in other versions; what follows is without them"},
		},
		"without Gateways there is nothing to show": {
			notServed: []string{"gateways.v1", "gateways.v1beta1"},
			err:       "the cluster does not serve gateway.networking.k8s.io/v1 Gateway; install the CRDs of Gateway API and of Gatewright",
		},
		"without policies, values would not be those of the cluster": {
			notServed: []string{"gatewayconfigs.v1alpha1"},
			err:       "the cluster does not serve gatewright.dev/v1alpha1 GatewayConfig; install the CRDs of Gateway API and of Gatewright",
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := serving(c.notServed...)
			if diff := cmp.Diff(c.err, messageOf(cluster.takeAll(t.Context()))); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.notes, cluster.world.notes); diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
			if got := len(cluster.world.objects.Grants); got != c.grants {
				t.Errorf("want %d grants, got %d", c.grants, got)
			}
		})
	}
}
