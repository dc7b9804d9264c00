package desired

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
)

// Templates that read nothing, what is said of listeners, and what is said of the route.
const (
	gatewayOnly = `
gatewayTemplate:
  resourceTemplates:
    config: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: config}
      data: {listeners: {{ range .Listeners }}{{ .name }}{{ end }}, log: {{ .Values.log | default "none" }}}
`
	readingListeners = `
gatewayTemplate:
  resourceTemplates:
    config: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: config}
      data: {log: {{ range .Listeners }}{{ .Values.log | default "none" }}{{ end }}}
`
	readingRoutes = gatewayOnly + `
httpRouteTemplate:
  resourceTemplates:
    config: |
      apiVersion: v1
      kind: ConfigMap
      metadata: {name: route}
      data: {log: {{ .Values.log | default "none" }}}
`
)

func TestAPolicyForListenersThatNobodyReadsIsRefused(t *testing.T) {
	const (
		whole    = "{group: gateway.networking.k8s.io, kind: Gateway, name: web}"
		listener = "{group: gateway.networking.k8s.io, kind: Gateway, name: web, sectionName: http}"
		selected = "{group: gateway.networking.k8s.io, kind: Gateway, selector: {}, listenerSelector: {}}"
	)
	logs := func(refs string) string { return "targetRefs: [" + refs + "]\ndefault: {log: debug}" }
	type part struct {
		// Sets and Refused are the ends of paths at which the policy sets the value, and at which it is refused.
		Sets, Refused []string
	}
	for name, c := range map[string]struct {
		blueprint, policy string
		want              part
	}{
		"a listener by name":                            {gatewayOnly, logs(listener), part{Refused: []string{"listener http"}}},
		"listeners by label":                            {gatewayOnly, logs(selected), part{Refused: []string{"listener http"}}},
		"the Gateway is another matter":                 {gatewayOnly, logs(whole), part{Sets: []string{"Gateway", "listener http", "route cart"}}},
		"the Gateway counts, the listener does not":     {gatewayOnly, logs(whole + "," + listener), part{Sets: []string{"Gateway", "listener http", "route cart"}, Refused: []string{"listener http"}}},
		"where listeners are read, it counts":           {readingListeners, logs(listener), part{Sets: []string{"listener http"}}},
		"where routes are read, it counts for these":    {readingRoutes, logs(listener), part{Sets: []string{"listener http"}}},
		"what is for Gateways only is not for routes":   {readingRoutes, logs(listener[:len(listener)-1] + ", appliesTo: [Gateway]}"), part{Refused: []string{"listener http"}}},
		"an invalid one that guards is refused as well": {gatewayOnly, "targetRefs: [" + listener + "]\noverride: []", part{Refused: []string{"listener http"}}},
	} {
		t.Run(name, func(t *testing.T) {
			var got part
			in := inputsWith(t, c.blueprint, map[string]string{"p": c.policy})
			for _, reach := range Reaches(in) {
				end := "Gateway"
				switch {
				case reach.Listener != nil:
					end = "listener " + string(reach.Listener.Name)
				case reach.Route != nil:
					end = "route " + reach.Route.Object.GetName()
				}
				if reach.Values.Tree["log"] == "debug" {
					got.Sets = append(got.Sets, end)
				}
				if len(reach.Values.Refused) > 0 {
					got.Refused = append(got.Refused, end)
				}
				if len(reach.Values.Held) > 0 {
					t.Errorf("%s is held", end)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestRefusedSaysWhatToWrite(t *testing.T) {
	one := &v1alpha1.GatewayConfig{}
	one.Spec.TargetRef = &v1alpha1.PolicyTargetReference{}
	const message = "blueprint bp does not read listener values; leave sectionName and listenerSelector out of "
	for policy, c := range map[*v1alpha1.GatewayConfig]struct {
		refs []int
		want string
	}{{}: {[]int{0, 2}, "spec.targetRefs[0] and spec.targetRefs[2]"}, one: {[]int{0}, "spec.targetRef"}} {
		want := verdict.No(v1alpha1.ReasonInvalid, "%s", message+c.want)
		if diff := cmp.Diff(want, Refused(policy, "bp", c.refs)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}

// Values of listeners may be many. Who does not read them does not pay for them.
func TestValuesOfListenersAreComputedForWhoReadsThem(t *testing.T) {
	for name, c := range map[string]struct {
		blueprint string
		// reported says that they are there for the Gateway's status, read that the Gateway's templates have them.
		reported, read bool
	}{
		"nobody reads them":           {gatewayOnly, false, false},
		"the Gateway reads them":      {readingListeners, true, true},
		"a route's values have them":  {readingRoutes, true, false},
		"one template reads them all": {guarded, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := Gateway(inputsWith(t, c.blueprint, nil))
			if (p.Listeners != nil) != c.reported || (p.read != nil) != c.read {
				t.Errorf("reported %t, read %t", p.Listeners != nil, p.read != nil)
			}
		})
	}
}

func TestListenersAreThereForWhoReadsThem(t *testing.T) {
	listeners := func(blueprint string) []string {
		in := inputsWith(t, blueprint, nil)
		var keys []string
		for _, l := range in.commonTo(in.Program.Gateway, in.listenerValues).Listeners {
			keys = slices.Sorted(maps.Keys(l.(map[string]any)))
		}
		return keys
	}
	plain := []string{"name", "port", "protocol", "source"}
	for blueprint, want := range map[string][]string{gatewayOnly: plain, readingListeners: append([]string{"Values"}, plain...)} {
		if diff := cmp.Diff(want, listeners(blueprint)); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
}
