package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/internal/verdict"
)

func TestSupportedVersion(t *testing.T) {
	const yes, no = "SupportedVersion", "UnsupportedVersion"
	const remedy = "; supported are v1.5 to v1.7; others are served as well as they can be"
	for name, c := range map[string]struct {
		bundles []string
		want    verdict.Verdict
	}{
		"all of one version":           {[]string{"v1.6.3", "v1.6.3"}, verdict.Yes(yes, "the CRDs of Gateway API are of v1.6.3")},
		"the oldest and the newest":    {[]string{"v1.7.0", "v1.5.0"}, verdict.Yes(yes, "the CRDs of Gateway API are of v1.5.0, v1.7.0")},
		"a candidate of a release":     {[]string{"v1.7.0-rc.1"}, verdict.Yes(yes, "the CRDs of Gateway API are of v1.7.0-rc.1")},
		"one that is too old":          {[]string{"v1.6.3", "v1.4.1"}, verdict.No(no, "the CRDs of Gateway API are of v1.4.1, v1.6.3"+remedy)},
		"one that is too new":          {[]string{"v1.8.0"}, verdict.No(no, "the CRDs of Gateway API are of v1.8.0"+remedy)},
		"another major version":        {[]string{"v2.6.0"}, verdict.No(no, "the CRDs of Gateway API are of v2.6.0"+remedy)},
		"one that does not say":        {[]string{"v1.6.3", ""}, verdict.No(no, "the CRDs of Gateway API are of an unknown version, v1.6.3"+remedy)},
		"one that is no version":       {[]string{"main"}, verdict.No(no, "the CRDs of Gateway API are of main"+remedy)},
		"more than a message can name": {[]string{"a", "b", "c", "d", "e", "f", "g"}, verdict.No(no, "the CRDs of Gateway API are of a, b, c, d, e, 2 more"+remedy)},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, SupportedVersion(c.bundles)); diff != "" {
				t.Errorf("SupportedVersion(): -want +got:\n%s", diff)
			}
		})
	}
}
