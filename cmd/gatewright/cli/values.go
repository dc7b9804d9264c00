package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

type valuesOptions struct {
	inputOptions
	outputOption
	gateway string
	// routes are the names of routes, by kind.
	routes           map[gatewayv1.Kind]*string
	listener, parent string
	sensitive        bool
}

func newValues(name string, streams Streams) *cobra.Command {
	o := valuesOptions{routes: map[gatewayv1.Kind]*string{}}
	c := newReader(&cobra.Command{
		Use:   "values [-f FILE|DIR ...] (--gateway NAMESPACE/NAME | --httproute NAMESPACE/NAME | ...)",
		Short: "Print effective values, and who set them",
		Long: `Prints the values that templates read as .Values, with the origin of every leaf: who set it, in which block and at which
level, and whom that shadows; then what was removed, and which blocks are inactive and why.

For a Gateway they are those of its own templates or, with --listener, those of one of its listeners, named as in .Listeners.
For a route, of whatever kind, there is one set of values for each parent that accepts it; --parent and --listener choose among
them.`,
		Example: examples(name, `
gatewright values -f samples/tenants --gateway tenant-red/edge
gatewright values -f samples/tenants --gateway tenant-red/edge -o json
gatewright values --gateway shop/edge --listener https
gatewright values --httproute shop/cart --parent Gateway/shop/edge`),
		Args: noArguments,
	}, &o.inputOptions, &o.outputOption, o.run, streams, outputTable, outputJSON, outputYAML)
	f := c.Flags()
	f.StringVar(&o.gateway, "gateway", "", "the Gateway (NAMESPACE/NAME)")
	for _, kind := range gateway.RouteKinds {
		o.routes[kind] = f.String(routeFlag(kind), "", fmt.Sprintf("the %s (NAMESPACE/NAME)", kind))
	}
	f.StringVar(&o.listener, "listener", "", "a listener of the Gateway; for a route, the sectionName of its parentRef")
	f.StringVar(&o.parent, "parent", "", "one parent of the route: [KIND/]NAMESPACE/NAME")
	f.BoolVar(&o.sensitive, "show-sensitive", false, "print sensitive values too, which the blueprint's schema wants hidden")
	return c
}

// routeFlag is the flag that names a route of a kind.
func routeFlag(kind gatewayv1.Kind) string { return strings.ToLower(string(kind)) }

// subject is something that has values.
type subject struct {
	name string
	// parent is the one that a route's values are for; "" for all else.
	parent string
	values values.Effective
	// held says what else keeps the values from being put into effect, if anything does.
	held *verdict.Verdict
}

// title is the whole name.
func (s subject) title() string {
	if s.parent == "" {
		return s.name
	}
	return s.name + " under " + s.parent
}

func (o *valuesOptions) run(ctx context.Context, streams Streams, _ []string) error {
	find, err := o.chosen()
	if err != nil {
		return err
	}
	s, r, err := o.open(ctx, streams)
	if err != nil {
		return err
	}
	subjects, err := find(s, r)
	if err != nil {
		return err
	}
	if o.sensitive {
		for i := range subjects {
			subjects[i].values.Sensitive = nil
		}
	}
	if err := printValues(streams.Out, o.output, subjects); err != nil {
		return err
	}
	return reportValues(r, subjects, o.output == outputTable)
}

// chosen is what finds the one thing whose values are asked for.
func (o *valuesOptions) chosen() (func(*session, *report) ([]subject, error), error) {
	flags := []string{"--gateway"}
	var routes []gatewayv1.Kind
	for _, kind := range gateway.RouteKinds {
		flags = append(flags, "--"+routeFlag(kind))
		if *o.routes[kind] != "" {
			routes = append(routes, kind)
		}
	}
	switch {
	case o.gateway != "" && len(routes) == 0 && o.parent != "":
		return nil, misused("--parent is for routes")
	case o.gateway != "" && len(routes) == 0:
		return o.ofGateway, nil
	case o.gateway == "" && len(routes) == 1:
		return func(s *session, r *report) ([]subject, error) { return o.ofRoute(routes[0], s, r) }, nil
	}
	last := len(flags) - 1
	return nil, misused("exactly one of %s and %s is needed", strings.Join(flags[:last], ", "), flags[last])
}

func (o *valuesOptions) ofGateway(s *session, r *report) ([]subject, error) {
	key, err := nameOf("gateway", o.gateway, s.namespace)
	if err != nil {
		return nil, err
	}
	in, err := s.inputs(key)
	if err != nil {
		return nil, err
	}
	s.reportPolicies(r, s.everyInputs(), in.Snapshot.Policies)
	reaches := desired.Reaches(in)
	name := fmt.Sprintf("Gateway %s", key)
	var held *verdict.Verdict
	if in.Program != nil {
		held = desired.Gateway(in).Held()
	}
	if o.listener == "" {
		return []subject{{name: name, values: reaches[0].Values, held: held}}, nil
	}
	for _, reach := range reaches {
		if l := reach.Listener; l != nil && string(l.Name) == o.listener {
			return []subject{{name: name + ", listener " + o.listener, values: reach.Values, held: held}}, nil
		}
	}
	return nil, noSuchListener(name, o.listener, in.Merged)
}

