package integration_test

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	eventsv1 "k8s.io/api/events/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// explained makes a Gateway of which there is much to tell: values of three sources, of which one leaf is fought over, a ListenerSet
// that is in and one that lost, a route, and a shadow Gateway that nobody programs.
func explained(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.class(templates{"values": valuesTemplate, "shadow": shadowTemplate, "secret": `
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Gateway.metadata.name }}
stringData:
  password: {{ printf "%s-%s" "correct-horse" "battery" | quote }}
`}, forRoutes(routeTemplate), with(v1alpha1.ValuesBlocks{
		Default:  tree2JSON(map[string]string{"class": "played-by-nobody", "size": "small"}),
		Override: tree2JSON(map[string]string{"zone": "a"}),
	}))
	w.create(classConfig("provider", target("GatewayClass", w.name), defaults(map[string]string{"size": "medium", "zone": "b", "team": "x"})))
	w.create(config("tenant", target("Gateway", "edge"), defaults(map[string]string{"size": "large"})))
	w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	w.listenerSet("a-first", "edge", "shop.example.com")
	w.listenerSet("b-second", "edge", "shop.example.com")
	w.route("cart", toListenerSet("a-first"))
	becomes(t, "the route stands", map[string][]string{"ListenerSet/a-first": routeStands}, w.routeReports("cart"))
	becomes(t, "the second set lost", setLost, w.setReport("b-second"))
	w.says("edge", "Gateway edge-shadow", "shadow")
	return w
}

func TestARenderingTellsWhatWasMadeOfAGateway(t *testing.T) {
	t.Parallel()
	w := explained(t)
	listener := func(name, kind, source, section, hostname string, accepted bool, reason string, routes int32) v1alpha1.MergedListener {
		return v1alpha1.MergedListener{
			Name: name, Source: v1alpha1.ListenerSource{Kind: kind, Namespace: w.namespace, Name: source, SectionName: section},
			Port: 80, Protocol: "HTTP", Hostname: hostname, Accepted: accepted, Reason: reason, AttachedRoutes: routes,
		}
	}
	object := func(template, apiVersion, kind, name string, state v1alpha1.ObjectState, message string) v1alpha1.RenderedObject {
		return v1alpha1.RenderedObject{
			Template: template, APIVersion: apiVersion, Kind: kind, Namespace: w.namespace, Name: name, State: state, Message: message,
		}
	}
	want := v1alpha1.RenderingStatus{
		Parent: "Gateway/" + w.namespace + "/edge", Gateway: w.namespace + "/edge", ParentGeneration: 1,
		Blueprint: w.name, BlueprintGeneration: 1, Ready: "2/3",
		Objects: []v1alpha1.RenderedObject{
			object("secret", "v1", "Secret", "edge", v1alpha1.ObjectCurrent, ""),
			object("shadow", "gateway.networking.k8s.io/v1", "Gateway", "edge-shadow", v1alpha1.ObjectInProgress,
				"its controller has not reported Programmed yet"),
			object("values", "v1", "ConfigMap", "edge", v1alpha1.ObjectCurrent, ""),
		},
		Listeners: []v1alpha1.MergedListener{
			listener("own", "Gateway", "edge", "own", "edge.example.com", true, "Accepted", 0),
			listener("l0", "ListenerSet", "a-first", "l0", "shop.example.com", true, "Accepted", 1),
			listener("", "ListenerSet", "b-second", "l0", "shop.example.com", false, "HostnameConflict", 0),
		},
		Values: tree2JSON(map[string]string{"class": "played-by-nobody", "size": "large", "team": "x", "zone": "a"}),
		Origins: []string{
			fmt.Sprintf("/class by GatewayClassBlueprint/%s default (level 1)", w.name),
			fmt.Sprintf("/size by GatewayConfig/%[2]s/tenant default (level 6), over GatewayClassConfig/%[2]s/provider default (level 4), "+
				"GatewayClassBlueprint/%[1]s default (level 1)", w.name, w.namespace),
			fmt.Sprintf("/team by GatewayClassConfig/%s/provider default (level 4)", w.namespace),
			fmt.Sprintf("/zone by GatewayClassBlueprint/%[1]s override (level 1), over GatewayClassConfig/%[2]s/provider default (level 4)",
				w.name, w.namespace),
		},
	}
	becomes(t, "the report of the Gateway", want, func() (v1alpha1.RenderingStatus, error) {
		rdg := &v1alpha1.Rendering{}
		err := shared.client.Get(t.Context(), w.key("edge"), rdg)
		got := rdg.Status
		for i := range got.Objects {
			if got.Objects[i].UID == "" {
				return got, errors.New("an applied object has no uid")
			}
			got.Objects[i].UID = ""
		}
		if text := strings.Join(got.Rendered, ""); !strings.Contains(text, "kind: Secret") || strings.Contains(text, "correct-horse") {
			return got, fmt.Errorf("the Secret is missing or told:\n%s", text)
		}
		got.Conditions, got.Rendered = nil, nil
		return got, err
	})
	is(t, "its conditions", []string{
		"Applied=True/Applied", "Healthy=False/Pending", "Programmed=False/Pending", "Rendered=True/Rendered",
	}, func() ([]string, error) {
		rdg := &v1alpha1.Rendering{}
		err := shared.client.Get(t.Context(), w.key("edge"), rdg)
		return told(rdg.Status.Conditions, 1), err
	})
}

