package controllers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers/internal/apply"
	"github.com/gatewright/gatewright/controllers/internal/status"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
)

const maxName = 253

// renderingName is the Gateway's name for a Gateway, so that it is the natural thing to type. For a route it is the route's
// name, its kind, and a hash of the parent, since a route has one Rendering for each. A Gateway of that very name in the same
// namespace is told apart by the owner reference, see writeRendering.
func renderingName(p *desired.Parent) string {
	if p.Under == nil {
		return p.Owner.Name
	}
	sum := sha256.Sum256([]byte(p.Owner.String() + "|" + underName(p.Under)))
	suffix := "-" + strings.ToLower(p.Owner.Kind) + "-" + hex.EncodeToString(sum[:5])
	name := p.Owner.Name
	if len(name)+len(suffix) > maxName {
		name = strings.TrimRight(name[:maxName-len(suffix)], "-.")
	}
	return name + suffix
}

// underName names the parent of a route, with section and port if it names them.
func underName(under *gateway.Parent) string {
	name := string(under.Key.Kind) + "/" + under.Key.String()
	if under.Ref.SectionName != nil {
		name += "/" + string(*under.Ref.SectionName)
	}
	if under.Ref.Port != nil {
		name += fmt.Sprintf(":%d", *under.Ref.Port)
	}
	return name
}

// writeRendering writes the report on one rendering, if it changed, in one write.
func (s *shell) writeRendering(ctx context.Context, in desired.Inputs, p *desired.Parent, outcome status.Outcome) error {
	report := status.Report{
		Parent: p.Owner.String(), Gateway: client.ObjectKeyFromObject(in.Merged.Gateway).String(), ParentGeneration: p.Owner.Generation,
		Blueprint: in.Snapshot.Blueprint.Name, BlueprintGeneration: in.BlueprintGeneration,
		Values: p.Values,
	}
	if p.ServiceAccount != (types.NamespacedName{}) {
		report.AppliedAs = p.ServiceAccount.String()
	}
	for _, object := range outcome.RenderedObjects {
		report.Manifests = append(report.Manifests, status.Manifest(object.Template, p.Redacted(object.Unstructured)))
	}
	if p.Under != nil {
		report.Parent += " under " + underName(p.Under)
	} else {
		report.Listeners = in.Merged.Listeners
	}
	key := client.ObjectKey{Namespace: p.Owner.Namespace, Name: renderingName(p)}
	before := &v1alpha1.Rendering{}
	err := s.client.Get(ctx, key, before)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading Rendering %s: %w", key, err)
	}
	if err != nil {
		fresh := &v1alpha1.Rendering{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
		return s.createRendering(ctx, fresh, p.Owner, report, outcome)
	}
	if owner := metav1.GetControllerOf(before); owner == nil || owner.UID != p.Owner.UID {
		return fmt.Errorf("Rendering %s belongs to another object; delete it if it should not be there", key)
	}
	if s.written.ahead(before) {
		return errBehind
	}
	after := before.DeepCopy()
	status.Rendering(after, report, outcome)
	if equality.Semantic.DeepEqual(before, after) {
		return nil
	}
	if err := s.client.Update(ctx, after, client.FieldOwner(v1alpha1.FieldManager)); err != nil {
		return fmt.Errorf("writing Rendering %s: %w", key, err)
	}
	s.written.note(after)
	return nil
}

func (s *shell) createRendering(
	ctx context.Context, fresh *v1alpha1.Rendering, owner desired.Owner, report status.Report, outcome status.Outcome,
) error {
	controller := true
	fresh.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: gatewayv1.GroupVersion.String(), Kind: owner.Kind, Name: owner.Name, UID: owner.UID, Controller: &controller,
	}}
	status.Rendering(fresh, report, outcome)
	err := s.client.Create(ctx, fresh, client.FieldOwner(v1alpha1.FieldManager))
	if err != nil && !apply.Terminating(err) {
		return fmt.Errorf("writing Rendering %s: %w", client.ObjectKeyFromObject(fresh), err)
	}
	s.written.note(fresh)
	return nil
}

// deleteRenderings deletes the reports on an owner that are not about one of the renderings that it has now.
func (s *shell) deleteRenderings(ctx context.Context, owner desired.Owner, now []*desired.Parent) error {
	var names []string
	for _, p := range now {
		names = append(names, renderingName(p))
	}
	reports, err := s.fetch.RenderingsOf(ctx, owner.Namespace, owner.UID)
	if err != nil {
		return err
	}
	for i := range reports {
		if slices.Contains(names, reports[i].Name) {
			continue
		}
		if err := s.client.Delete(ctx, &reports[i]); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("deleting Rendering %s: %w", client.ObjectKeyFromObject(&reports[i]), err)
		}
	}
	return nil
}
