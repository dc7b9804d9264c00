package render

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/manifest"
)

// permits is what templates may produce.
type permits struct {
	// kinds that are permitted by name; nil if none are, and then those count that are written literally.
	kinds         map[schema.GroupKind]bool
	clusterScoped bool
}

func permitsOf(p *v1alpha1.Permits) permits {
	if p == nil {
		return permits{}
	}
	out := permits{clusterScoped: p.ClusterScoped}
	for _, k := range p.Kinds {
		if out.kinds == nil {
			out.kinds = map[schema.GroupKind]bool{}
		}
		out.kinds[schema.GroupKind{Group: k.Group, Kind: k.Kind}] = true
	}
	return out
}

// dangerous are groups whose objects give rights or change what the API server does. They must be permitted by name.
var dangerous = map[string]bool{
	"rbac.authorization.k8s.io": true, "authorization.k8s.io": true, "authentication.k8s.io": true, "certificates.k8s.io": true,
	"admissionregistration.k8s.io": true, "apiextensions.k8s.io": true, "apiregistration.k8s.io": true,
}

// unitKinds says which kinds the objects of a template may have: those that it writes literally, or, where the blueprint lists
// kinds, those of the list whose group it writes in some apiVersion. The trees must still be as they were parsed.
func (c *compiler) unitKinds(field string, src source, own map[string]*parse.Tree) map[schema.GroupVersionKind]bool {
	trees := maps.Clone(own)
	maps.Copy(trees, c.writtenHelpers)
	written, kinds := writtenKinds(trees), map[schema.GroupVersionKind]bool{}
	if written.excess {
		c.say(field, 0, "the template writes more than %d combinations of apiVersion and kind; make it several templates", maxKinds)
	}
	for _, gvk := range sortKinds(written.kinds) {
		switch {
		case isOurs(gvk.Group):
			c.say(field, 0, "objects of group %s cannot be rendered", gvk.Group)
		case c.permits.kinds != nil && !c.permits.kinds[gvk.GroupKind()]:
			c.say(field, 0, "%s is not among spec.permits.kinds; add {group: %q, kind: %s}", gvk.GroupKind(), gvk.Group, gvk.Kind)
		case c.permits.kinds == nil && dangerous[gvk.Group]:
			c.say(field, 0, "%s must be permitted by name; list all kinds of the blueprint in spec.permits.kinds", gvk.GroupKind())
		default:
			kinds[gvk] = true
		}
	}
	for gk := range c.permits.kinds {
		for gv := range written.versions {
			if gv.Group == gk.Group && !isOurs(gk.Group) {
				kinds[gv.WithKind(gk.Kind)] = true
			}
		}
	}
	if len(kinds) == 0 && len(written.kinds) == 0 && !written.excess && strings.TrimSpace(src.text) != "" {
		c.say(field, 0, "the template writes no apiVersion and kind literally; write them out, "+
			"or write the apiVersion out and list the kinds in spec.permits.kinds")
	}
	maps.Copy(c.kinds, kinds)
	return kinds
}

// isOurs says whether a group is our own: blueprints and policies are not for templates to make.
func isOurs(group string) bool {
	return group == v1alpha1.GroupName || strings.HasSuffix(group, "."+v1alpha1.GroupName)
}

// checkPermits refuses a list of kinds that promises what cannot be kept.
func (c *compiler) checkPermits() {
	sound := len(c.problems) == 0
	for i, k := range permittedKinds(c.blueprint) {
		field := fmt.Sprintf("spec.permits.kinds[%d]", i)
		found := false
		for gvk := range c.kinds {
			found = found || gvk.GroupKind() == schema.GroupKind{Group: k.Group, Kind: k.Kind}
		}
		switch {
		case isOurs(k.Group):
			c.say(field, 0, "objects of group %s cannot be rendered", k.Group)
		case !found && sound:
			c.say(field, 0, "no template writes an apiVersion of group %q literally, so the version of %s is not known; "+
				"write it out or remove the kind", k.Group, k.Kind)
		}
	}
}

func permittedKinds(b *v1alpha1.GatewayClassBlueprint) []v1alpha1.PermittedKind {
	if b.Spec.Permits == nil {
		return nil
	}
	return b.Spec.Permits.Kinds
}