func TestKubectlTellsAPersonWhatIsGoingOn(t *testing.T) {
	t.Parallel()
	w := explained(t)
	cases := map[string]struct {
		args  []string
		words []string
	}{
		"describe gateway: what it waits for, and that policies have a say": {
			[]string{"describe", "gateways.gateway.networking.k8s.io", "edge"},
			[]string{"Programmed", "Gateway edge-shadow (template shadow)", "Attached Listener Sets", "GatewayConfigAffected", "Events:"},
		},
		"describe rendering: objects, listeners, values and who set them": {
			[]string{"describe", "rendering", "edge"},
			[]string{
				"edge-shadow", "InProgress", "Ready:", "2/3", "HostnameConflict", "large",
				"/size by GatewayConfig/" + w.namespace + "/tenant default (level 6), over GatewayClassConfig/" + w.namespace + "/provider",
				"kind: ConfigMap",
			},
		},
		"describe gatewayconfig: whether its values are in effect": {
			[]string{"describe", "gatewayconfig", "tenant"},
			[]string{"Ancestor Ref", "edge", "Accepted", "Programmed", "every value is in effect"},
		},
		"describe gatewayclassconfig: who took its values away": {
			[]string{"describe", "gatewayclassconfig", "provider"},
			[]string{"PartiallyProgrammed", "/zone by GatewayClassBlueprint/" + w.name},
		},
		"describe listenerset: that it lost, and what to do": {
			[]string{"describe", "listenerset", "b-second"},
			[]string{"HostnameConflict", "use another port or hostname"},
		},
		"describe httproute: that it stands": {
			[]string{"describe", "httproute", "cart"},
			[]string{"gatewright.dev/Programmed", "Accepted", "gatewright.dev/controller"},
		},
		"get: everything of the category at a glance": {
			[]string{"get", "gateway-api"},
			[]string{"rendering.gatewright.dev/edge", "gatewayconfig.gatewright.dev/tenant", "gatewayclassconfig.gatewright.dev/provider", "2/3"},
		},
		"get rendering: by its short name": {[]string{"get", "rdg", "edge"}, []string{"PARENT", "READY", "PROGRAMMED", "2/3", "False"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kubectl := filepath.Join(shared.server.Assets, "kubectl")
			args := append([]string{"--kubeconfig", shared.server.Kubeconfig, "--namespace", w.namespace}, c.args...)
			eventually(t, strings.Join(c.args, " "), func() error {
				out, err := exec.CommandContext(t.Context(), kubectl, args...).CombinedOutput()
				if err != nil {
					return fmt.Errorf("%w: %s", err, out)
				}
				for _, word := range c.words {
					if !strings.Contains(string(out), word) {
						return fmt.Errorf("%q is not in:\n%s", word, out)
					}
				}
				return nil
			})
		})
	}
}

// events are those about an object, sorted. One that came again says so.
func (w *world) events(about client.Object) func() ([]string, error) {
	return func() ([]string, error) {
		var list eventsv1.EventList
		if err := shared.client.List(w.Context(), &list, client.InNamespace(w.namespace)); err != nil {
			return nil, err
		}
		var notes []string
		for _, e := range list.Items {
			if e.Regarding.UID == about.GetUID() {
				again := ""
				if e.Series != nil {
					again = "again and again: "
				}
				notes = append(notes, fmt.Sprintf("%s%s %s: %s", again, e.Type, e.Reason, e.Note))
			}
		}
		slices.Sort(notes)
		return notes, nil
	}
}

func TestEventsTellWhatTurned(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"shadow": shadowTemplate, "fragile": fragileTemplate},
		with(defaults(map[string]string{"class": "played-by-nobody", "broken": "no"})))
	gw := w.gateway("edge")
	events := w.events(gw)
	w.says("edge", "edge-shadow")
	w.play("edge-shadow")
	ready := []string{"Normal Programmed: Programmed=True: 2 objects are applied and ready"}
	becomes(t, "that it is ready is an event, that it had to wait is none", ready, events)

	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.Values.Default = tree2JSON(map[string]string{"class": "played-by-nobody", "broken": "yes"})
	})
	becomes(t, "that it fails is a warning", append(slices.Clone(ready), fmt.Sprintf("Warning Invalid: Programmed=False: "+
		"blueprint %s, template fragile, line 3: {{- fail \"broken on purpose\" }}: broken on purpose; the last good objects stay", w.name)), events)
}
