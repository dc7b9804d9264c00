package cli

import (
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/values"
)

// reportMerged tells what of a Gateway, its ListenerSets and its routes is not accepted, and what they refer to in vain.
func (r *renderer) reportMerged(m gateway.Merged) {
	name := fmt.Sprintf("Gateway %s", keyOf(m.Gateway))
	r.report.refused(name, m.Accepted)
	r.report.unresolved(name, m.ResolvedRefs)
	r.report.cautions(name, m.InsecureFrontend)
	for _, l := range m.GatewayListeners() {
		r.reportListener(m.Gateway, l)
	}
	for _, set := range m.ListenerSets {
		r.report.refused(fmt.Sprintf("ListenerSet %s", keyOf(set.Object)), set.Accepted)
		for _, l := range set.Listeners {
			// Where the set is refused as a whole, its listeners only repeat why.
			if l.Accepted != set.Accepted {
				r.reportListener(set.Object, l)
			}
		}
	}
	for _, attachment := range m.Attachments {
		r.report.unresolved(fmt.Sprintf("%s %s", attachment.Route.Kind, keyOf(attachment.Route.Object)), &attachment.ResolvedRefs)
		for _, parent := range attachment.Parents {
			r.report.refused(routeName(attachment.Route, parent), parent.Accepted)
		}
	}
}

// reportListener tells what is wrong with a listener of a Gateway or ListenerSet.
func (r *renderer) reportListener(source metav1.Object, l gateway.Listener) {
	subject := fmt.Sprintf("%s %s/%s, listener %s", l.Source.Kind, l.Source.Namespace, l.Source.Name, l.Source.SectionName)
	r.report.refused(subject, l.Accepted)
	r.report.unresolved(subject, &l.ResolvedRefs)
	r.report.cautions(subject, l.OverlappingTLS)
	_, err := values.ListenerLabels(source.GetLabels(), source.GetAnnotations(),
		string(l.Source.SectionName), string(l.Spec.Protocol), l.Spec.Port)
	if err != nil {
		r.report.say(subject, "%v", err)
	}
}

// reportResult tells what of a rendering is pending or failed and, for a Gateway of which all is sound, its addresses.
func (r *renderer) reportResult(subject string, parent *desired.Parent, live desired.Observed, sound bool) {
	r.report.warn(subject, parent.Values.Warnings)
	result := parent.Result()
	for _, p := range result.Pending {
		r.report.waits(subject, p.Template, p.Message)
	}
	for _, f := range result.Failed {
		r.report.failed(subject, f.Error())
	}
	if parent.Under != nil || !sound || len(result.Failed) > 0 {
		return
	}
	status := parent.Status(live)
	switch {
	case status.Failed != nil:
		r.report.failed(subject, status.Failed.Error())
	case status.Pending != nil:
		r.report.say(subject, "addresses: %s", status.Pending.Message)
	}
	for _, address := range status.Addresses {
		kind := gatewayv1.IPAddressType
		if address.Type != nil {
			kind = *address.Type
		}
		r.report.say(subject, "address: %s %s", kind, address.Value)
	}
}

// reportPolicies tells which policies are invalid or reach nothing: of all, or only of those that the chosen Gateway might read.
func (r *renderer) reportPolicies(everything bool) {
	candidates := slices.Collect(maps.Keys(r.policies))
	if !everything {
		candidates = r.chosen[0].Snapshot.Policies
	}
	r.session.reportPolicies(r.report, r.all, candidates)
}

// reportPolicies tells which of the candidates are invalid, or reach nothing in any of the Gateways.
func (s *session) reportPolicies(r *report, all []desired.Inputs, candidates []v1alpha1.Policy) {
	matched, refused := map[string]map[int]bool{}, map[string]map[int]string{}
	for _, in := range all {
		for _, reach := range desired.Reaches(in) {
			for _, c := range reach.Values.Contributions {
				if matched[c.Source] == nil {
					matched[c.Source] = map[int]bool{}
				}
				for _, ref := range c.Refs {
					matched[c.Source][ref] = true
				}
			}
			for _, refusal := range reach.Values.Refused {
				if refused[refusal.Source] == nil {
					refused[refusal.Source] = map[int]string{}
				}
				for _, ref := range refusal.Refs {
					refused[refusal.Source][ref] = in.Snapshot.Blueprint.Name
				}
			}
		}
	}
	for _, p := range s.sorted(candidates) {
		if !p.verdict.OK {
			r.refused(p.String(), p.verdict)
			continue
		}
		for i, target := range p.object.PolicySpec().Targets() {
			subject := fmt.Sprintf("%s, target %d", p, i+1)
			if blueprint, ok := refused[p.parsed.Ref()][i]; ok {
				r.refused(subject, desired.Refused(p.object, blueprint, []int{i}))
			} else if !matched[p.parsed.Ref()][i] {
				v := desired.Unmatched(p.object, target, s.isOurClass(string(target.Name)), s.objects.ControllerNamespace)
				r.refused(subject, v)
			}
		}
	}
}

// isOurClass says whether a GatewayClass of that name is ours.
func (s *session) isOurClass(name string) bool {
	return slices.ContainsFunc(s.objects.GatewayClasses, func(class *gatewayv1.GatewayClass) bool {
		return class.Name == name && class.Spec.ControllerName == v1alpha1.ControllerName
	})
}

// reportLost tells of ListenerSets and routes that name parents of which there are none: nobody else would miss them.
func (r *renderer) reportLost() {
	parents := map[gateway.ParentKey]bool{}
	for _, gw := range r.objects.Gateways {
		parents[gateway.ParentKey{Kind: gateway.KindGateway, NamespacedName: keyOf(gw)}] = true
	}
	lost := func(subject string, parent gateway.ParentKey) {
		if !parents[parent] {
			r.report.say(subject, "there is no %s %s, which it names as a parent", parent.Kind, parent.NamespacedName)
		}
	}
	for _, set := range r.objects.ListenerSets {
		parents[gateway.ParentKey{Kind: gateway.KindListenerSet, NamespacedName: keyOf(set)}] = true
		if key, ok := gateway.ParentGateway(set); ok {
			lost(fmt.Sprintf("ListenerSet %s", keyOf(set)), gateway.ParentKey{Kind: gateway.KindGateway, NamespacedName: key})
		}
	}
	for _, route := range r.objects.Routes {
		for _, ref := range route.ParentRefs {
			if key, ok := gateway.RouteParent(ref, route.Object.GetNamespace()); ok {
				lost(fmt.Sprintf("%s %s", route.Kind, keyOf(route.Object)), key)
			}
		}
	}
}
