package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	gatewayconformance "sigs.k8s.io/gateway-api/conformance"
	"sigs.k8s.io/gateway-api/conformance/tests"
	"sigs.k8s.io/gateway-api/conformance/utils/suite"
	"sigs.k8s.io/gateway-api/pkg/features"
)

// A run is the suite once, against a GatewayClass of its own.
type run struct {
	// class is the name of the GatewayClass, and of its blueprint and values, which no other run has.
	class string
	// about says what is particular about the class, as part of a sentence in docs/conformance.md.
	about string
	// blueprint is the one below blueprints/ that the class is made of.
	blueprint string
	// values are what the provider sets for all Gateways of the class, as JSON.
	values string
	// lacks are features that the inner class of the run has not, though the blueprint as it is shipped claims them.
	lacks []features.FeatureName
	// only are the tests that run; none means all but those that cannot.
	only []string
	// leftOut says of tests that need no traffic why this class cannot pass them.
	leftOut map[string]string
}

// metadataTest is the one test that looks at what the controller makes, rather than at what it reports.
const metadataTest = "GatewayInfrastructureMetadata"

// runs are all that there are. The first two differ in how a shadow Gateway comes by its listeners; the last one has a
// blueprint that renders what the metadata test looks for.
var runs = []run{
	{
		class:     "shadow-gateways",
		about:     "all listeners merged into shadow Gateways",
		blueprint: "shadow-gateway",
		values:    `{"innerClass": "` + innerClass + `", "listeners": "gateways"}`,
		leftOut:   map[string]string{metadataTest: noMetadata},
	},
	{
		class:     "shadow-listenersets",
		about:     "a shadow ListenerSet for each ListenerSet, and an inner class that does not terminate TLS for TLSRoutes",
		blueprint: "shadow-gateway",
		values:    `{"innerClass": "` + innerClass + `", "listeners": "listenerSets"}`,
		lacks:     []features.FeatureName{features.SupportTLSRouteModeTerminate},
		leftOut:   map[string]string{metadataTest: noMetadata},
	},
	{
		class:     "proxy",
		about:     "no shadow Gateway, but what stands around a proxy",
		blueprint: "shadow",
		values:    `{}`,
		only:      []string{metadataTest},
	},
}

const noMetadata = "it looks for a ServiceAccount, a Pod or a Service, and the blueprint renders none"

// returnsAtOnce are the tests of how it is reported that a class lacks a feature. Of a class that has it they demand nothing,
// so it would be no merit to pass them.
var returnsAtOnce = map[string]features.FeatureName{
	"TLSRouteListenerTerminateNotSupported":        features.SupportTLSRouteModeTerminate,
	"TLSRouteListenerMixedTerminationNotSupported": features.SupportTLSRouteModeMixed,
}

// inSpite are tests that name a feature and do not look at it. They run whether or not it is claimed.
var inSpite = map[string]features.FeatureName{
	"GatewayInvalidTLSBackendConfiguration": features.SupportBackendTLSPolicy,
}

