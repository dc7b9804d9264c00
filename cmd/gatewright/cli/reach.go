package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

type reachOptions struct {
	inputOptions
	outputOption
	kind string
}

func newReach(name string, streams Streams) *cobra.Command {
	var o reachOptions
	c := newReader(&cobra.Command{
		Use:   "reach [-f FILE|DIR ...] KIND/NAMESPACE/NAME [PATH]",
		Short: "Print what a policy, or one of its values, reaches",
		Long: `Prints every Gateway, every listener and, under each of its parents, every route that a GatewayConfig or GatewayClassConfig
reaches, with the level at which it does and what becomes of it there: in effect; shadowed, removed or held back, and by
whom; or inactive, and why. It never prints a value.

With PATH it is about the values there and below only: a.b, a["b.c/d"] or a JSON pointer, as in spec.remove. Without, the
leaves that the policy sets are counted, those that others shadow, and those that others remove.

Target references that match nothing are told on standard error. A policy that is invalid sets nothing: what it would reach
is printed, and the exit code is 1; so it is where a blueprint's schema does not allow what the policy says.`,
		Example: examples(name, `
gatewright reach -f samples/tenants gatewayconfig/tenant-red/red-edge
gatewright reach -f samples/tenants gcc/gatewright-system/tenants-house-rules ingress.className
gatewright reach gwcfg/shop/edge '/service/annotations/example.com~1team' -o json
gatewright reach --kind GatewayConfig shop/edge`),
		Args: policyAndPath,
	}, &o.inputOptions, &o.outputOption, o.run, streams, outputTable, outputJSON, outputYAML)
	c.Flags().StringVar(&o.kind, "kind", "", "the kind of the policy, which is then named by NAMESPACE/NAME")
	complete(c, "kind", v1alpha1.KindGatewayConfig, v1alpha1.KindGatewayClassConfig)
	return c
}

// policyAndPath wants a policy and perhaps a path.
func policyAndPath(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return misused("a policy is needed: KIND/NAMESPACE/NAME, and after it perhaps a path")
	case 1, 2:
		return nil
	default:
		return misused("there are %d arguments; give one policy and at most one path", len(args))
	}
}

func (o *reachOptions) run(ctx context.Context, streams Streams, args []string) error {
	name, err := policyNamed(o.kind, args[0])
	if err != nil {
		return err
	}
	view := reachView{}
	if len(args) == 2 {
		if view.Path, err = pointerTo(args[1]); err != nil {
			return err
		}
	}
	s, r, err := o.open(ctx, streams)
	if err != nil {
		return err
	}
	p, err := s.policy(name)
	if err != nil {
		return err
	}
	view.of(s, p, r)
	if p.verdict.OK && !view.holdsPath(p) {
		return fmt.Errorf("%s has nothing at %s: it sets nothing there, and removes nothing", p, path(view.Path))
	}
	if err := view.print(streams.Out, o.output); err != nil {
		return err
	}
	switch {
	case !p.verdict.OK:
		return fmt.Errorf("%s is invalid, and so sets nothing", p)
	case slices.ContainsFunc(view.Reaches, func(row reached) bool { return len(row.Violations) > 0 }):
		return fmt.Errorf("%s says what the schema of a blueprint does not allow; there, what is rendered stays as it is", p)
	}
	return nil
}

// policyName names a policy. Namespace may be empty, which means that of the session.
type policyName struct {
	kind string
	types.NamespacedName
}

// policyKinds are what people call the kinds of policies, as kubectl lets them.
var policyKinds = map[string]string{
	"gatewayconfig": v1alpha1.KindGatewayConfig, "gatewayconfigs": v1alpha1.KindGatewayConfig, "gwcfg": v1alpha1.KindGatewayConfig,
	"gatewayclassconfig": v1alpha1.KindGatewayClassConfig, "gatewayclassconfigs": v1alpha1.KindGatewayClassConfig,
	"gcc": v1alpha1.KindGatewayClassConfig,
}

