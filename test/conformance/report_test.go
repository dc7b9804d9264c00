package conformance

import (
	"bytes"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"github.com/gatewright/gatewright/test/kube"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/sets"
	confv1 "sigs.k8s.io/gateway-api/conformance/apis/v1"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
	"sigs.k8s.io/gateway-api/pkg/features"
	"sigs.k8s.io/yaml"
)

// result is what came of a run.
type result struct {
	run
	claimed suite.FeaturesSet
	// outcomes are how tests ended, by name.
	outcomes map[string]string
	// left says of the tests that did not run why, by name.
	left map[string]string
	// report is the suite's own.
	report *confv1.ConformanceReport
}

// How a test may end.
const (
	passed  = "passed"
	failed  = "FAILED"
	skipped = "skipped"
)

func outcome(hasFailed bool) string {
	if hasFailed {
		return failed
	}
	return passed
}

//go:embed testdata/conformance.md.tmpl
var pageTemplate string

// page is what docs/conformance.md shows.
type page struct {
	API, Channel, Version, Date string
	Passed, Failed, LeftOut     int
	Classes                     []pageClass
	Ran                         []pageTest
	// Notes are on tests that did not run against a class, InSpite on tests that ran though a feature is not claimed.
	Notes, InSpite []pageNote
	Reasons        []pageReason
}

type pageClass struct{ Name, Blueprint, About, Features string }

// pageTest has an outcome for each class.
type pageTest struct {
	Name     string
	Outcomes []string
}

type pageNote struct{ Name, Class, Reason string }

type pageReason struct{ Reason, Names string }

// newPage puts together what there is to say of all runs. There must be one at least.
func newPage(results []result) page {
	first := results[0].report
	p := page{
		API: first.GatewayAPIVersion, Channel: first.GatewayAPIChannel, Version: first.Version,
		// The report has the time too, which says no more to readers.
		Date: first.Date[:len("2006-01-02")],
	}
	ran := sets.New[string]()
	for _, r := range results {
		var claimed []string
		for _, feature := range sets.List(r.claimed) {
			claimed = append(claimed, string(feature))
		}
		p.Classes = append(p.Classes, pageClass{r.class, r.blueprint, r.about, strings.Join(claimed, ", ")})
		ran = ran.Union(sets.KeySet(r.outcomes))
	}
	for _, name := range sets.List(ran) {
		p.addTest(name, results)
	}
	p.addReasons(results[0].left, ran)
	return p
}

// addTest adds a test that ran against one class at least.
func (p *page) addTest(name string, results []result) {
	test := pageTest{Name: name}
	for _, r := range results {
		ended := r.outcomes[name]
		test.Outcomes = append(test.Outcomes, ended)
		if ended == "" && len(r.only) == 0 {
			p.Notes = append(p.Notes, pageNote{name, r.class, r.left[name]})
		}
		if feature, ok := inSpite[name]; ok && ended != "" && !r.claimed.Has(feature) {
			p.InSpite = append(p.InSpite, pageNote{name, r.class, string(feature)})
		}
	}
	p.Ran = append(p.Ran, test)
	if slices.Contains(test.Outcomes, failed) || slices.Contains(test.Outcomes, skipped) {
		p.Failed++
	} else {
		p.Passed++
	}
}

// addReasons adds the tests that ran against no class, by the reasons why. Reasons that say the same of fewer tests come later.
func (p *page) addReasons(left map[string]string, ran sets.Set[string]) {
	names := map[string][]string{}
	for _, name := range sets.List(sets.KeySet(left).Difference(ran)) {
		names[left[name]] = append(names[left[name]], name)
		p.LeftOut++
	}
	reasons := sets.List(sets.KeySet(names))
	slices.SortStableFunc(reasons, func(a, b string) int { return len(names[b]) - len(names[a]) })
	for _, reason := range reasons {
		p.Reasons = append(p.Reasons, pageReason{reason, wrap(strings.Join(names[reason], ", "))})
	}
}

// width is that of the other documentation.
const width = 125

// wrap breaks a line at its blanks.
func wrap(line string) string {
	var lines []string
	for word := range strings.FieldsSeq(line) {
		last := len(lines) - 1
		if last < 0 || len(lines[last])+1+len(word) > width {
			lines = append(lines, word)
			continue
		}
		lines[last] += " " + word
	}
	return strings.Join(lines, "\n")
}

func (p page) String() string {
	var text bytes.Buffer
	if err := template.Must(template.New("").Parse(pageTemplate)).Execute(&text, p); err != nil {
		panic(fmt.Errorf("writing docs/conformance.md: %w", err))
	}
	return text.String()
}

// write writes what came of the runs into docs/.
func write(t *testing.T, results []result) {
	t.Helper()
	report := results[0].report
	// The suite leaves them in any order.
	slices.SortFunc(report.ProfileReports, func(a, b confv1.ProfileReport) int { return strings.Compare(a.Name, b.Name) })
	text, err := yaml.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	page := newPage(results).String()
	fmt.Fprint(os.Stdout, page)
	for name, text := range map[string][]byte{"conformance.md": []byte(page), "conformance-report.yaml": text} {
		if err := os.WriteFile(filepath.Join(kube.RepoRoot(), "docs", name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestThePageTellsWhatRanAndWhatDidNotAndWhy(t *testing.T) {
	report := &confv1.ConformanceReport{
		Implementation: confv1.Implementation{Version: "v0.1.0"}, Date: "2026-01-31T12:00:00Z",
		GatewayAPIVersion: "v1.6.3", GatewayAPIChannel: "standard",
	}
	results := []result{
		{
			run:      run{class: "one", blueprint: "shadow-gateway", about: "this"},
			claimed:  sets.New(features.SupportHTTPRoute, features.SupportGateway),
			outcomes: map[string]string{"B": passed, "A": failed, "GatewayInvalidTLSBackendConfiguration": passed},
			left:     map[string]string{"C": "it is not for this class", "D": sendsTraffic, "E": sendsTraffic, "F": "it is rare"},
			report:   report,
		},
		{
			run:      run{class: "two", blueprint: "shadow", about: "that", only: []string{"C", "A"}},
			claimed:  sets.New(features.SupportGateway),
			outcomes: map[string]string{"C": passed, "A": passed},
			left:     map[string]string{"B": "it runs against another class"},
		},
	}
	want := page{
		API: "v1.6.3", Channel: "standard", Version: "v0.1.0", Date: "2026-01-31",
		Passed: 3, Failed: 1, LeftOut: 3,
		Classes: []pageClass{{"one", "shadow-gateway", "this", "Gateway, HTTPRoute"}, {"two", "shadow", "that", "Gateway"}},
		Ran: []pageTest{
			{"A", []string{failed, passed}},
			{"B", []string{passed, ""}},
			{"C", []string{"", passed}},
			{"GatewayInvalidTLSBackendConfiguration", []string{passed, ""}},
		},
		InSpite: []pageNote{{"GatewayInvalidTLSBackendConfiguration", "one", "BackendTLSPolicy"}},
		Notes:   []pageNote{{"C", "one", "it is not for this class"}},
		Reasons: []pageReason{{sendsTraffic, "D, E"}, {"it is rare", "F"}},
	}
	if diff := cmp.Diff(want, newPage(results)); diff != "" {
		t.Errorf("page (-want +got):\n%s", diff)
	}
	wantText, err := os.ReadFile("testdata/page.golden")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(wantText), want.String()); diff != "" {
		t.Errorf("text of the page (-want +got):\n%s", diff)
	}
}