// needTraffic are the tests that send something through a Gateway, all or part of them. There is nothing that would carry it.
// That these are all of them, and none besides, is a test of its own.
var needTraffic = []string{
	"BackendTLSPolicy", "BackendTLSPolicyConflictResolution", "BackendTLSPolicyInvalidCACertificateRef",
	"BackendTLSPolicyInvalidKind", "BackendTLSPolicySANValidation",

	"GRPCExactMethodMatching", "GRPCRouteHeaderMatching", "GRPCRouteListenerHostnameMatching", "GRPCRouteNamedRule",
	"GRPCRouteWeight",

	"GatewayFrontendClientCertificateValidation", "GatewayFrontendClientCertificateValidationInsecureFallback",
	"GatewayFrontendInvalidDefaultClientCertificateValidation", "GatewayHTTPListenerIsolation",
	"GatewayTLSBackendClientCertificate",

	"HTTPRoute303Redirect", "HTTPRoute307Redirect", "HTTPRoute308Redirect", "HTTPRouteBackendProtocolH2C",
	"HTTPRouteBackendProtocolWebSocket", "HTTPRouteBackendRequestHeaderModifier", "HTTPRouteCORS", "HTTPRouteCrossNamespace",
	"HTTPRouteExactPathMatching", "HTTPRouteHTTPSListener", "HTTPRouteHTTPSListenerDetectMisdirectedRequests",
	"HTTPRouteHeaderMatching", "HTTPRouteHostnameIntersection", "HTTPRouteInvalidBackendRefUnknownKind",
	"HTTPRouteInvalidCrossNamespaceBackendRef", "HTTPRouteInvalidNonExistentBackendRef", "HTTPRouteInvalidReferenceGrant",
	"HTTPRouteListenerHostnameMatching", "HTTPRouteListenerPortMatching", "HTTPRouteMatching", "HTTPRouteMatchingAcrossRoutes",
	"HTTPRouteMethodMatching", "HTTPRouteMultipleGateways", "HTTPRouteNamedRule", "HTTPRouteNoBackendRefs",
	"HTTPRoutePartiallyInvalidViaInvalidReferenceGrant", "HTTPRoutePathMatchOrder", "HTTPRouteQueryParamMatching",
	"HTTPRouteRedirectHostAndStatus", "HTTPRouteRedirectPath", "HTTPRouteRedirectPort", "HTTPRouteRedirectPortAndScheme",
	"HTTPRouteRedirectScheme", "HTTPRouteReferenceGrant", "HTTPRouteRequestHeaderModifier",
	"HTTPRouteRequestHeaderModifierBackendWeights", "HTTPRouteRequestMirror", "HTTPRouteRequestMultipleMirrors",
	"HTTPRouteRequestPercentageMirror", "HTTPRouteResponseHeaderModifier", "HTTPRouteRetry", "HTTPRouteRewriteHost",
	"HTTPRouteRewritePath", "HTTPRouteServiceTypes", "HTTPRouteSimpleSameNamespace", "HTTPRouteTimeoutBackendRequest",
	"HTTPRouteTimeoutRequest", "HTTPRouteWeight",

	"ListenerSetAllowedRoutesNamespaces", "ListenerSetDualParentRefIndependence", "ListenerSetGatewayParentSectionNameNotFound",
	"ListenerSetHTTPRouting",

	"TCPRouteMultipleRoutesAttachment", "TCPRouteParentRefAttachAll", "TCPRouteParentRefPortAndSectionName",
	"TCPRouteReferenceGrant", "TCPRouteWeightedRouting",

	"TLSRouteHostnameIntersection", "TLSRouteInvalidBackendRefNonexistent", "TLSRouteInvalidBackendRefUnknownKind",
	"TLSRouteMixedTerminationSameNamespace", "TLSRouteSimpleSameNamespace", "TLSRouteTerminateSimpleSameNamespace",

	"UDPRoute", "UDPRouteMultipleRoutesAttachment", "UDPRouteParentRefAttachAllListeners", "UDPRouteParentRefPortAndSectionName",
	"UDPRouteReferenceGrant", "UDPRouteWeightedRouting",
}

// reason says why a test does not run against the class, which claims some features; empty if it does run.
func (r run) reason(test suite.ConformanceTest, claimed suite.FeaturesSet) string {
	missing := slices.IndexFunc(test.Features, func(feature features.FeatureName) bool {
		return !claimed.Has(feature) && inSpite[test.ShortName] != feature
	})
	absent, demandsNothing := returnsAtOnce[test.ShortName]
	switch {
	case slices.Contains(needTraffic, test.ShortName):
		return sendsTraffic
	case len(r.only) > 0 && !slices.Contains(r.only, test.ShortName):
		return "it runs against another class"
	case r.leftOut[test.ShortName] != "":
		return r.leftOut[test.ShortName]
	case missing >= 0:
		return "it needs the feature " + string(test.Features[missing]) + ", which is not claimed"
	case demandsNothing && claimed.Has(absent):
		return "it is about classes without the feature " + string(absent)
	}
	return ""
}

// notOurs are features that no class has: meshes have no Gateways, and BackendTLSPolicies are for the inner class to heed, which
// reports on them too.
var notOurs = []features.FeatureName{features.SupportMesh, features.SupportBackendTLSPolicy}

// forgotten are the tests that ran against no class, though they need neither traffic nor a feature that no class has.
func forgotten(results []result) []string {
	var names []string
	for _, test := range tests.ConformanceTests {
		ran := slices.ContainsFunc(results, func(r result) bool { return r.outcomes[test.ShortName] != "" })
		ours := !slices.ContainsFunc(test.Features, func(f features.FeatureName) bool { return slices.Contains(notOurs, f) })
		if !ran && ours && !slices.Contains(needTraffic, test.ShortName) {
			names = append(names, test.ShortName)
		}
	}
	return names
}

const sendsTraffic = "it sends traffic"

