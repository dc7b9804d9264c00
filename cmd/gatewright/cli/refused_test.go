package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// unreadWorld has a blueprint that does not read what is said of listeners, and a policy that says something of one.
const unreadWorld = `
apiVersion: gatewright.dev/v1alpha1
kind: GatewayClassBlueprint
metadata: {name: unread}
spec:
  gatewayTemplate:
    resourceTemplates:
      config: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: config}
        data: {log: {{ .Values.log | default "info" }}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: edge}
spec:
  controllerName: gatewright.dev/controller
  parametersRef: {group: gatewright.dev, kind: GatewayClassBlueprint, name: unread}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: shop, name: web}
spec: {gatewayClassName: edge, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gatewright.dev/v1alpha1
kind: GatewayConfig
metadata: {namespace: shop, name: listener}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: web, sectionName: http}
  default: {log: debug}
`

func TestTheToolSaysThatNobodyReadsWhatAPolicySaysOfListeners(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("world.yaml", []byte(unreadWorld), 0o600); err != nil {
		t.Fatal(err)
	}
	const refused = "not accepted (Invalid): blueprint unread does not read listener values; leave sectionName and listenerSelector out of spec.targetRef\n"
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"reach":  {[]string{"reach", "gatewayconfig/shop/listener"}, "GatewayConfig shop/listener, target 1: " + refused},
		"values": {[]string{"values", "--gateway", "shop/web", "--listener", "http"}, "GatewayConfig shop/listener, target 1: " + refused},
		"render": {[]string{"render"}, "GatewayConfig shop/listener, target 1: " + refused},
	} {
		t.Run(name, func(t *testing.T) {
			got := command("", append([]string{"gatewright", c.args[0], "-f", "world.yaml"}, c.args[1:]...)...)
			if diff := cmp.Diff(c.want, got.err); diff != "" {
				t.Errorf("what it tells (-want +got):\n%s\nand prints:\n%s", diff, got.out)
			}
		})
	}
}

// guestWorld has a Gateway whose templates read the values of listeners, one of which is held back.
const guestWorld = `
apiVersion: gatewright.dev/v1alpha1
kind: GatewayClassBlueprint
metadata: {name: reading}
spec:
  gatewayTemplate:
    resourceTemplates:
      config: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: config}
        data: {all: '{{ range .Listeners }}{{ .Values.log | default "info" }}{{ end }}'}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: edge}
spec:
  controllerName: gatewright.dev/controller
  parametersRef: {group: gatewright.dev, kind: GatewayClassBlueprint, name: reading}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {namespace: shop, name: web}
spec: {gatewayClassName: edge, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gatewright.dev/v1alpha1
kind: GatewayConfig
metadata: {namespace: shop, name: listener}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: web, sectionName: http}
  constraints: [{name: quiet, when: "self.log ==", override: {log: info}}]
`

func TestValuesTellsOfAGatewayThatAListenerHolds(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("world.yaml", []byte(guestWorld), 0o600); err != nil {
		t.Fatal(err)
	}
	got := command("", "gatewright", "values", "-f", "world.yaml", "--gateway", "shop/web")
	const want = "Error: these values are not in effect, and what is rendered stays as it is:\n" +
		"  GatewayConfig/shop/listener is invalid and carries overrides or constraints; mend it, its status says how\n"
	if !strings.HasSuffix(got.err, want) || got.code != 1 {
		t.Errorf("exit code %d, and it tells\n%s\nwant at its end\n%s", got.code, got.err, want)
	}
}

// TestValuesAndReachTellOfARouteThatAListenerHolds: the values of the route itself are sound, and yet it waits.
func TestValuesAndReachTellOfARouteThatAListenerHolds(t *testing.T) {
	t.Chdir(t.TempDir())
	world := strings.Replace(guestWorld, "---\n", `  httpRouteTemplate:
    resourceTemplates:
      config: |
        apiVersion: v1
        kind: ConfigMap
        metadata: {name: route}
        data: {all: '{{ range .Listeners }}{{ .Values.log | default "info" }}{{ end }}'}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {namespace: shop, name: cart}
spec: {parentRefs: [{name: web}], rules: [{backendRefs: [{name: cart, port: 80}]}]}
---
apiVersion: gatewright.dev/v1alpha1
kind: GatewayConfig
metadata: {namespace: shop, name: route}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}
  default: {size: 1}
---
`, 1)
	if err := os.WriteFile("world.yaml", []byte(world), 0o600); err != nil {
		t.Fatal(err)
	}
	got := command("", "gatewright", "values", "-f", "world.yaml", "--httproute", "shop/cart")
	const want = "Error: these values are not in effect, and what is rendered stays as it is:\n" +
		"  GatewayConfig/shop/listener is invalid and carries overrides or constraints; mend it, its status says how\n"
	if !strings.HasSuffix(got.err, want) || got.code != 1 {
		t.Errorf("values ends with %d and tells %s", got.code, got.err)
	}
	got = command("", "gatewright", "reach", "-f", "world.yaml", "gwcfg/shop/route")
	if !strings.Contains(got.out, "held back by GatewayConfig/shop/listener\n") {
		t.Errorf("reach prints %s", got.out)
	}
}
