package desired

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/render"
	"github.com/gatewright/gatewright/values"
)

// Inputs are what the objects of a Gateway and of its routes are made from.
type Inputs struct {
	// Snapshot is what is known of the Gateway; Merged is what package gateway made of it.
	Snapshot gateway.Snapshot
	Merged   gateway.Merged
	// Program is the compiled blueprint, and Blueprint are its own values.
	Program   *render.Program
	Blueprint *values.Policy
	// BlueprintGeneration is the generation that Program was compiled from.
	BlueprintGeneration int64
	// Policies are those of the snapshot, parsed.
	Policies []*values.Policy
	// ControllerNamespace is where policies reach all Gateways of a class.
	ControllerNamespace string
	// ClusterScoped says whether a kind has no namespaces; nil means that none is known not to.
	ClusterScoped func(schema.GroupVersionKind) bool
	// OwnClass says whether a GatewayClass of that name is ours; nil means that none is known to be.
	OwnClass func(name string) bool
	// Begun says whether there are objects that were rendered for the Gateway itself; nil means that none are known. It is asked when
	// somebody wants to know what holds a rendering.
	Begun func() bool
}

// Parent is one rendering: of a Gateway, or of a route under one of its parents.
type Parent struct {
	// Owner is the Gateway or route.
	Owner Owner
	// Under is the route's parent that is rendered for; nil for a Gateway.
	Under *gateway.Parent
	// Values are the effective values that its templates read.
	Values values.Effective
	// Listeners are the values that are effective for each merged listener of a Gateway; nil for a route, and where no template
	// of the blueprint reads what is said of listeners only.
	Listeners []values.Effective

	// ServiceAccount is the one as which objects are applied; empty if it is the controller itself.
	ServiceAccount types.NamespacedName

	kinds []schema.GroupVersionKind
	set   *render.Set
	run   *render.Run

	clusterScoped          func(schema.GroupVersionKind) bool
	clusterScopedPermitted bool

	marks    marks
	ownClass func(name string) bool
	accepted verdict.Verdict
	begun    func() bool
	// read are the values of listeners, and of the rules of the route, that the templates read.
	read   []values.Effective
	inputs func() string
	// secrets are the sensitive ones among the values that the templates read.
	secrets func() values.Secrets
}

// Gateway begins the rendering of the Gateway.
func Gateway(in Inputs) *Parent {
	owner := OwnerOf(string(gateway.KindGateway), in.Merged.Gateway)
	target, listenerValues := in.target(), sync.OnceValue(in.listenerValues)
	p := in.begin(owner, nil, in.Program.Gateway, in.commonTo(in.Program.Gateway, listenerValues), in.values(target))
	p.marks = marksOf(in.Merged.Gateway)
	if len(target.Unread) < len(readers) {
		p.Listeners = listenerValues()
	}
	return p
}

// common is what the renderings of a set of templates for one Gateway have in common.
type common struct {
	render.Context
	// listeners are the values of listeners; nil where they are not read.
	listeners []values.Effective
}

// commonTo gathers what the renderings of a set have in common. The values of listeners, which may be many, are computed only
// for templates that read them.
func (in Inputs) commonTo(set *render.Set, listenerValues func() []values.Effective) common {
	uses := set.Uses()
	var c common
	if uses.ListenerValues {
		c.listeners = listenerValues()
	}
	c.Context = in.context(uses, c.listeners)
	return c
}

// Route begins the rendering of a route under each parent that accepts it, in the order of the route's parentRefs. There is
// none if the blueprint has no template for the kind of the route.
func Route(in Inputs, attachment gateway.Attachment) []*Parent {
	set, ok := in.Program.Routes[attachment.Route.Kind]
	if !ok {
		return nil
	}
	return in.route(attachment, set, in.commonTo(set, in.listenerValues))
}

// Routes begins the renderings of all routes of the Gateway, as Route does for one, in the order of their attachments.
func Routes(in Inputs) []*Parent {
	var parents []*Parent
	listenerValues := sync.OnceValue(in.listenerValues)
	byKind := map[gatewayv1.Kind]common{}
	for kind, set := range in.Program.Routes {
		byKind[kind] = in.commonTo(set, listenerValues)
	}
	for _, attachment := range in.Merged.Attachments {
		if set, ok := in.Program.Routes[attachment.Route.Kind]; ok {
			parents = append(parents, in.route(attachment, set, byKind[attachment.Route.Kind])...)
		}
	}
	return parents
}

// route begins the renderings of a route, with what it has in common with all others of its kind.
func (in Inputs) route(attachment gateway.Attachment, set *render.Set, shared common) []*Parent {
	owner := OwnerOf(string(attachment.Route.Kind), attachment.Route.Object)
	var parents []*Parent
	for i := range attachment.Parents {
		under := &attachment.Parents[i]
		if !under.Accepted.OK {
			continue
		}
		effective := in.values(in.routeTarget(attachment.Route, *under))
		c := shared
		c.Route = routeMap(attachment.Route)
		c.Hostnames = render.Hostnames(in.Merged.HostnamesWith(attachment))
		c.ParentRef = parentMap(in.Merged, *under)
		var rules []values.Effective
		if set.Uses().Rules {
			rules = in.ruleValues(attachment.Route, *under, effective)
			c.Rules = rulesList(attachment.Route, rules)
		}
		p := in.begin(owner, under, set, c, effective)
		p.read = slices.Concat(p.read, rules)
		parents = append(parents, p)
	}
	return parents
}