// controllersOnly are the fields of metadata that no template may set.
var controllersOnly = []string{
	"ownerReferences", "finalizers", "uid", "resourceVersion", "generation", "managedFields", "creationTimestamp",
	"deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generateName",
}

// admit checks an object against what its template may produce, and fills in its namespace.
func (r *Run) admit(u *unit, o manifest.Document) *fault {
	gvk := o.GroupVersionKind()
	if !u.kinds[gvk] {
		// The kind itself may be a value, and is not named.
		return broken("an object is of a kind that the template may not produce; it may produce %s: what it writes literally, or what spec.permits.kinds lists", kindNames(u.kinds))
	}
	metadata, ok := o.Object["metadata"].(map[string]any)
	if !ok {
		return broken("%s: metadata must be a map with a name", gvk.Kind)
	}
	name, ok := metadata["name"].(string)
	if !ok || name == "" {
		return broken("%s: metadata.name must be a string that is not empty", gvk.Kind)
	}
	if problems := content.IsPathSegmentName(name); len(problems) > 0 || len(name) > 253 {
		return broken("%s: metadata.name is not a name that an object can have", gvk.Kind)
	}
	for _, field := range controllersOnly {
		if _, set := metadata[field]; set {
			return broken("%s: metadata.%s must not be set by a template", gvk.Kind, field)
		}
	}
	for _, field := range []string{"labels", "annotations"} {
		if f := checkStrings(o, field, metadata); f != nil {
			return f
		}
	}
	if f := r.admitNamespace(gvk.Kind, metadata); f != nil {
		return f
	}
	return r.admitContent(u, gvk, o.Unstructured)
}

func kindNames(kinds map[schema.GroupVersionKind]bool) string {
	var names []string
	for _, gvk := range sortKinds(kinds) {
		names = append(names, gvk.GroupVersion().String()+" "+gvk.Kind)
	}
	return strings.Join(names, ", ")
}

// checkStrings checks labels or annotations: Kubernetes wants strings, and ours are ours.
func checkStrings(o manifest.Document, field string, metadata map[string]any) *fault {
	kind := o.GetKind()
	if metadata[field] == nil {
		delete(metadata, field)
		return nil
	}
	m, ok := metadata[field].(map[string]any)
	if !ok {
		return broken("%s: metadata.%s must be a map", kind, field)
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if strings.HasPrefix(key, v1alpha1.GroupName+"/") {
			return broken("%s: metadata.%s: keys under %s/ must not be set by a template", kind, field, v1alpha1.GroupName)
		}
		if _, ok := m[key].(string); !ok {
			which := "a key that is made of values"
			if o.Names(key) {
				which = strconv.Quote(shorten(key))
			}
			return broken("%s: metadata.%s: the value of %s must be a string, and is %s; pipe it through quote", kind, field, which, describe(m[key]))
		}
	}
	return nil
}

func (r *Run) admitNamespace(kind string, metadata map[string]any) *fault {
	switch namespace := metadata["namespace"]; {
	case namespace == nil || namespace == "":
		delete(metadata, "namespace")
		if !r.set.permits.clusterScoped {
			metadata["namespace"] = r.context.Namespace
		}
	case namespace != r.context.Namespace:
		return broken("%s: metadata.namespace must be that of the object that is rendered for, or left out", kind)
	}
	return nil
}

// admitContent refuses content that would lend rights, or that would make the class render itself without end, unless the kind
// is permitted by name; the class is refused always.
func (r *Run) admitContent(u *unit, gvk schema.GroupVersionKind, o *unstructured.Unstructured) *fault {
	if gvk.Group == "gateway.networking.k8s.io" && gvk.Kind == "Gateway" {
		rendered, _, _ := unstructured.NestedString(o.Object, "spec", "gatewayClassName")
		own, _, _ := unstructured.NestedString(r.context.Class, "metadata", "name")
		if rendered != "" && rendered == own {
			return broken("Gateway: spec.gatewayClassName is the class that is being rendered, so this would never end")
		}
	}
	if f := r.admitParents(gvk, o); f != nil {
		return f
	}
	if r.set.permits.kinds[gvk.GroupKind()] {
		return nil
	}
	if gvk.Group == "" && gvk.Kind == "Secret" && o.Object["type"] == "kubernetes.io/service-account-token" {
		return broken("Secret: a token of a service account must be permitted by name; list all kinds of the blueprint in spec.permits.kinds")
	}
	return r.admitAccount(u, gvk.Kind, o)
}