// policyNamed reads KIND/[NAMESPACE/]NAME or, if --kind gives the kind, [NAMESPACE/]NAME.
func policyNamed(kind, text string) (policyName, error) {
	form, parts := "[NAMESPACE/]NAME, since --kind is given", strings.Split(text, "/")
	if kind == "" {
		form = "KIND/[NAMESPACE/]NAME, or [NAMESPACE/]NAME with --kind"
		kind, parts = parts[0], parts[1:]
	}
	known, ok := policyKinds[strings.ToLower(kind)]
	if !ok {
		return policyName{}, misused("%q is no kind of policy; write GatewayConfig (gwcfg) or GatewayClassConfig (gcc), and the policy as %s", kind, form)
	}
	if len(parts) < 1 || len(parts) > 2 || slices.Contains(parts, "") {
		return policyName{}, misused("the policy must be given as %s, and is %q", form, text)
	}
	name := policyName{kind: known}
	name.Name = parts[len(parts)-1]
	if len(parts) == 2 {
		name.Namespace = parts[0]
	}
	return name, nil
}

// pointerTo reads a path as a policy's spec.remove has it. What a path means is decided in package values alone, and so it is
// handed there in a policy that removes it, and comes back in the warning that there was nothing to remove.
func pointerTo(text string) (string, error) {
	probe := &v1alpha1.GatewayConfig{}
	probe.Spec.TargetRefs = []v1alpha1.PolicyTargetReference{{Kind: "Namespace", Name: "any"}}
	probe.Namespace, probe.Spec.Remove = "any", []string{text}
	parsed, v := values.Parse(probe)
	if !v.OK {
		return "", misused("the path %s", strings.TrimPrefix(v.Message, "spec.remove[0] "))
	}
	t := values.Target{Gateway: values.Object{Namespace: "any"}}
	for _, w := range values.Compute(nil, []*values.Policy{parsed}, t).Warnings {
		return w.Path, nil
	}
	return "", misused("the path %q cannot be read", text)
}

// policy finds a policy. The error names those of that name that are perhaps meant.
func (s *session) policy(name policyName) (policy, error) {
	if name.Namespace == "" {
		name.Namespace = s.namespace
	}
	var others []string
	for _, p := range s.policies {
		switch {
		case p.object.PolicyKind() == name.kind && keyOf(p.object) == name.NamespacedName:
			if deleted(p.object) {
				return policy{}, fmt.Errorf("%s is being deleted, and reaches nothing any more", p)
			}
			return p, nil
		case p.object.GetName() == name.Name:
			others = append(others, p.String())
		}
	}
	hint := ""
	if len(others) > 0 {
		slices.Sort(others)
		hint = "; there is " + listed(others, " and ")
	}
	return policy{}, fmt.Errorf("%s %s: not found%s", name.kind, name.NamespacedName, hint)
}

// of finds what a policy reaches, and tells what it does not.
func (v *reachView) of(s *session, p policy, r *report) {
	v.Policy = p.parsed.Ref()
	r.refused(p.String(), p.verdict)
	matched := map[int]bool{}
	for _, key := range s.gateways() {
		in, err := s.inputs(key)
		switch {
		case errors.Is(err, gateway.ErrForeignClass):
		case err != nil && !s.concerns(p, key):
		case err != nil:
			r.say("Gateway "+key.String(), "passed over: %s", strings.TrimPrefix(err.Error(), "Gateway "+key.String()+": "))
		case slices.Contains(in.Snapshot.Policies, p.object):
			v.add(in, p, matched, r)
		}
	}
	if !p.verdict.OK {
		return
	}
	for i, target := range p.object.PolicySpec().Targets() {
		if matched[i] {
			continue
		}
		subject := fmt.Sprintf("%s, target %d", p, i+1)
		unmatched := desired.Unmatched(p.object, target, s.isOurClass(string(target.Name)), s.objects.ControllerNamespace)
		if unmatched.OK {
			r.say(subject, "%s", unmatched.Message)
		}
		r.refused(subject, unmatched)
		v.Unmatched = append(v.Unmatched, unmatchedTarget{i + 1, unmatched.Reason, unmatched.Message})
	}
}

