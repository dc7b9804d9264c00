package render

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

func TestStatus(t *testing.T) {
	kind := gatewayv1.HostnameAddressType
	hostname := gatewayv1.GatewayStatusAddress{Type: &kind, Value: "lb.example.com"}
	failed := func(message string) Status {
		return Status{Failed: &Failed{Blueprint: "test", Template: "status.template", Message: message}}
	}
	cases := map[string]struct {
		text string
		want Status
	}{
		"addresses are read from live objects": {
			"addresses:\n- type: Hostname\n  value: {{ (index .Resources.lb 0).status.host }}\n- value: 10.0.0.1\n",
			Status{Addresses: []gatewayv1.GatewayStatusAddress{hostname, {Value: "10.0.0.1"}}}},
		"no addresses are no addresses": {"addresses:\n{{ range .Values.none }}- {}{{ end }}", Status{}},
		"no output is no addresses":     {"{{/* nothing */}}", Status{}},
		"a missing field is waited for": {
			"addresses: [{value: {{ (index .Resources.lb 0).status.ip }}}]",
			Status{Pending: &Pending{Template: "status.template", Waits: []string{"lb"}, Message: "waits: {{ (index .Resources.lb 0).status.ip }}: (index .Resources.lb 0).status.ip is not set yet"}}},
		"a template that fails is named with its line": {
			"addresses:\n- value: {{ .Values.none }}",
			Status{Failed: &Failed{Blueprint: "test", Template: "status.template", Line: 2, Message: "{{ .Values.none }}: .Values.none is not set; give it a default in the blueprint's spec.values.default"}}},
		"a list is no map":            {"- a", failed("the status template must yield a map with addresses, and yields a list")},
		"another key is named":        {"adresses: []", failed(`the status template must yield nothing but addresses, and yields "adresses"`)},
		"addresses must be a list":    {"addresses: {}", failed("addresses must be a list, and is a map")},
		"an address must be a map":    {"addresses: [a]", failed("addresses[0] must be a map with type and value, and is a string")},
		"an address must have values": {"addresses: [{value: 1}]", failed("addresses[0].value must be a string that is not empty, and is a number")},
		"an unknown field is named":   {"addresses: [{value: a, port: b}]", failed(`addresses[0]: there is no field "port"; an address has type and value`)},
		"an address needs a value":    {"addresses: [{type: Hostname}]", failed("addresses[0] has no value")},
		"an IP address must be one":   {"addresses: [{value: canary}]", failed("addresses[0].value is no IP address; name what it is in type: Hostname, or mend it")},
		"a hostname must be one": {"addresses: [{type: Hostname, value: A_b.c}]",
			failed("addresses[0].value is no hostname; it must be lowercase labels of letters, digits and '-', joined by '.'")},
		"a type of one's own has a domain": {"addresses: [{type: Foo, value: a}]",
			failed("addresses[0].type must be IPAddress, Hostname or a name with a domain such as example.com/type")},
		"there are at most 16": {"addresses:\n{{ range until 17 }}- {value: a}\n{{ end }}", failed("there are 17 addresses, and a Gateway has at most 16")},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			run := mustCompile(t, map[string]string{"lb": namedMap("lb", ""), "status": c.text}).Gateway.Start(Context{Namespace: "team-a"})
			run.Advance(nothing)
			got := run.Status(cluster{"lb": {object(t, "lb", `, "status": {"host": "lb.example.com"}`)}}.observe)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestStatusWaitsForObjects(t *testing.T) {
	run := mustCompile(t, map[string]string{"lb": namedMap("lb", ""), "status": "addresses: {{ toYaml .Resources.lb.status }}"}).Gateway.Start(Context{Namespace: "team-a"})
	wait := func(message string) Status {
		return Status{Pending: &Pending{Template: "status.template", Waits: []string{"lb"}, Message: message}}
	}
	if diff := cmp.Diff(wait("waits for .Resources.lb: its template is not rendered yet"), run.Status(nothing)); diff != "" {
		t.Errorf("before the first step (-want +got):\n%s", diff)
	}
	run.Advance(nothing)
	if diff := cmp.Diff(wait("waits for .Resources.lb: not there yet"), run.Status(nothing)); diff != "" {
		t.Errorf("before the object is there (-want +got):\n%s", diff)
	}
}
