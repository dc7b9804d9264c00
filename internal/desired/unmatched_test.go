package desired

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
)

func TestUnmatched(t *testing.T) {
	policy := &v1alpha1.GatewayConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}}
	section := gatewayv1.SectionName("https")
	notYet := verdict.Yes("Accepted", "no Gateway is reached yet")
	missing := func(what string) verdict.Verdict {
		return verdict.No("TargetNotFound", "%s", what)
	}
	for name, c := range map[string]struct {
		target v1alpha1.PolicyTargetReference
		ours   bool
		want   verdict.Verdict
	}{
		"a class of ours without Gateways is fine": {
			v1alpha1.PolicyTargetReference{Kind: "GatewayClass", Name: "edge"}, true, notYet,
		},
		"a class that is not ours is not there": {
			v1alpha1.PolicyTargetReference{Kind: "GatewayClass", Name: "edge"}, false,
			missing("there is no GatewayClass edge of controller gatewright.dev/controller"),
		},
		"the policy's own namespace without Gateways is fine": {
			v1alpha1.PolicyTargetReference{Kind: "Namespace", Name: "shop"}, false, notYet,
		},
		"another namespace is out of reach": {
			v1alpha1.PolicyTargetReference{Kind: "Namespace", Name: "other"}, false,
			missing("a policy reaches its own namespace only; name that, or put the policy into the other"),
		},
		"an object that is not there is named": {
			v1alpha1.PolicyTargetReference{Kind: "Gateway", Name: "web"}, false,
			missing("there is no Gateway web in namespace shop, or it has no part in a Gateway of ours"),
		},
		"a section that is not there is named": {
			v1alpha1.PolicyTargetReference{Kind: "Gateway", Name: "web", SectionName: &section}, false,
			missing("there is no section https of Gateway web in namespace shop, or it has no part in a Gateway of ours"),
		},
		"a selector has no name to tell": {
			v1alpha1.PolicyTargetReference{Kind: "HTTPRoute", Selector: &metav1.LabelSelector{}}, false,
			missing("there is no HTTPRoute that the selector matches in namespace shop, or it has no part in a Gateway of ours"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, Unmatched(policy, c.target, c.ours, "gatewright-system")); diff != "" {
				t.Errorf("verdict (-want +got):\n%s", diff)
			}
		})
	}
}

func TestUnmatchedInTheControllerNamespace(t *testing.T) {
	policy := &v1alpha1.GatewayClassConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "gatewright-system", Name: "limits"}}
	target := v1alpha1.PolicyTargetReference{Kind: "Namespace", Name: "gatewright-system"}
	want := verdict.No("Invalid",
		"a GatewayClassConfig in the controller's namespace is for GatewayClasses only; target one, or put the policy into the other namespace")
	if diff := cmp.Diff(want, Unmatched(policy, target, false, "gatewright-system")); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
}