// noSuchListener says which listeners there are, and which of them is perhaps meant.
func noSuchListener(name, wanted string, m gateway.Merged) error {
	var accepted, refused []string
	for _, l := range m.Listeners {
		source := fmt.Sprintf("%s %s/%s", l.Source.Kind, l.Source.Namespace, l.Source.Name)
		switch {
		case l.Usable:
			accepted = append(accepted, fmt.Sprintf("%s (%s)", l.Name, source))
		case string(l.Source.SectionName) == wanted:
			refused = append(refused, fmt.Sprintf("; that of %s is not accepted (%s)", source, l.Accepted.Reason))
		}
	}
	return fmt.Errorf("%s has no listener %s%s; there are %s", name, wanted, strings.Join(refused, ""), strings.Join(accepted, ", "))
}

// ofRoute finds a route under each parent that accepts it, whosever Gateway that is, and tells of the parents that do not.
func (o *valuesOptions) ofRoute(kind gatewayv1.Kind, s *session, r *report) ([]subject, error) {
	key, err := nameOf(routeFlag(kind), *o.routes[kind], s.namespace)
	if err != nil {
		return nil, err
	}
	meant := func(r gateway.Route) bool { return r.Kind == kind && keyOf(r.Object) == key }
	name := fmt.Sprintf("%s %s", kind, key)
	if !slices.ContainsFunc(s.objects.Routes, meant) {
		return nil, fmt.Errorf("%s: not found%s", name, others(s.objects.Routes, kind, key))
	}
	var found []subject
	for _, gw := range s.gateways() {
		in, err := s.inputs(gw)
		if err != nil || !o.judge(meant, in.Merged, r) {
			continue
		}
		s.reportInvalid(r, in)
		renderings := renderingsOf(in)
		for _, reach := range desired.Reaches(in) {
			if reach.Route != nil && meant(*reach.Route) && o.wants(*reach.Under) {
				s.reportRefused(r, in, reach.Values)
				of := subject{name: name, parent: parentName(*reach.Under), values: reach.Values}
				if reach.Rule != "" {
					of.name += ", rule " + string(reach.Rule)
				}
				if rendering := renderings[reach.Under]; rendering != nil {
					of.held = rendering.Held()
				}
				found = append(found, of)
			}
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s: there is no parent that accepts it%s", name, o.among())
	}
	return found, nil
}

// renderingsOf are those of the routes of a Gateway, by the parent that each is under. Routes of a kind that the blueprint has no
// templates for have none.
func renderingsOf(in desired.Inputs) map[*gateway.Parent]*desired.Parent {
	byParent := map[*gateway.Parent]*desired.Parent{}
	if in.Program == nil {
		return byParent
	}
	for _, rendering := range desired.Routes(in) {
		byParent[rendering.Under] = rendering
	}
	return byParent
}

// others names the routes of other kinds that have a name.
func others(routes []gateway.Route, kind gatewayv1.Kind, key types.NamespacedName) string {
	var names []string
	for _, r := range routes {
		if r.Kind != kind && keyOf(r.Object) == key {
			names = append(names, "--"+routeFlag(r.Kind))
		}
	}
	if len(names) == 0 {
		return ""
	}
	slices.Sort(names)
	return "; there is one of that name for " + strings.Join(names, " and ")
}

// judge tells which wanted parents of the route that is meant do not accept it, and says whether any does.
func (o *valuesOptions) judge(meant func(gateway.Route) bool, m gateway.Merged, r *report) (accepted bool) {
	for _, attachment := range m.Attachments {
		if !meant(attachment.Route) {
			continue
		}
		for _, parent := range attachment.Parents {
			if o.wants(parent) {
				r.refused(routeName(attachment.Route, parent), parent.Accepted)
				accepted = accepted || parent.Accepted.OK
			}
		}
	}
	return accepted
}

// wants says whether --parent and --listener mean a parent.
func (o *valuesOptions) wants(parent gateway.Parent) bool {
	if o.listener != "" && (parent.Ref.SectionName == nil || string(*parent.Ref.SectionName) != o.listener) {
		return false
	}
	short := parent.Key.String()
	return o.parent == "" || o.parent == short || strings.EqualFold(o.parent, string(parent.Key.Kind)+"/"+short)
}

// among repeats what the parents were chosen by.
func (o *valuesOptions) among() string {
	var flags []string
	if o.parent != "" {
		flags = append(flags, "--parent "+o.parent)
	}
	if o.listener != "" {
		flags = append(flags, "--listener "+o.listener)
	}
	if len(flags) == 0 {
		return ""
	}
	return " among those that " + strings.Join(flags, " and ") + " choose"
}

// reportValues tells what authors should hear about, where the format has no place for it. Values that are not in effect are an
// error.
func reportValues(r *report, subjects []subject, warnings bool) error {
	var why []string
	for _, s := range subjects {
		if warnings {
			r.warn(s.title(), s.values.Warnings)
		}
		blocked := s.values.Blocked()
		if len(blocked) == 0 && s.held != nil {
			blocked = []string{s.held.Message}
		}
		why = append(why, blocked...)
	}
	if len(why) == 0 {
		return nil
	}
	slices.Sort(why)
	return fmt.Errorf("these values are not in effect, and what is rendered stays as it is:\n  %s", strings.Join(slices.Compact(why), "\n  "))
}
