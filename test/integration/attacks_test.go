package integration_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// Each of these fails its own Gateway with words about where, every time that its tenant stirs it; the Gateway of another tenant, whose
// turn comes after all of them, converges all the same, round after round.
func TestAGatewayConvergesWhileOthersAttack(t *testing.T) {
	t.Parallel()
	const rounds = 3
	huge := strings.Repeat("x", 100_000)
	bombs := map[string]struct{ text, helpers, value string }{
		"a loop over a huge number": {text: `{{ range int .Values.bomb }}{{ end }}`, value: "9000000000000000000"},
		"loops in loops":            {text: `{{ $l := until (int .Values.bomb) }}{{ range $l }}{{ range $l }}{{ range $l }}x{{ end }}{{ end }}{{ end }}`, value: "1000"},
		"a helper that includes itself": {text: `{{ include "h" (int .Values.bomb) }}`, value: "25",
			helpers: `{{ define "h" }}{{ if . }}{{ include "h" (sub . 1) }}{{ include "h" (sub . 1) }}{{ end }}{{ end }}`},
		"a text that renders itself": {text: `{{ tpl .Values.bomb . }}`, value: "{{ tpl .Values.bomb . }}"},
		"repeat":                     {text: `{{ repeat (int .Values.bomb) "x" }}`, value: "100000000"},
		"until":                      {text: `{{ until (int .Values.bomb) | len }}`, value: "20000000"},
		"indent":                     {text: `{{ indent (int .Values.bomb) "x" }}`, value: "50000000"},
		"replace":                    {text: `{{ replace "x" .Values.bomb .Values.bomb }}`, value: huge},
		"a string that is doubled":   {text: `{{ $x := .Values.bomb }}{{ range until 60 }}{{ $x = print $x $x }}{{ end }}`, value: huge},
		"a format of given width":    {text: `{{ printf "%*d" (int .Values.bomb) 1 }}`, value: "1000000000"},
	}
	policies := map[*world]*v1alpha1.GatewayConfig{}
	for name, bomb := range bombs {
		w := newWorld(t)
		w.class(templates{"bomb": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: bomb\ndata:\n  # " + name + "\n  v: x" + bomb.text + "\n"},
			func(spec *v1alpha1.GatewayClassBlueprintSpec) { spec.Helpers = bomb.helpers })
		policies[w] = config("edge", target("Gateway", "edge"), defaults(map[string]string{"bomb": bomb.value}))
		w.create(policies[w])
		w.gateway("edge")
	}
	victim := newWorld(t)
	victim.class(templates{"values": valuesTemplate})
	mine := config("edge", target("Gateway", "edge"), defaults(map[string]string{"round": "0"}))
	victim.create(mine)
	victim.gateway("edge")
	becomes(t, "the Gateway is well", programmed, victim.gatewayConditions("edge"))

	for round := range rounds {
		want := map[string]string{"round": fmt.Sprint(round + 1)}
		for w, policy := range policies {
			change(w, policy, func(p *v1alpha1.GatewayConfig) {
				p.Spec.Override = tree2JSON(map[string]string{"round": fmt.Sprint(round)})
			})
		}
		change(victim, mine, func(p *v1alpha1.GatewayConfig) { p.Spec.Default = tree2JSON(want) })
		becomes(t, fmt.Sprintf("round %d is rendered", round), want, victim.data("edge"))
	}
	is(t, "the Gateway is well still", programmed, victim.gatewayConditions("edge"))
	for w := range policies {
		w.says("edge", "template bomb", "line 7")
	}
}