// begin begins a rendering whose templates read effective values, and those of the listeners.
func (in Inputs) begin(owner Owner, under *gateway.Parent, set *render.Set, c common, effective values.Effective) *Parent {
	c.Values, c.Namespace = effective.Tree, owner.Namespace
	p := &Parent{Owner: owner, Under: under, Values: effective, kinds: in.Program.Kinds(), set: set, run: set.Start(c.Context)}
	p.ServiceAccount = in.Program.ServiceAccount()
	p.read = c.listeners
	p.ownClass, p.accepted, p.begun = in.OwnClass, in.Merged.Accepted, in.Begun
	p.clusterScoped, p.clusterScopedPermitted = in.ClusterScoped, in.Program.ClusterScopedPermitted()
	p.inputs = sync.OnceValue(func() string { return fingerprint(in.BlueprintGeneration, c.Context) })
	p.secrets = sync.OnceValue(func() values.Secrets { return values.SecretsOf(append(slices.Clone(p.read), effective)...) })
	return p
}

// Observed hands out the live objects of a template, as they were last seen.
type Observed = render.Observed

// Advance renders what can be rendered now and was not yet, and returns the new objects in the order in which they are to
// be applied, with the marks of ownership on them.
func (p *Parent) Advance(observed Observed) []render.Object {
	objects := p.run.Advance(observed)
	for _, object := range objects {
		namespace := p.Owner.Namespace
		if p.isClusterScoped(object.Unstructured) {
			namespace = ""
		}
		object.SetNamespace(namespace)
		if depth := p.set.Depth(object.Template); depth > 0 {
			setAnnotation(object.Unstructured, v1alpha1.AnnotationOrder, strconv.Itoa(depth))
		}
		p.Owner.stamp(object.Template, object.Unstructured, p.marks, p.ServiceAccount)
	}
	return objects
}

func setAnnotation(o *unstructured.Unstructured, key, value string) {
	annotations := o.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	o.SetAnnotations(annotations)
}

// Kinds are all that objects of the rendering may have.
func (p *Parent) Kinds() []schema.GroupVersionKind { return p.kinds }

// Templates are the names of the templates, in the order in which their objects are applied.
func (p *Parent) Templates() []string { return p.set.Names() }

// maxReasons is how many reasons a message lists.
const maxReasons = 3

// Held says why the rendering must stay as it is, or nil: the Gateway is not accepted and nothing of it is there yet, or its values
// are not known or must not be put into effect, since the parameters that it asks for are not there, a policy that guards them cannot
// be read, or they are not as the blueprint's schema says. Policy, path and what is wrong are named, values never.
//
// What is there of a Gateway that is not accepted any more goes on with the listeners that are left, so that what was withdrawn goes.
func (p *Parent) Held() *verdict.Verdict {
	unknown := p.accepted.Reason == string(gatewayv1.GatewayReasonInvalidParameters)
	if !p.accepted.OK && (unknown || p.begun == nil || !p.begun()) {
		v := verdict.No(v1alpha1.ReasonInvalid, "the Gateway is not accepted: %s", p.accepted.Message)
		return &v
	}
	var reasons []string
	for _, read := range p.Reads() {
		reasons = append(reasons, read.Blocked()...)
	}
	if len(reasons) == 0 {
		return nil
	}
	slices.Sort(reasons)
	reasons = slices.Compact(reasons)
	more := ""
	if len(reasons) > maxReasons {
		more = fmt.Sprintf("; and %d more", len(reasons)-maxReasons)
		reasons = reasons[:maxReasons]
	}
	v := verdict.No(v1alpha1.ReasonFailed, "%s%s", strings.Join(reasons, "; "), more)
	return &v
}

// Reads are all values that the rendering waits for: its own first, then those of listeners and of rules that its templates read.
func (p *Parent) Reads() []values.Effective { return append([]values.Effective{p.Values}, p.read...) }

// Redacted is a rendered object for people to see, without the sensitive values that its templates read. Values that a template
// has changed are not found.
func (p *Parent) Redacted(object *unstructured.Unstructured) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: p.secrets().Hide(object.Object)}
}

// Ready says what the blueprint says of the readiness of a live object of a template; nil if it says nothing.
func (p *Parent) Ready(template string, live *unstructured.Unstructured) *render.Readiness {
	return p.set.Ready(template, live)
}

// Recreates says whether objects of a template may be deleted and created anew to change what is immutable.
func (p *Parent) Recreates(template string) bool { return p.set.Recreates(template) }

// Inputs is a fingerprint of what is rendered from, apart from live objects.
func (p *Parent) Inputs() string { return p.inputs() }

// fingerprint is over the JSON of what templates read, of which the keys are sorted.
func fingerprint(blueprintGeneration int64, c render.Context) string {
	text, err := json.Marshal(c)
	if err != nil {
		// Only a value that no YAML text yields cannot be encoded.
		return ""
	}
	sum := sha256.Sum256(strconv.AppendInt(text, blueprintGeneration, 10))
	return string(sum[:16])
}

// Result is what became of every template so far.
func (p *Parent) Result() render.Result { return p.run.Result() }

// Status renders the status template of a Gateway.
func (p *Parent) Status(observed Observed) render.Status { return p.run.Status(observed) }

// ObservedIn returns the live objects of a list, by template.
func ObservedIn(live []*unstructured.Unstructured, label string) Observed {
	byTemplate := map[string][]*unstructured.Unstructured{}
	for _, o := range live {
		template := o.GetLabels()[label]
		byTemplate[template] = append(byTemplate[template], o)
	}
	return func(template string) []*unstructured.Unstructured { return slices.Clone(byTemplate[template]) }
}
