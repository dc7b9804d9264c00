package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/verdict"
)

// The versions of Gateway API whose CRDs are known to work: 1.5 was the first with ListenerSets, and 1.7 is the newest that was tried.
const (
	major                = 1
	oldestMinor          = 5
	newestMinor          = 7
	supportedVersions    = "v1.5 to v1.7"
	maxVersionsMentioned = 5
)

// SupportedVersion is a GatewayClass's condition of that name (Gateway API, GatewayClassConditionStatusSupportedVersion): whether all
// CRDs of Gateway API are of a supported version. bundles are the versions that they say they are of, "" for one that says nothing.
func SupportedVersion(bundles []string) verdict.Verdict {
	installed := map[string]bool{}
	supported := true
	for _, bundle := range bundles {
		installed[bundle] = true
		v, err := version.ParseSemantic(bundle)
		supported = supported && err == nil && v.Major() == major && v.Minor() >= oldestMinor && v.Minor() <= newestMinor
	}
	names := slices.Sorted(maps.Keys(installed))
	for i, name := range names {
		if name == "" {
			names[i] = "an unknown version"
		}
	}
	if more := len(names) - maxVersionsMentioned; more > 0 {
		names = append(names[:maxVersionsMentioned], fmt.Sprintf("%d more", more))
	}
	message := fmt.Sprintf("the CRDs of Gateway API are of %s", strings.Join(names, ", "))
	if supported {
		return verdict.Yes(string(gatewayv1.GatewayClassReasonSupportedVersion), message)
	}
	return verdict.No(string(gatewayv1.GatewayClassReasonUnsupportedVersion),
		"%s; supported are %s; others are served as well as they can be", message, supportedVersions)
}
