package status

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestKindsOfKubernetesWithoutAStatusReportNothing(t *testing.T) {
	for kind, want := range map[schema.GroupVersionKind]bool{
		{Version: "v1", Kind: "ConfigMap"}:                                               false,
		{Version: "v1", Kind: "Secret"}:                                                  false,
		{Version: "v1", Kind: "ServiceAccount"}:                                          false,
		{Group: "rbac.authorization.k8s.io", Version: "v1", Kind: "Role"}:                false,
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"}:               false,
		{Version: "v1", Kind: "Service"}:                                                 true,
		{Group: "apps", Version: "v1", Kind: "Deployment"}:                               true,
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"}:                     true,
		{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway"}:             true,
		{Group: "gateway.networking.k8s.io", Version: "v1beta1", Kind: "ReferenceGrant"}: true,
		{Group: "example.com", Version: "v1", Kind: "ConfigMap"}:                         true,
		{Version: "v9", Kind: "ConfigMap"}:                                               true,
	} {
		if got := Reports(kind); got != want {
			t.Errorf("Reports(%s) = %v, want %v", kind, got, want)
		}
	}
}
