package conformance

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayconformance "sigs.k8s.io/gateway-api/conformance"
	confv1 "sigs.k8s.io/gateway-api/conformance/apis/v1"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/config"
	"sigs.k8s.io/gateway-api/conformance/utils/flags"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
	"sigs.k8s.io/gateway-api/pkg/features"
)

//go:embed testdata/overlay
var overlays embed.FS

// TestConformance runs the suite against each class, and tells what came of it.
func TestConformance(t *testing.T) {
	if !*runSuite {
		t.Skip("the suite takes minutes: make conformance")
	}
	cluster := newCluster(t)
	var results []result
	for _, r := range runs {
		ran := t.Run(r.class, func(t *testing.T) {
			results = append(results, cluster.run(t, r))
		})
		// What the suite made goes when its test has ended.
		cluster.namespacesAreGone(t)
		fmt.Fprintf(os.Stdout, "%s: %s\n", r.class, outcome(!ran))
	}
	// Where the suite could not even begin there is nothing to tell.
	if *only != "" || len(results) < len(runs) {
		return
	}
	for _, name := range forgotten(results) {
		t.Errorf("%s ran against no class: %s", name, results[0].left[name])
	}
	write(t, results)
}

// run runs the suite against one class.
func (c *cluster) run(t *testing.T, r run) result {
	t.Helper()
	class := c.install(t, r)
	observed := &observer{outcomes: map[string]string{}}
	conformance, err := suite.NewConformanceTestSuite(c.options(t, class, observed))
	if err != nil {
		t.Fatal(err)
	}
	made := result{run: r, claimed: conformance.SupportedFeatures, left: map[string]string{}, outcomes: observed.outcomes}
	var unclaimed []suite.ConformanceTest
	for _, test := range tests.ConformanceTests {
		reason := r.reason(test, made.claimed)
		if *only != "" && !slices.Contains(strings.Split(*only, ","), test.ShortName) {
			reason = "it was not asked for"
		}
		claimed := made.claimed.HasAll(test.Features...)
		switch {
		case reason != "":
			made.left[test.ShortName] = reason
		case !claimed:
			unclaimed = append(unclaimed, test)
		}
		if reason != "" || !claimed {
			conformance.SkipTests.Insert(test.ShortName)
		}
	}
	began := time.Now()
	conformance.Setup(t, tests.ConformanceTests)
	// A test of its own, because parallel tests have ended only when the test around them has.
	t.Run("suite", func(t *testing.T) { runTests(t, conformance, tests.ConformanceTests) })
	if made.report, err = conformance.Report(); err != nil {
		t.Error(err)
	}
	for _, test := range unclaimed {
		// The one test that the suite is told to run runs whatever is claimed.
		conformance.SkipTests.Delete(test.ShortName)
		conformance.RunTest = test.ShortName
		t.Run("in spite", func(t *testing.T) { runTests(t, conformance, []suite.ConformanceTest{test}) })
	}
	for name, outcome := range made.outcomes {
		if outcome == skipped {
			t.Errorf("%s skipped itself", name)
		}
	}
	fmt.Fprintf(os.Stdout, "%s: %d tests in %.0f s\n", r.class, len(made.outcomes), time.Since(began).Seconds())
	return made
}

func runTests(t *testing.T, conformance *suite.ConformanceTestSuite, tests []suite.ConformanceTest) {
	t.Helper()
	if err := conformance.Run(t, tests); err != nil {
		t.Fatal(err)
	}
}

