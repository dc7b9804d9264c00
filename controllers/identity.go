package controllers

import (
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/apply"
	"github.com/gatewright/gatewright/controllers/internal/plan"
	"github.com/gatewright/gatewright/internal/verdict"
)

// recordsServiceAccount says whether a blueprint records the ServiceAccount as which its objects are applied. For the controller itself
// there is nothing to record.
func recordsServiceAccount(b *v1alpha1.GatewayClassBlueprint, account types.NamespacedName) bool {
	return account == (types.NamespacedName{}) || slices.Contains(b.Status.ServiceAccounts, serviceAccountReference(account))
}

func serviceAccountReference(account types.NamespacedName) v1alpha1.ServiceAccountReference {
	return v1alpha1.ServiceAccountReference{Namespace: account.Namespace, Name: account.Name}
}

// recordServiceAccounts returns the ServiceAccounts as which objects of the blueprint are applied, or were as long as any such object
// may live. former says that there is one of those, or of any if the blueprint is being deleted.
func (r *blueprintReconciler) recordServiceAccounts(
	ctx context.Context, b *v1alpha1.GatewayClassBlueprint, ready *compiled,
) (accounts []v1alpha1.ServiceAccountReference, former bool, err error) {
	if ready != nil && ready.program.ServiceAccount() != (types.NamespacedName{}) {
		accounts = append(accounts, serviceAccountReference(ready.program.ServiceAccount()))
	}
	for _, ref := range b.Status.ServiceAccounts {
		account := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
		current := slices.Contains(accounts, ref)
		if current && b.DeletionTimestamp == nil {
			continue
		}
		elsewhere, err := r.appliesElsewhere(ctx, b, account)
		if err != nil {
			return nil, false, err
		}
		if elsewhere {
			continue
		}
		lives, err := r.livesAs(ctx, account, b)
		if err != nil {
			return nil, false, err
		}
		former = former || lives
		if lives && !current {
			accounts = append(accounts, ref)
		}
	}
	return accounts, former, nil
}

// appliesElsewhere says whether another blueprint records a ServiceAccount as which its objects are applied now. As with kinds, what
// another merely records from an earlier generation does not count.
func (r *blueprintReconciler) appliesElsewhere(
	ctx context.Context, b *v1alpha1.GatewayClassBlueprint, account types.NamespacedName,
) (bool, error) {
	blueprints, err := r.fetch.Blueprints(ctx)
	return slices.ContainsFunc(blueprints, func(other v1alpha1.GatewayClassBlueprint) bool {
		if other.Name == b.Name || other.DeletionTimestamp != nil || !recordsServiceAccount(&other, account) {
			return false
		}
		ready, _ := r.programs.get(&other)
		return ready != nil && ready.program.ServiceAccount() == account
	}), err
}

// livesAs says whether there may be an object that was applied as a ServiceAccount. Where that cannot be told, there may be.
func (r *blueprintReconciler) livesAs(ctx context.Context, account types.NamespacedName, b *v1alpha1.GatewayClassBlueprint) (bool, error) {
	kinds, err := r.kinds(ctx)
	if err != nil {
		return false, err
	}
	for _, kind := range kinds {
		lives, err := r.any(ctx, kind, b, func(o *unstructured.Unstructured) bool {
			as, known := plan.AppliedAs(o)
			return !known || as == account
		})
		if lives || err != nil {
			return lives, err
		}
	}
	return false, nil
}

// resolvedRefs is a blueprint's condition of that name; nil if it refers to nothing.
func (s *shell) resolvedRefs(ctx context.Context, b *v1alpha1.GatewayClassBlueprint) (*verdict.Verdict, error) {
	ref := b.Spec.ServiceAccountRef
	if ref == nil {
		return nil, nil
	}
	account := types.NamespacedName{Namespace: ref.Namespace, Name: ref.Name}
	found, err := s.fetch.ServiceAccount(ctx, account)
	if err != nil {
		return nil, err
	}
	v := verdict.Yes(v1alpha1.ReasonResolvedRefs, "what is rendered is applied as ServiceAccount "+account.String())
	if found == nil || found.DeletionTimestamp != nil {
		v = verdict.No(v1alpha1.ReasonServiceAccountNotFound, "there is no ServiceAccount %s, or it is being deleted; "+
			"create it or mend spec.serviceAccountRef. Nothing is written until then, and what runs stays", account)
	}
	return &v, nil
}

// watchServiceAccounts has a ServiceAccount that comes, goes or is marked for deletion wake whatever the blueprints wake that name it.
func (s *shell) watchServiceAccounts(
	b *builder.Builder, wakes func(context.Context, *v1alpha1.GatewayClassBlueprint) []ctrl.Request,
) *builder.Builder {
	return b.Watches(&corev1.ServiceAccount{}, on(func(ctx context.Context, account client.Object) []ctrl.Request {
		blueprints, err := s.fetch.BlueprintsNaming(ctx, client.ObjectKeyFromObject(account))
		return unique(each(ctx, blueprints, err, wakes))
	}), builder.OnlyMetadata, builder.WithPredicates(predicate.Or(comesOrGoes, deletionChanged)))
}

// isUnidentified says whether an object is not written since it is not known as whom it may be.
func isUnidentified(err error) bool {
	_, unidentified := errors.AsType[*apply.IdentityError](err)
	return unidentified
}

// isBarred says whether an object is not written until somebody grants what is missing.
func isBarred(err error) bool {
	return isUnidentified(err) || apierrors.IsForbidden(err)
}
