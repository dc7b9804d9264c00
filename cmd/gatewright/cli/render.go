package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/render"
)

type renderOptions struct {
	inputOptions
	outputOption
	gateway string
}

func newRender(name string, streams Streams) *cobra.Command {
	var o renderOptions
	c := newReader(&cobra.Command{
		Use:   "render [-f FILE|DIR ...] [--gateway NAMESPACE/NAME]",
		Short: "Print the objects that the controller would apply",
		Long: `Prints the objects that the controller would apply for Gateways and their routes, sorted by namespace, kind and name.
Whatever is not accepted is told on standard error, with the reason; so is what is pending, since it waits for live objects,
and what failed. What could be rendered is printed all the same, and then the exit code is 1. Addresses that are still waited
for do not count: no object depends on them.

--observed stands in for live objects, as kubectl get -o yaml prints them. When a cluster is read, they come from there.

Files are not validated as an API server does it: only what gets in the way is told.`,
		Example: examples(name, `
gatewright render -f samples/quickstart
gatewright render -f gateway.yaml -f platform/ --gateway shop/edge -o json
gatewright render -f samples/quickstart --observed live.yaml
gatewright render --context staging --gateway shop/edge`),
		Args: noArguments,
	}, &o.inputOptions, &o.outputOption, o.run, streams, outputYAML, outputJSON)
	c.Flags().StringVar(&o.gateway, "gateway", "", "render this Gateway (NAMESPACE/NAME) only; else all of our classes")
	c.Flags().StringSliceVar(&o.observed, "observed", nil, "files or directories with live objects, for .Resources")
	return c
}

func (o *renderOptions) run(ctx context.Context, streams Streams, _ []string) error {
	s, told, err := o.open(ctx, streams)
	if err != nil {
		return err
	}
	r := &renderer{session: s, report: told}
	if err := r.choose(o.gateway); err != nil {
		return err
	}
	if err := r.observe(ctx); err != nil {
		return err
	}
	r.render(o.gateway == "")
	if err := printObjects(streams.Out, o.output, r.rendered); err != nil {
		return err
	}
	return r.report.verdict()
}

// renderer renders Gateways and their routes.
type renderer struct {
	*session
	report *report
	// all are what the Gateways are made from, as far as that is known; chosen are those that are rendered. Both are in order.
	all, chosen []desired.Inputs
	// seen are the live objects.
	seen     []*unstructured.Unstructured
	rendered []*unstructured.Unstructured
}

// choose finds the Gateways to render: the one that is named, or else all of our classes.
func (r *renderer) choose(name string) error {
	if name != "" {
		return r.chooseOne(name)
	}
	for _, key := range r.gateways() {
		in, err := r.inputs(key)
		if err == nil {
			r.all = append(r.all, in)
			err = r.compile(&in)
		}
		switch {
		case err == nil:
			r.chosen = append(r.chosen, in)
		case errors.Is(err, gateway.ErrForeignClass):
		case errors.Is(err, gateway.ErrClassNotFound):
			r.report.notes([]string{err.Error() + "; passed over"})
		default:
			r.report.failed("Gateway "+key.String(), err.Error())
		}
	}
	if len(r.chosen) == 0 && r.report.broken == 0 {
		return fmt.Errorf("there is no Gateway of a GatewayClass whose controllerName is %s", v1alpha1.ControllerName)
	}
	return nil
}

func (r *renderer) chooseOne(name string) error {
	key, err := nameOf("gateway", name, r.namespace)
	if err != nil {
		return err
	}
	in, err := r.inputs(key)
	if err != nil {
		return err
	}
	if err := r.compile(&in); err != nil {
		return err
	}
	r.chosen = []desired.Inputs{in}
	r.all = r.everyInputs()
	return nil
}

// observe looks at live objects, if there is a template that reads them, or a Gateway that is not accepted: it goes on if anything
// of it is there.
func (r *renderer) observe(ctx context.Context) error {
	var kinds []schema.GroupVersionKind
	for _, in := range r.chosen {
		if !readsResources(in.Program) && in.Merged.Accepted.OK {
			continue
		}
		for _, kind := range in.Program.Kinds() {
			if !slices.Contains(kinds, kind) {
				kinds = append(kinds, kind)
			}
		}
	}
	var notes []string
	var err error
	r.seen, notes, err = r.live.ofKinds(ctx, kinds)
	r.report.notes(notes)
	for i := range r.chosen {
		r.chosen[i].Begun = r.begun(r.chosen[i])
	}
	return err
}

