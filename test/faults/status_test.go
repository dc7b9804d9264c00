package faults_test

import (
	"context"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// told is I6: everything that is wanted is there (see wanted), and everything that is said of it is of now, and true.
func (w *world) told() error {
	if err := w.wanted(); err != nil {
		return err
	}
	blueprint := &v1alpha1.GatewayClassBlueprint{}
	if err := shared.client.Get(context.Background(), client.ObjectKey{Name: w.name}, blueprint); err != nil {
		return err
	}
	if classes, gateways := blueprint.Status.Classes, blueprint.Status.Gateways; classes != 1 || int(gateways) != len(w.gateways) {
		return fmt.Errorf("the blueprint says that %d classes and %d Gateways use it, where 1 and %d do", classes, gateways, len(w.gateways))
	}
	class := &gatewayv1.GatewayClass{}
	if err := shared.client.Get(context.Background(), client.ObjectKey{Name: w.name}, class); err != nil {
		return err
	}
	return errors.Join(
		conditions("the blueprint", blueprint.Status.Conditions, blueprint.Generation, v1alpha1.ConditionAccepted),
		conditions("the class", class.Status.Conditions, class.Generation, string(gatewayv1.GatewayClassConditionStatusAccepted)),
		w.policyTold(), w.listenersTold(), w.renderingsTold(blueprint.Generation),
	)
}

// policyTold says whether the policy is reported to be in effect. Without a Gateway it reaches nothing.
func (w *world) policyTold() error {
	policy := &v1alpha1.GatewayConfig{}
	if err := shared.client.Get(context.Background(), w.key("color"), policy); err != nil || len(w.gateways) == 0 {
		return err
	}
	if len(policy.Status.Ancestors) == 0 {
		return errors.New("the policy is reported on for no Gateway")
	}
	for _, ancestor := range policy.Status.Ancestors {
		err := conditions("the policy for "+string(ancestor.AncestorRef.Name), ancestor.Conditions, policy.Generation,
			v1alpha1.ConditionAccepted, v1alpha1.ConditionProgrammed)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) listenersTold() error {
	for name := range w.gateways {
		gw, set := &gatewayv1.Gateway{}, &gatewayv1.ListenerSet{}
		for _, o := range []client.Object{gw, set} {
			if err := shared.client.Get(context.Background(), w.key(name), o); err != nil {
				return err
			}
		}
		if len(gw.Status.Listeners) != 1 || len(set.Status.Listeners) != 1 {
			return fmt.Errorf("Gateway %s: %d of its listeners are reported on, and %d of its ListenerSet's",
				name, len(gw.Status.Listeners), len(set.Status.Listeners))
		}
		own, more := gw.Status.Listeners[0], set.Status.Listeners[0]
		if own.AttachedRoutes != 0 || more.AttachedRoutes != 1 {
			return fmt.Errorf("Gateway %s: %d and %d routes are attached", name, own.AttachedRoutes, more.AttachedRoutes)
		}
		types := []string{"Accepted", "Programmed", "ResolvedRefs"}
		err := errors.Join(conditions("Gateway "+name+"'s listener", own.Conditions, gw.Generation, types...),
			conditions("ListenerSet "+name+"'s listener", more.Conditions, set.Generation, types...))
		if err != nil {
			return err
		}
	}
	return nil
}

// renderingsTold says whether there is one true Rendering for each Gateway and each route.
func (w *world) renderingsTold(blueprint int64) error {
	reports := &v1alpha1.RenderingList{}
	if err := shared.client.List(context.Background(), reports, client.InNamespace(w.namespace)); err != nil {
		return err
	}
	if len(reports.Items) != 2*len(w.gateways) {
		return fmt.Errorf("there are %d Renderings for %d Gateways and as many routes", len(reports.Items), len(w.gateways))
	}
	for _, report := range reports.Items {
		owner := metav1.GetControllerOf(&report)
		if owner == nil {
			return fmt.Errorf("Rendering %s has no owner", report.Name)
		}
		generation, err := w.generationOf(owner)
		if err != nil {
			return err
		}
		s := report.Status
		if s.ParentGeneration != generation || s.BlueprintGeneration != blueprint {
			return fmt.Errorf("Rendering %s is of generation %d and the blueprint's %d, not of %d and %d",
				report.Name, s.ParentGeneration, s.BlueprintGeneration, generation, blueprint)
		}
		if all := fmt.Sprintf("%[1]d/%[1]d", len(s.Objects)); s.Ready != all {
			return fmt.Errorf("Rendering %s: %s objects are ready, not %s", report.Name, s.Ready, all)
		}
		err = conditions("Rendering "+report.Name, s.Conditions, generation,
			v1alpha1.ConditionRendered, v1alpha1.ConditionApplied, v1alpha1.ConditionHealthy, v1alpha1.ConditionProgrammed)
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *world) generationOf(owner *metav1.OwnerReference) (int64, error) {
	parent := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: owner.APIVersion, Kind: owner.Kind}}
	if err := shared.client.Get(context.Background(), w.key(owner.Name), parent); err != nil {
		return 0, err
	}
	if parent.UID != owner.UID {
		return 0, fmt.Errorf("%s %s is another one than a Rendering tells of", owner.Kind, owner.Name)
	}
	return parent.Generation, nil
}