// concerns says whether a policy may have a part in a Gateway, as far as that is known without its class.
func (s *session) concerns(p policy, gw types.NamespacedName) bool {
	return slices.Contains([]string{gw.Namespace, s.objects.ControllerNamespace}, p.object.GetNamespace())
}

// add adds what a policy reaches of one Gateway, and notes which of its target references do.
func (v *reachView) add(in desired.Inputs, p policy, matched map[int]bool, r *report) {
	reaches := desired.Reaches(in)
	held, renderings := heldGateway(in, reaches), renderingsOf(in)
	for _, reach := range reaches {
		v.refuse(in, p, reach.Values, matched, r)
		c := contribution(reach.Values, v.Policy)
		if c == nil {
			continue
		}
		for _, ref := range c.Refs {
			matched[ref] = true
		}
		row := reached{targetName: targetOf(keyOf(in.Merged.Gateway), reach), Level: c.Level}
		row.fates(reach.Values, p, v.Path)
		row.Held = held
		if reach.Route != nil {
			row.Held = heldBy(in.Merged.Accepted, reach.Values)
		}
		if rendering := renderings[reach.Under]; rendering != nil {
			row.Held = heldBy(in.Merged.Accepted, rendering.Reads()...)
		}
		row.Verdict = row.verdict(v.Policy, p.verdict)
		v.Reaches = append(v.Reaches, row)
		r.warn(row.Target, slices.DeleteFunc(reach.Values.Warnings, func(w values.Warning) bool {
			return w.SetBy != v.Policy || !within(w.Path, v.Path)
		}))
	}
}

// refuse tells of target references that are not accepted on a path, each once.
func (v *reachView) refuse(in desired.Inputs, p policy, e values.Effective, matched map[int]bool, r *report) {
	for _, refusal := range e.Refused {
		if refusal.Source != v.Policy || !p.verdict.OK {
			continue
		}
		for _, ref := range refusal.Refs {
			refused := desired.Refused(p.object, in.Snapshot.Blueprint.Name, []int{ref})
			entry := unmatchedTarget{ref + 1, refused.Reason, refused.Message}
			if matched[ref] = true; !slices.Contains(v.Unmatched, entry) {
				r.refused(fmt.Sprintf("%s, target %d", p, ref+1), refused)
				v.Unmatched = append(v.Unmatched, entry)
			}
		}
	}
}

// contribution is the part that a source has in values, or nil.
func contribution(e values.Effective, source string) *values.Contribution {
	i := slices.IndexFunc(e.Contributions, func(c values.Contribution) bool { return c.Source == source })
	if i < 0 {
		return nil
	}
	return &e.Contributions[i]
}

// heldGateway says what holds back the rendering of a Gateway, which waits for the values of its listeners, too, if it reads them.
func heldGateway(in desired.Inputs, reaches []desired.Reach) []string {
	readsListeners := in.Program == nil || in.Program.Gateway.Uses().ListenerValues
	var held []string
	for _, reach := range reaches {
		if reach.Route == nil && (reach.Listener == nil || readsListeners) {
			held = append(held, heldBy(in.Merged.Accepted, reach.Values)...)
		}
	}
	slices.Sort(held)
	return slices.Compact(held)
}

// heldBy says what keeps values from being put into effect, as Effective.Blocked does in sentences.
func heldBy(accepted verdict.Verdict, read ...values.Effective) []string {
	var held []string
	for _, e := range read {
		held = append(held, e.Held...)
		for _, v := range e.Violations {
			for _, s := range v.SetBy {
				held = append(held, s.SetBy)
			}
		}
	}
	if !accepted.OK {
		held = append(held, "the Gateway, which is not accepted")
	}
	slices.Sort(held)
	return slices.Compact(held)
}
