package golden

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// report is what became of a world, in an order and a wording that is good to read and to compare.
type report struct {
	Policies []string        `json:"policies,omitempty"`
	Gateways []gatewayReport `json:"gateways"`
}

type gatewayReport struct {
	Gateway      string           `json:"gateway"`
	NotRendered  string           `json:"notRendered,omitempty"`
	Accepted     string           `json:"accepted,omitempty"`
	Listeners    []listenerReport `json:"listeners,omitempty"`
	ListenerSets []setReport      `json:"listenerSets,omitempty"`
	Hostnames    hostnamesReport  `json:"hostnames"`
	*rendering
	Addresses []string      `json:"addresses,omitempty"`
	Routes    []routeReport `json:"routes,omitempty"`
}

type listenerReport struct {
	Name           string `json:"name,omitempty"`
	Source         string `json:"source"`
	Accepted       string `json:"accepted"`
	ResolvedRefs   string `json:"resolvedRefs"`
	AttachedRoutes int32  `json:"attachedRoutes"`
}

type hostnamesReport struct {
	Union        []string `json:"union"`
	Intersection []string `json:"intersection"`
}

type setReport struct {
	ListenerSet string `json:"listenerSet"`
	Attached    bool   `json:"attached"`
	Accepted    string `json:"accepted"`
	Programmed  string `json:"programmed"`
}

type routeReport struct {
	Route    string `json:"route"`
	Parent   string `json:"parent"`
	Accepted string `json:"accepted"`
	*rendering
}

// rendering is what the templates of one Gateway, or of one route under one parent, read and yielded.
type rendering struct {
	Values  values.Tree       `json:"values,omitempty"`
	Origins map[string]string `json:"origins,omitempty"`
	Held    string            `json:"held,omitempty"`
	Objects []map[string]any  `json:"objects,omitempty"`
	Pending []string          `json:"pending,omitempty"`
	Failed  []string          `json:"failed,omitempty"`
}

// judge takes a world through the pure rooms.
func judge(w world) report {
	var out report
	policies := map[v1alpha1.Policy]*values.Policy{}
	for _, p := range w.objects.ClassConfigs {
		out.parse(p, policies)
	}
	for _, p := range w.objects.Configs {
		out.parse(p, policies)
	}
	slices.Sort(out.Policies)
	for _, gw := range w.objects.Gateways {
		out.Gateways = append(out.Gateways, w.gateway(gw, policies))
	}
	slices.SortFunc(out.Gateways, func(a, b gatewayReport) int { return cmp.Compare(a.Gateway, b.Gateway) })
	return out
}

func (r *report) parse(p v1alpha1.Policy, into map[v1alpha1.Policy]*values.Policy) {
	parsed, v := values.Parse(p)
	if parsed != nil {
		into[p] = parsed
	}
	r.Policies = append(r.Policies, fmt.Sprintf("%s/%s/%s: %s", p.PolicyKind(), p.GetNamespace(), p.GetName(), say(v)))
}

func (w world) gateway(gw *gatewayv1.Gateway, policies map[v1alpha1.Policy]*values.Policy) gatewayReport {
	key := types.NamespacedName{Namespace: gw.Namespace, Name: gw.Name}
	out := gatewayReport{Gateway: key.String()}
	in, err := w.inputs(key, policies)
	if err != nil {
		out.NotRendered = err.Error()
		return out
	}
	out.describe(in.Merged)
	parent := desired.Gateway(in)
	out.rendering = w.render(parent)
	out.status(parent, w.observed())
	for _, attachment := range in.Merged.Attachments {
		out.Routes = append(out.Routes, w.route(in, attachment)...)
	}
	for _, route := range out.Routes {
		route.forget(out.rendering)
	}
	return out
}

// forget leaves out the values of a route where they are those of its Gateway.
func (r *rendering) forget(of *rendering) {
	if r != nil && reflect.DeepEqual(r.Values, of.Values) && reflect.DeepEqual(r.Origins, of.Origins) {
		r.Values, r.Origins = nil, nil
	}
}

// inputs does what the controller does before it renders.
func (w world) inputs(key types.NamespacedName, policies map[v1alpha1.Policy]*values.Policy) (desired.Inputs, error) {
	snapshot, err := w.objects.Snapshot(key)
	if err != nil {
		return desired.Inputs{}, err
	}
	blueprint, v := desired.Compile(snapshot.Blueprint)
	if !v.OK {
		return desired.Inputs{}, fmt.Errorf("blueprint %s: %s", snapshot.Blueprint.Name, say(v))
	}
	in := desired.Inputs{
		Snapshot: snapshot, Merged: gateway.Merge(snapshot), Program: blueprint.Program, Blueprint: blueprint.Values,
		ControllerNamespace: v1alpha1.DefaultControllerNamespace,
		Begun:               func() bool { return len(w.live) > 0 },
	}
	for _, p := range snapshot.Policies {
		if parsed := policies[p]; parsed != nil {
			in.Policies = append(in.Policies, parsed)
		}
	}
	return in, nil
}

