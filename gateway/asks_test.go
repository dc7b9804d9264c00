package gateway_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
)

func address(kind gatewayv1.AddressType, value string) gatewayv1.GatewaySpecAddress {
	out := gatewayv1.GatewaySpecAddress{Value: value}
	if kind != "" {
		out.Type = &kind
	}
	return out
}

// TestAddresses covers spec.addresses before anything is rendered.
func TestAddresses(t *testing.T) {
	const static, empty = "GatewayStaticAddresses", "GatewayAddressEmpty"
	fine := []string{"True/Accepted", "True/Programmed"}
	unsupported := []string{"False/UnsupportedAddress", "True/Programmed"}
	for name, c := range map[string]struct {
		features  []string
		addresses []gatewayv1.GatewaySpecAddress
		want      []string
	}{
		"a Gateway that asks for none is fine":             {nil, nil, fine},
		"a value is not supported unless that is claimed":  {[]string{empty}, []gatewayv1.GatewaySpecAddress{address("", "192.0.2.1")}, unsupported},
		"an IP address is supported where that is claimed": {[]string{static}, []gatewayv1.GatewaySpecAddress{address("", "192.0.2.1"), address("IPAddress", "2001:db8::1")}, fine},
		"so is a hostname":                                    {[]string{static}, []gatewayv1.GatewaySpecAddress{address("Hostname", "a.example.com")}, fine},
		"other types never are":                               {[]string{static, empty}, []gatewayv1.GatewaySpecAddress{address("IPAddress", "192.0.2.1"), address("example.com/odd", "x")}, unsupported},
		"not even without a value":                            {[]string{static, empty}, []gatewayv1.GatewaySpecAddress{address("NamedAddress", "")}, unsupported},
		"a type without value is not assigned unless claimed": {[]string{static}, []gatewayv1.GatewaySpecAddress{address("IPAddress", "")}, []string{"True/Accepted", "False/AddressNotAssigned"}},
		"a type without value is fine where that is claimed":  {[]string{empty}, []gatewayv1.GatewaySpecAddress{address("IPAddress", "")}, fine},
		"what is no IP address cannot be used as one":         {[]string{static}, []gatewayv1.GatewaySpecAddress{address("", "a.example.com")}, []string{"True/Accepted", "False/AddressNotUsable"}},
	} {
		t.Run(name, func(t *testing.T) {
			gw := gw(nil, listener("l", http, 80, ""))
			gw.Spec.Addresses = c.addresses
			m := merge(gateway.Snapshot{Blueprint: claiming(c.features...), Gateway: gw})
			if diff := cmp.Diff(c.want, []string{short(m.Accepted), short(m.Programmed)}); diff != "" {
				t.Errorf("Accepted and Programmed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAddressesAssigned covers spec.addresses once the data plane has assigned some.
func TestAddressesAssigned(t *testing.T) {
	assigned := []gatewayv1.GatewayStatusAddress{{Value: "192.0.2.1"}, {Value: "2001:db8::1"}, {Type: new(gatewayv1.HostnameAddressType), Value: "a.example.com"}}
	for name, c := range map[string]struct {
		asked    []gatewayv1.GatewaySpecAddress
		assigned []gatewayv1.GatewayStatusAddress
		want     string
	}{
		"who asks for nothing gets what there is":         {nil, assigned, "True/Programmed"},
		"who asks for nothing can do without":             {nil, nil, "True/Programmed"},
		"what is asked for is there":                      {[]gatewayv1.GatewaySpecAddress{address("", "192.0.2.1"), address("Hostname", "a.example.com")}, assigned, "True/Programmed"},
		"an address may be written in other words":        {[]gatewayv1.GatewaySpecAddress{address("IPAddress", "2001:0db8:0::1")}, assigned, "True/Programmed"},
		"one that is missing cannot be used":              {[]gatewayv1.GatewaySpecAddress{address("", "192.0.2.1"), address("", "192.0.2.2")}, assigned, "False/AddressNotUsable"},
		"one of another type is another one":              {[]gatewayv1.GatewaySpecAddress{address("Hostname", "192.0.2.1")}, assigned, "False/AddressNotUsable"},
		"any of a type is met by one":                     {[]gatewayv1.GatewaySpecAddress{address("IPAddress", "")}, assigned, "True/Programmed"},
		"any of a type is not met by one of another type": {[]gatewayv1.GatewaySpecAddress{address("IPAddress", "")}, assigned[2:], "False/AddressNotAssigned"},
	} {
		t.Run(name, func(t *testing.T) {
			gw := gw(nil)
			gw.Spec.Addresses = c.asked
			if diff := cmp.Diff(c.want, short(gateway.AddressesAssigned(gw, c.assigned))); diff != "" {
				t.Errorf("Programmed (-want +got):\n%s", diff)
			}
		})
	}
}

// TestParameters covers spec.infrastructure.parametersRef (GatewayInfrastructure.ParametersRef).
func TestParameters(t *testing.T) {
	for name, c := range map[string]struct {
		infrastructure *gatewayv1.GatewayInfrastructure
		want           string
	}{
		"none is fine":                        {nil, "True/Accepted"},
		"infrastructure without it is fine":   {&gatewayv1.GatewayInfrastructure{}, "True/Accepted"},
		"a GatewayConfig that exists is fine": {parameters(v1alpha1.GroupName, "GatewayConfig", "there"), "True/Accepted"},
		"one that does not exist is invalid":  {parameters(v1alpha1.GroupName, "GatewayConfig", "missing"), "False/InvalidParameters"},
		"another kind is invalid":             {parameters(v1alpha1.GroupName, "GatewayClassConfig", "there"), "False/InvalidParameters"},
		"a kind of another group is invalid":  {parameters("example.com", "GatewayConfig", "there"), "False/InvalidParameters"},
	} {
		t.Run(name, func(t *testing.T) {
			gw := gw(fromAll, listener("l", http, 80, ""))
			gw.Spec.Infrastructure = c.infrastructure
			m := merge(gateway.Snapshot{
				Gateway: gw, Configs: map[string]bool{"there": true},
				ListenerSets: []*gatewayv1.ListenerSet{set("team", "set", 1, listener("theirs", http, 81, ""))},
			})
			if diff := cmp.Diff(c.want, short(m.Accepted)); diff != "" {
				t.Errorf("Accepted (-want +got):\n%s", diff)
			}
			if m.ListenerSets[0].Attached != m.Accepted.OK {
				t.Errorf("the ListenerSet is attached: %t", m.ListenerSets[0].Attached)
			}
		})
	}
}

// TestP4TooManyListeners promises that of more listeners than the data plane bears, those that come first are rendered, and that
// those that are rejected anyhow are not counted.
func TestP4TooManyListeners(t *testing.T) {
	blueprint := &v1alpha1.GatewayClassBlueprint{Spec: v1alpha1.GatewayClassBlueprintSpec{Supports: &v1alpha1.Supports{MaxListeners: new(int32(3))}}}
	m := merge(gateway.Snapshot{
		Blueprint: blueprint, Gateway: gw(fromAll, listener("one", http, 80, ""), listener("odd", "INVALID", 81, "")),
		ListenerSets: []*gatewayv1.ListenerSet{
			set("team", "younger", 2, listener("four", http, 84, ""), listener("five", http, 85, "")),
			set("team", "older", 1, listener("two", http, 82, ""), listener("lost", http, 80, ""), listener("three", http, 83, "")),
		},
	})
	want := outcome{
		Gateway: "True/ListenersNotValid",
		Listeners: []string{
			"Gateway infra/gw one = one: True/Accepted", "Gateway infra/gw odd: False/UnsupportedProtocol",
			"ListenerSet team/older two = two: True/Accepted", "ListenerSet team/older lost: False/HostnameConflict conflicted",
			"ListenerSet team/older three = three: True/Accepted",
			"ListenerSet team/younger four: False/TooManyListeners", "ListenerSet team/younger five: False/TooManyListeners",
		},
		Sets: []string{
			"attached team/older: True/ListenersNotValid, True/Programmed", "team/younger: False/ListenersNotValid, False/ListenersNotValid"},
		Attached: 1,
	}
	if diff := cmp.Diff(want, outcomeOf(m)); diff != "" {
		t.Errorf("outcome (-want +got):\n%s", diff)
	}
}

// TestR6CatchAll promises that a route without hostnames under a listener without one serves all hostnames, whatever other
// listeners name.
func TestR6CatchAll(t *testing.T) {
	own := []gatewayv1.Listener{listener("named", http, 80, "a.example.com"), listener("all", http, 81, "")}
	for name, c := range map[string]struct {
		listeners []gatewayv1.Listener
		hostnames []gatewayv1.Hostname
		want      []gatewayv1.Hostname
	}{
		"a named and an unnamed listener":                     {own, nil, nil},
		"a named listener alone":                              {own[:1], nil, []gatewayv1.Hostname{"a.example.com"}},
		"an unnamed listener that is not rendered":            {[]gatewayv1.Listener{own[0], certIn(listener("all", https, 443, ""), "certs")}, nil, []gatewayv1.Hostname{"a.example.com"}},
		"a route with hostnames has an end under all of them": {own, []gatewayv1.Hostname{"b.example.com", "a.example.com"}, []gatewayv1.Hostname{"a.example.com", "b.example.com"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := merge(gateway.Snapshot{Gateway: gw(nil, c.listeners...), Routes: []gateway.Route{route("infra", "route", c.hostnames, toGateway("", 0))}})
			if diff := cmp.Diff(c.want, m.Attachments[0].Parents[0].Hostnames); diff != "" {
				t.Errorf("hostnames (-want +got):\n%s", diff)
			}
		})
	}
}

// TestLabelValue promises valid values of labels, different for different names.
func TestLabelValue(t *testing.T) {
	long := strings.Repeat("a", 60)
	seen := map[string]string{}
	for _, name := range []string{
		"web", "a.b", long + "bbb", long + "bbbb", long + "bbbbb", strings.Repeat("a", 51) + "." + strings.Repeat("b", 201), strings.Repeat("c", 253),
	} {
		got := gateway.LabelValue(name)
		if problems := validation.IsValidLabelValue(got); len(problems) > 0 {
			t.Errorf("%s becomes %s: %v", name, got, problems)
		}
		if other, taken := seen[got]; taken {
			t.Errorf("%s and %s both become %s", name, other, got)
		}
		if len(name) <= 63 && got != name {
			t.Errorf("%s becomes %s, though it fits", name, got)
		}
		seen[got] = name
	}
}