// begun says, when asked, whether anything that was rendered for a Gateway is there.
func (r *renderer) begun(in desired.Inputs) func() bool {
	owner := desired.OwnerOf(string(gateway.KindGateway), in.Merged.Gateway)
	return func() bool {
		seen := observed(r.seen, owner)
		return slices.ContainsFunc(in.Program.Gateway.Names(), func(template string) bool { return len(seen(template)) > 0 })
	}
}

func readsResources(p *render.Program) bool {
	if slices.ContainsFunc(p.Gateway.Names(), p.Gateway.Reads) {
		return true
	}
	for _, set := range p.Routes {
		if slices.ContainsFunc(set.Names(), set.Reads) {
			return true
		}
	}
	return false
}

// render renders what is chosen, telling of each Gateway what became of it, and then of the routes.
func (r *renderer) render(everything bool) {
	r.reportPolicies(everything)
	for _, in := range r.chosen {
		r.reportMerged(in.Merged)
		r.advance(desired.Gateway(in), desired.Claims{})
	}
	for _, renderings := range r.routes() {
		claims := desired.Claims{}
		for _, parent := range renderings {
			r.advance(parent, claims)
		}
	}
	if everything {
		r.reportLost()
	}
}

// routes are the renderings of each route, in the order in which it names its parents, whosever Gateways those are.
func (r *renderer) routes() [][]*desired.Parent {
	routes := map[string][]*desired.Parent{}
	refs := map[string][]gatewayv1.ParentReference{}
	for _, in := range r.chosen {
		for _, parent := range desired.Routes(in) {
			owner := parent.Owner.String()
			routes[owner] = append(routes[owner], parent)
		}
		for _, attachment := range in.Merged.Attachments {
			route := attachment.Route
			refs[desired.OwnerOf(string(route.Kind), route.Object).String()] = route.ParentRefs
		}
	}
	var sorted [][]*desired.Parent
	for _, owner := range slices.Sorted(maps.Keys(routes)) {
		slices.SortStableFunc(routes[owner], func(a, b *desired.Parent) int {
			return slices.Index(refs[owner], a.Under.Ref) - slices.Index(refs[owner], b.Under.Ref)
		})
		sorted = append(sorted, routes[owner])
	}
	return sorted
}

// advance renders as far as what is live permits, and keeps the objects. claims are those of the owner's renderings so far.
func (r *renderer) advance(parent *desired.Parent, claims desired.Claims) {
	subject := subjectOf(parent)
	if held := parent.Held(); held != nil {
		r.report.failed(subject, held.Message)
		return
	}
	live := observed(r.seen, parent.Owner)
	sound := true
	for objects := parent.Advance(live); len(objects) > 0; objects = parent.Advance(live) {
		if taken := claims.Claim(parent, objects); taken != nil {
			r.report.failed(subject, taken.Message)
			sound = false
			break
		}
		for _, object := range objects {
			r.rendered = append(r.rendered, object.Unstructured)
		}
	}
	r.reportResult(subject, parent, live, sound)
}

// subjectOf names a rendering for people.
func subjectOf(parent *desired.Parent) string {
	subject := fmt.Sprintf("%s %s", parent.Owner.Kind, parent.Owner.Key())
	if parent.Under != nil {
		subject += " under " + parentName(*parent.Under)
	}
	return subject
}

// routeName names a route under one of its parents.
func routeName(route gateway.Route, parent gateway.Parent) string {
	return fmt.Sprintf("%s %s under %s", route.Kind, keyOf(route.Object), parentName(parent))
}

// parentName names a parent as a route names it.
func parentName(parent gateway.Parent) string {
	name := fmt.Sprintf("%s %s", parent.Key.Kind, parent.Key.NamespacedName)
	if parent.Ref.SectionName != nil {
		name += fmt.Sprintf(", listener %s", *parent.Ref.SectionName)
	}
	if parent.Ref.Port != nil {
		name += fmt.Sprintf(", port %d", *parent.Ref.Port)
	}
	return name
}