func (r *gatewayReport) describe(m gateway.Merged) {
	r.Accepted = say(m.Accepted)
	r.Hostnames = hostnamesReport(m.Hostnames)
	for _, l := range m.Listeners {
		r.Listeners = append(r.Listeners, describeListener(l))
	}
	for _, set := range m.ListenerSets {
		r.ListenerSets = append(r.ListenerSets, setReport{
			ListenerSet: set.Object.Namespace + "/" + set.Object.Name, Attached: set.Attached,
			Accepted: say(set.Accepted), Programmed: say(set.Programmed),
		})
	}
}

func describeListener(l gateway.Listener) listenerReport {
	return listenerReport{
		Name:     string(l.Name),
		Source:   fmt.Sprintf("%s/%s/%s/%s", l.Source.Kind, l.Source.Namespace, l.Source.Name, l.Source.SectionName),
		Accepted: say(l.Accepted), ResolvedRefs: say(l.ResolvedRefs), AttachedRoutes: l.AttachedRoutes,
	}
}

// route pairs the renderings of a route with its parents: there is one for each parent that accepts it.
func (w world) route(in desired.Inputs, attachment gateway.Attachment) []routeReport {
	rendered := map[*gateway.Parent]*desired.Parent{}
	for _, parent := range desired.Route(in, attachment) {
		rendered[parent.Under] = parent
	}
	var out []routeReport
	for i := range attachment.Parents {
		under := &attachment.Parents[i]
		route := routeReport{
			Route:    fmt.Sprintf("%s/%s/%s", attachment.Route.Kind, attachment.Route.Object.GetNamespace(), attachment.Route.Object.GetName()),
			Parent:   fmt.Sprintf("%s/%s", under.Key.Kind, under.Key.NamespacedName),
			Accepted: say(under.Accepted),
		}
		if parent := rendered[under]; parent != nil {
			route.rendering = w.render(parent)
		}
		out = append(out, route)
	}
	return out
}

// render advances as far as what is live permits.
func (w world) render(parent *desired.Parent) *rendering {
	out := &rendering{Values: parent.Values.Tree, Origins: map[string]string{}}
	for _, o := range parent.Values.Origins {
		out.Origins[o.Path] = sayOrigin(o)
	}
	if held := parent.Held(); held != nil {
		out.Held = say(*held)
		return out
	}
	for len(parent.Advance(w.observed())) > 0 {
	}
	result := parent.Result()
	for _, o := range result.Objects {
		tree := o.DeepCopy()
		annotations := tree.GetAnnotations()
		// The hash says nothing that the object does not say.
		delete(annotations, v1alpha1.AnnotationRendered)
		tree.SetAnnotations(annotations)
		out.Objects = append(out.Objects, tree.Object)
	}
	for _, p := range result.Pending {
		out.Pending = append(out.Pending, p.Template+": "+p.Message)
	}
	for _, f := range result.Failed {
		out.Failed = append(out.Failed, f.Error())
	}
	return out
}

func (r *gatewayReport) status(parent *desired.Parent, observed desired.Observed) {
	s := parent.Status(observed)
	for _, a := range s.Addresses {
		kind := gatewayv1.IPAddressType
		if a.Type != nil {
			kind = *a.Type
		}
		r.Addresses = append(r.Addresses, fmt.Sprintf("%s: %s", kind, a.Value))
	}
	if s.Pending != nil {
		r.Pending = append(r.Pending, "addresses: "+s.Pending.Message)
	}
	if s.Failed != nil {
		r.Failed = append(r.Failed, s.Failed.Error())
	}
}

func (w world) observed() desired.Observed {
	return desired.ObservedIn(w.live, v1alpha1.LabelTemplate)
}

func (r report) yaml() (string, error) {
	text, err := yaml.Marshal(r)
	return string(text), err
}

func say(v verdict.Verdict) string {
	text := "False/"
	if v.OK {
		text = "True/"
	}
	text += v.Reason
	if v.Message != "" {
		text += ": " + v.Message
	}
	return text
}

func sayOrigin(o values.Origin) string {
	text := o.SetBy + " " + o.Block
	var shadowed []string
	for _, s := range o.Shadowed {
		shadowed = append(shadowed, s.SetBy+" "+s.Block)
	}
	if len(shadowed) > 0 {
		text += ", shadows " + strings.Join(shadowed, ", ")
	}
	return text
}