// options are the suite's own defaults, save for what there is to say of the cluster and the class.
func (c *cluster) options(t *testing.T, class *gatewayv1.GatewayClass, observed *observer) suite.ConformanceOptions {
	t.Helper()
	// The suite names its tests in the user agent.
	restConfig := rest.CopyConfig(c.config)
	clientset, err := kubernetes.NewForConfig(restConfig)
	if err != nil {
		t.Fatal(err)
	}
	overlay, err := fs.Sub(overlays, "testdata/overlay")
	if err != nil {
		t.Fatal(err)
	}
	configurable := suite.ConfigurableOptions{
		GatewayClassName:     class.Name,
		CleanupBaseResources: flags.DefaultCleanupBaseResources,
		CleanupTestResources: flags.DefaultCleanupTestResources,
		Mode:                 flags.DefaultMode,
		TimeoutConfig:        timeouts(),
		Implementation: confv1.Implementation{
			Organization: "gatewright", Project: "gatewright", URL: "https://github.com/gatewright/gatewright", Version: "unknown",
			Contact: []string{"https://github.com/gatewright/gatewright/issues"},
		},
		ConformanceProfiles:      profiles(class),
		UsableNetworkAddresses:   []gatewayv1.GatewaySpecAddress{{Type: new(gatewayv1.IPAddressType), Value: usable}},
		UnusableNetworkAddresses: []gatewayv1.GatewaySpecAddress{{Type: new(gatewayv1.IPAddressType), Value: unusable}},
	}
	flags.ApplyAll(&configurable)
	return suite.ConformanceOptions{
		ConfigurableOptions: configurable,
		Client:              c.client, ClientOptions: client.Options{Scheme: c.client.Scheme()},
		Clientset: clientset, RestConfig: restConfig,
		ManifestFS: []fs.FS{&gatewayconformance.Manifests, overlay},
		Hook:       observed.observe,
	}
}

// profiles are those whose core features a class has. To report on another would be to claim its features.
func profiles(class *gatewayv1.GatewayClass) []suite.ConformanceProfileName {
	claimed := sets.New[features.FeatureName]()
	for _, feature := range class.Status.SupportedFeatures {
		claimed.Insert(features.FeatureName(feature.Name))
	}
	var names []suite.ConformanceProfileName
	for _, profile := range []suite.ConformanceProfile{
		suite.GatewayHTTPConformanceProfile, suite.GatewayGRPCConformanceProfile, suite.GatewayTLSConformanceProfile,
		suite.GatewayTCPConformanceProfile, suite.GatewayUDPConformanceProfile,
	} {
		if claimed.IsSuperset(profile.CoreFeatures) {
			names = append(names, profile.Name)
		}
	}
	return names
}

// timeouts are the suite's own, save that none is longer than the patience.
func timeouts() config.TimeoutConfig {
	t := config.DefaultTimeoutConfig()
	for _, timeout := range []*time.Duration{
		&t.GatewayMustHaveAddress, &t.GatewayMustHaveCondition, &t.GatewayStatusMustHaveListeners,
		&t.GatewayListenersMustHaveConditions, &t.ListenerSetMustHaveCondition, &t.ListenerSetListenersMustHaveConditions,
		&t.GWCMustBeAccepted, &t.HTTPRouteMustNotHaveParents, &t.HTTPRouteMustHaveCondition, &t.TLSRouteMustHaveCondition,
		&t.TCPRouteMustHaveCondition, &t.UDPRouteMustHaveCondition, &t.RouteMustHaveParents, &t.NamespacesMustBeReady,
		&t.LatestObservedGenerationSet, &t.DefaultTestTimeout,
	} {
		*timeout = min(*timeout, *patience)
	}
	return t
}

// observer is told how each test ended.
type observer struct {
	sync.Mutex
	outcomes map[string]string
}

func (o *observer) observe(t *testing.T, test suite.ConformanceTest, conformance *suite.ConformanceTestSuite) {
	if conformance.SkipTests.Has(test.ShortName) {
		return
	}
	ended := outcome(t.Failed())
	if t.Skipped() {
		ended = skipped
	}
	o.Lock()
	defer o.Unlock()
	o.outcomes[test.ShortName] = ended
	fmt.Fprintf(os.Stdout, "%s: %s %s\n", conformance.GatewayClassName, test.ShortName, ended)
}