func TestEveryTestThatSendsNothingRuns(t *testing.T) {
	source := readSource(t)
	var send []string
	for _, test := range tests.ConformanceTests {
		// Tests of meshes are elsewhere, and need the feature Mesh.
		name, ok := source.tests[test.ShortName]
		if !ok && !slices.Contains(test.Features, features.SupportMesh) {
			t.Errorf("the source of %s is not found", test.ShortName)
		}
		if ok && source.sends(name, map[string]bool{}) {
			send = append(send, test.ShortName)
		}
	}
	slices.Sort(send)
	if diff := cmp.Diff(send, slices.Sorted(slices.Values(needTraffic))); diff != "" {
		t.Errorf("tests that are left out since they send something (-by the source of the suite +by the list):\n%s", diff)
	}
}

// source is the Go code of the suite's tests.
type source struct {
	// tests are the names of the variables that hold a test, by the test's own name.
	tests map[string]string
	// declarations are variables and functions of the package, by name.
	declarations map[string]declaration
}

type declaration struct {
	node ast.Node
	// senders are the names by which the file knows packages that open connections.
	senders []string
}

// readSource parses the tests as they are embedded beside their manifests.
func readSource(t *testing.T) source {
	t.Helper()
	found := source{tests: map[string]string{}, declarations: map[string]declaration{}}
	entries, err := gatewayconformance.Manifests.ReadDir("tests")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if path.Ext(entry.Name()) != ".go" {
			continue
		}
		text, err := gatewayconformance.Manifests.ReadFile("tests/" + entry.Name())
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), entry.Name(), text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found.add(file)
	}
	return found
}

func (s source) add(file *ast.File) {
	var senders []string
	for _, spec := range file.Imports {
		if name, ok := sender(spec); ok {
			senders = append(senders, name)
		}
	}
	for _, decl := range file.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			s.declarations[decl.Name.Name] = declaration{decl, senders}
		case *ast.GenDecl:
			for _, spec := range decl.Specs {
				if spec, ok := spec.(*ast.ValueSpec); ok {
					s.declarations[spec.Names[0].Name] = declaration{spec, senders}
					if name, ok := shortName(spec); ok {
						s.tests[name] = spec.Names[0].Name
					}
				}
			}
		}
	}
}

// sender returns the name by which a file knows an imported package, if that package opens connections.
func sender(spec *ast.ImportSpec) (name string, ok bool) {
	imported, _ := strconv.Unquote(spec.Path.Value)
	name = path.Base(imported)
	if spec.Name != nil {
		name = spec.Name.Name
	}
	const utils = "sigs.k8s.io/gateway-api/conformance/utils/"
	util, ofSuite := strings.CutPrefix(imported, utils)
	passive := []string{"config", "flags", "kubernetes", "suite", "tlog"}
	return name, ofSuite && !slices.Contains(passive, util) || imported == "net" || imported == "github.com/miekg/dns"
}

// shortName returns the name of the test that a variable holds, if it holds one.
func shortName(spec *ast.ValueSpec) (name string, ok bool) {
	ast.Inspect(spec, func(node ast.Node) bool {
		if pair, isPair := node.(*ast.KeyValueExpr); isPair && !ok {
			key, isName := pair.Key.(*ast.Ident)
			value, isLiteral := pair.Value.(*ast.BasicLit)
			if isName && isLiteral && key.Name == "ShortName" {
				name, _ = strconv.Unquote(value.Value)
				ok = true
			}
		}
		return !ok
	})
	return name, ok
}

// sends tells whether what is declared under a name, or anything that it names in turn, uses a package that opens connections.
func (s source) sends(name string, seen map[string]bool) bool {
	declared, ok := s.declarations[name]
	if !ok || seen[name] {
		return false
	}
	seen[name] = true
	sends := false
	var visit func(node ast.Node) bool
	visit = func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			// What is selected is another package's, or a field.
			ast.Inspect(node.X, visit)
			return false
		case *ast.Ident:
			sends = sends || slices.Contains(declared.senders, node.Name) || s.sends(node.Name, seen)
		}
		return !sends
	}
	ast.Inspect(declared.node, visit)
	return sends
}

func TestATestThatRanAgainstNoClassIsNotForgotten(t *testing.T) {
	outcomes := map[string]string{}
	for _, test := range tests.ConformanceTests {
		outcomes[test.ShortName] = passed
	}
	// In order: one that must run, one that needs traffic, one of a mesh, one of a feature of others.
	for _, name := range []string{"GatewayModifyListeners", "HTTPRouteWeight", "MeshBasic", "BackendTLSPolicyObservedGenerationBump"} {
		if outcomes[name] == "" {
			t.Errorf("the suite has no test %s", name)
		}
		delete(outcomes, name)
	}
	if diff := cmp.Diff([]string{"GatewayModifyListeners"}, forgotten([]result{{outcomes: outcomes}})); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
}