// admitParents refuses a route that is rendered for a route and attaches to the same Gateway, be it by one of its ListenerSets: it
// would be rendered for in turn.
func (r *Run) admitParents(gvk schema.GroupVersionKind, o *unstructured.Unstructured) *fault {
	if r.set.routeKind == "" || gvk.Group != gatewayv1.GroupName || !strings.HasSuffix(gvk.Kind, "Route") {
		return nil
	}
	refs, _, _ := unstructured.NestedSlice(o.Object, "spec", "parentRefs")
	for i, item := range refs {
		ref, _ := item.(map[string]any)
		kind, _ := ref["kind"].(string)
		kind = cmp.Or(kind, "Gateway")
		if means(ref["group"], gatewayv1.GroupName) && r.isOwnParent(kind, ref) {
			return broken("%s: spec.parentRefs[%d] is the %s that is being rendered, so this would never end", gvk.Kind, i, kind)
		}
	}
	return nil
}

// isOwnParent says whether a reference is to the Gateway, or to a ListenerSet of it that the templates know of.
func (r *Run) isOwnParent(kind string, ref map[string]any) bool {
	namespace := ref["namespace"]
	if means(namespace, "") {
		namespace = r.context.Namespace
	}
	is := func(own map[string]any) bool {
		return own["kind"] == kind && own["name"] == ref["name"] && own["namespace"] == namespace
	}
	metadata, _ := r.context.Gateway["metadata"].(map[string]any)
	if kind == "Gateway" {
		return metadata["name"] == ref["name"] && metadata["namespace"] == namespace
	}
	return is(r.context.ParentRef) || slices.ContainsFunc(r.context.Listeners, func(item any) bool {
		listener, _ := item.(map[string]any)
		source, _ := listener["source"].(map[string]any)
		return is(source)
	})
}

// means says whether a field says something, or does not say anything, which is the same.
func means(field any, what string) bool { return field == nil || field == what }

// podSpecs are the places of the specs of Pods: in a Pod, in what makes Pods (Deployment, Job and so on, whosever kind it is), in a
// CronJob, and in a PodTemplate.
var podSpecs = [][]string{{"spec"}, {"spec", "template", "spec"}, {"spec", "jobTemplate", "spec", "template", "spec"}, {"template", "spec"}}

// admitAccount refuses Pods that run as a service account other than the one that every Pod has, or one that is rendered beside.
func (r *Run) admitAccount(u *unit, kind string, o *unstructured.Unstructured) *fault {
	for _, place := range podSpecs {
		nested, _, _ := unstructured.NestedFieldNoCopy(o.Object, place...)
		spec, ok := nested.(map[string]any)
		if !ok || spec["containers"] == nil {
			continue
		}
		// The second is the first under its old name.
		for _, field := range []string{"serviceAccountName", "serviceAccount"} {
			if account := spec[field]; account != nil && account != "" && account != "default" && !r.rendersAccount(u, account) {
				return broken("%s: %s.%s lends the rights of that account: name one that another template renders and that this one reads, "+
					"as in {{ .Resources.account.metadata.name }}, or list all kinds of the blueprint in spec.permits.kinds",
					kind, strings.Join(place, "."), field)
			}
		}
	}
	return nil
}

// rendersAccount says whether a service account is one of this Run. It must be of a template that this one reads: then it is there
// and belongs to us, while one that is merely rendered too may have the name of one that somebody else has given rights.
func (r *Run) rendersAccount(u *unit, account any) bool {
	for i, sibling := range r.set.units {
		if !slices.Contains(u.reads, sibling.source.name) {
			continue
		}
		for _, o := range r.outcomes[i].objects {
			if o.GroupVersionKind().GroupKind() == (schema.GroupKind{Kind: "ServiceAccount"}) && o.GetName() == account {
				return true
			}
		}
	}
	return false
}
