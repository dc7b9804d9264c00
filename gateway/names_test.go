package gateway_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
)

var sectionName = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

// uniqueNames returns the unique names by "namespace/name section".
func uniqueNames(own []gatewayv1.Listener, sets ...*gatewayv1.ListenerSet) map[string]gatewayv1.SectionName {
	out := map[string]gatewayv1.SectionName{}
	for _, l := range merge(gateway.Snapshot{Gateway: gw(fromAll, own...), ListenerSets: sets}).Listeners {
		out[l.Source.Namespace+"/"+l.Source.Name+" "+string(l.Source.SectionName)] = l.Name
	}
	return out
}

// TestUniqueNames covers how colliding names are made unique (P3).
func TestUniqueNames(t *testing.T) {
	const (
		aHashed = "http-47e106f39e"
		bHashed = "http-f316a5286f"
	)
	own := []gatewayv1.Listener{listener("http", http, 80, "")}
	free := []gatewayv1.Listener{listener("own", http, 80, "")}
	a := set("infra", "a", 1, listener("http", http, 81, ""))
	b := set("infra", "b", 2, listener("http", http, 82, ""))
	for name, c := range map[string]struct {
		own  []gatewayv1.Listener
		sets []*gatewayv1.ListenerSet
		want map[string]gatewayv1.SectionName
	}{
		"a name that nobody else has is kept": {
			own: free, sets: []*gatewayv1.ListenerSet{a},
			want: map[string]gatewayv1.SectionName{"infra/gw own": "own", "infra/a http": "http"}},
		"the Gateway keeps its names": {
			own: own, sets: []*gatewayv1.ListenerSet{a},
			want: map[string]gatewayv1.SectionName{"infra/gw http": "http", "infra/a http": aHashed}},
		"a new name is the same whoever else is there": {
			own: own, sets: []*gatewayv1.ListenerSet{a, b},
			want: map[string]gatewayv1.SectionName{"infra/gw http": "http", "infra/a http": aHashed, "infra/b http": bHashed}},
		"the older set keeps the name, and the younger has the name that it has anyway": {
			own: free, sets: []*gatewayv1.ListenerSet{a, b},
			want: map[string]gatewayv1.SectionName{"infra/gw own": "own", "infra/a http": "http", "infra/b http": bHashed}},
		"a rejected listener counts as having its name, so that its verdict renames no other": {
			own:  []gatewayv1.Listener{listener("own", http, 80, ""), listener("http", "INVALID", 83, "")},
			sets: []*gatewayv1.ListenerSet{a},
			want: map[string]gatewayv1.SectionName{"infra/gw own": "own", "infra/gw http": "", "infra/a http": aHashed}},
		"whoever writes down another's hash in advance takes nothing away from uniqueness": {
			own: own, sets: []*gatewayv1.ListenerSet{a, set("infra", "early", 0, listener(aHashed, http, 83, ""))},
			want: map[string]gatewayv1.SectionName{"infra/gw http": "http", "infra/early " + aHashed: aHashed, "infra/a http": "http-71fb3de18a"}},
		"whoever writes down another's hash later gets a hash himself": {
			own: own, sets: []*gatewayv1.ListenerSet{a, set("infra", "late", 3, listener(aHashed, http, 83, ""))},
			want: map[string]gatewayv1.SectionName{"infra/gw http": "http", "infra/a http": aHashed, "infra/late " + aHashed: aHashed + "-30a14f3be9"}},
		"one name twice in one object, as only a file can have it, becomes two names": {
			own:  []gatewayv1.Listener{listener("own", http, 80, "")},
			sets: []*gatewayv1.ListenerSet{set("infra", "a", 1, listener("http", http, 81, ""), listener("http", http, 82, ""))},
			want: map[string]gatewayv1.SectionName{"infra/gw own": "own", "infra/a http": aHashed}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, uniqueNames(c.own, c.sets...)); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUniqueNamesFit promises that a new name is a valid section name, however long the old one and wherever it is cut.
func TestUniqueNamesFit(t *testing.T) {
	for name, section := range map[string]string{
		"of the greatest length":           strings.Repeat("a", 253),
		"just short enough":                strings.Repeat("a", 242),
		"just too long":                    strings.Repeat("a", 243),
		"cut before a dot":                 strings.Repeat("a", 241) + "." + strings.Repeat("b", 11),
		"cut within hyphens":               strings.Repeat("a", 230) + strings.Repeat("-", 22) + "b",
		"cut after a label of one letter":  strings.Repeat("a.", 126) + "a",
		"short, with a dot and a hyphen":   "a-b.c",
		"of one letter":                    "a",
		"ending in what looks like a hash": "a-47e106f39e",
	} {
		t.Run(name, func(t *testing.T) {
			got := uniqueNames([]gatewayv1.Listener{listener(section, http, 80, "")}, set("infra", "a", 1, listener(section, http, 81, "")))
			hashed := string(got["infra/a "+section])
			if len(hashed) > 253 || !sectionName.MatchString(hashed) || hashed == section {
				t.Errorf("%q (%d characters) is no new section name", hashed, len(hashed))
			}
		})
	}
}
