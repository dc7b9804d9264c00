package status

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"go.yaml.in/yaml/v2"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/values"
)

// Bounds of a Rendering, in bytes, far below what etcd holds in one object. What is over is left out, the least telling part
// first, and the report says so.
const (
	maxManifests = 256 << 10
	maxOrigins   = 128 << 10
	maxValues    = 128 << 10
	maxListeners = 1000
)

// Report is what a Rendering is made of, besides the outcome.
type Report struct {
	// Parent is "Kind/namespace/name", for a route followed by what it is rendered under.
	Parent string
	// Gateway is "namespace/name".
	Gateway          string
	ParentGeneration int64
	Blueprint        string
	// BlueprintGeneration is that of the blueprint that was rendered, which is an older one while the newest is broken.
	BlueprintGeneration int64
	// AppliedAs is the ServiceAccount as which objects are applied, as "namespace/name"; empty if it is the controller itself.
	AppliedAs string
	Listeners []gateway.Listener
	Values    values.Effective
	// Manifests are the objects as they were rendered, as YAML, in the order in which they are applied.
	Manifests []string
}

// Rendering fills in the report. Conditions keep their transition times.
func Rendering(rdg *v1alpha1.Rendering, r Report, o Outcome) {
	s := v1alpha1.RenderingStatus{
		Conditions: rdg.Status.Conditions,
		Parent:     r.Parent, Gateway: r.Gateway, ParentGeneration: r.ParentGeneration,
		Blueprint: r.Blueprint, BlueprintGeneration: r.BlueprintGeneration,
		AppliedAs: r.AppliedAs,
		Objects:   append(append([]v1alpha1.RenderedObject{}, o.Objects...), o.Held...),
	}
	Set(&s.Conditions, v1alpha1.ConditionRendered, o.Rendered(), r.ParentGeneration)
	Set(&s.Conditions, v1alpha1.ConditionApplied, o.Applied(), r.ParentGeneration)
	Set(&s.Conditions, v1alpha1.ConditionHealthy, o.Healthy(), r.ParentGeneration)
	Set(&s.Conditions, v1alpha1.ConditionProgrammed, o.Programmed(), r.ParentGeneration)
	s.Ready = ready(s.Objects)

	var cut []string
	for i := range s.Objects {
		s.Objects[i].Message = bounded(s.Objects[i].Message)
	}
	s.Rendered, cut = manifests(r.Manifests, cut)
	s.Listeners, cut = listeners(r.Listeners, cut)
	s.Values, cut = valuesJSON(r.Values.Redacted(), cut)
	s.Origins, cut = origins(&r.Values, cut)
	s.Truncated = strings.Join(cut, "; ")
	rdg.Status = s
}

func ready(objects []v1alpha1.RenderedObject) string {
	current := 0
	for _, o := range objects {
		if o.State == v1alpha1.ObjectCurrent {
			current++
		}
	}
	return fmt.Sprintf("%d/%d", current, len(objects))
}

// manifests keeps manifests in order as long as they fit.
func manifests(all []string, cut []string) ([]string, []string) {
	size := 0
	for i, manifest := range all {
		if size += len(manifest); size > maxManifests {
			return all[:i], append(cut, fmt.Sprintf("%d manifests are left out; `gatewright render` prints them", len(all)-i))
		}
	}
	return all, cut
}

func listeners(merged []gateway.Listener, cut []string) ([]v1alpha1.MergedListener, []string) {
	var list []v1alpha1.MergedListener
	for i, l := range merged {
		if i == maxListeners {
			return list, append(cut, fmt.Sprintf("%d listeners are left out", len(merged)-i))
		}
		entry := v1alpha1.MergedListener{
			Name: string(l.Name),
			Source: v1alpha1.ListenerSource{
				Kind: string(l.Source.Kind), Namespace: l.Source.Namespace, Name: l.Source.Name, SectionName: string(l.Source.SectionName),
			},
			Port: l.Spec.Port, Protocol: string(l.Spec.Protocol),
			Accepted: l.Usable, Reason: l.Accepted.Reason, AttachedRoutes: l.AttachedRoutes,
		}
		if l.Accepted.OK && !l.Usable {
			entry.Reason = l.ResolvedRefs.Reason
		}
		if l.Spec.Hostname != nil {
			entry.Hostname = string(*l.Spec.Hostname)
		}
		list = append(list, entry)
	}
	return list, cut
}

func valuesJSON(tree values.Tree, cut []string) (*apiextensionsv1.JSON, []string) {
	text, err := json.Marshal(tree)
	if err != nil || len(tree) == 0 {
		return nil, cut
	}
	if len(text) > maxValues {
		return nil, append(cut, "the values are left out; `gatewright values` prints them")
	}
	return &apiextensionsv1.JSON{Raw: text}, cut
}

// origins tells in a line for each leaf who set it, and then for each that is not among the values why, since `kubectl describe` is
// where people look for that.
func origins(e *values.Effective, cut []string) ([]string, []string) {
	size, left := 0, 0
	var lines []string
	for line := range provenance(e) {
		if size += len(line); size > maxOrigins {
			left++
			continue
		}
		lines = append(lines, line)
	}
	if left > 0 {
		cut = append(cut, fmt.Sprintf("the origins of %d values are left out; `gatewright values` prints them", left))
	}
	return lines, cut
}

// provenance are the lines of origins: what is set, shadowed, removed, and which blocks are inactive.
func provenance(e *values.Effective) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, o := range e.Origins {
			line := o.Path + " by " + setter(o.Setter)
			var over []string
			for _, shadowed := range o.Shadowed {
				over = append(over, setter(shadowed))
			}
			if len(over) > 0 {
				line += ", over " + strings.Join(over, ", ")
			}
			if !yield(line + says(o.Message)) {
				return
			}
		}
		for _, h := range e.Hidden {
			if !yield(fmt.Sprintf("%s of %s is shadowed by %s%s", h.Path, setter(h.Setter), setter(h.By), says(h.Message))) {
				return
			}
		}
		for _, r := range e.Removed {
			if !yield(fmt.Sprintf("%s of %s is removed by %s%s", r.Path, setter(r.Setter), setter(r.By), says(r.Message))) {
				return
			}
		}
		for _, i := range e.Inactive {
			line := fmt.Sprintf("%s is inactive (%s)", setter(i.Setter), i.Reason)
			if i.By != nil {
				line += ", by " + setter(*i.By)
			}
			if !yield(line) {
				return
			}
		}
	}
}

// says adds the message of a constraint, if there is one.
func says(message string) string {
	if message == "" {
		return ""
	}
	return fmt.Sprintf("; it says %q", message)
}

func setter(s values.Setter) string {
	return fmt.Sprintf("%s %s (level %d)", s.SetBy, s.Block, s.Level.Number())
}

// Manifest is a rendered object as YAML for people, below a line that names its template: `kubectl describe` indents the first line
// alone. Of a Secret it tells which keys there are, and no more.
func Manifest(template string, o *unstructured.Unstructured) string {
	content := o.Object
	if o.GroupVersionKind().Group == "" && o.GetKind() == "Secret" {
		content = o.DeepCopy().Object
		for _, field := range []string{"data", "stringData"} {
			if data, ok := content[field].(map[string]any); ok {
				for key := range data {
					data[key] = values.RedactedText
				}
			}
		}
	}
	// sigs.k8s.io/yaml does the same, by way of JSON that it reads again.
	text, err := yaml.Marshal(content)
	if err != nil {
		return ""
	}
	return "# template " + template + "\n" + string(text)
}
