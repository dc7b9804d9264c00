package gateway

import (
	"testing"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func TestAGatewayThatAsksForUnknownParametersIsNotAccepted(t *testing.T) {
	gw := &gatewayv1.Gateway{}
	gw.Spec.Listeners = []gatewayv1.Listener{{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType}}
	gw.Spec.Infrastructure = &gatewayv1.GatewayInfrastructure{
		ParametersRef: &gatewayv1.LocalParametersReference{Group: "example.com", Kind: "Parameters", Name: "p"},
	}
	if got := Merge(Snapshot{Gateway: gw}).Accepted; got.OK || got.Reason != string(gatewayv1.GatewayReasonInvalidParameters) {
		t.Errorf("Accepted = %+v, want it rejected for InvalidParameters", got)
	}
}
