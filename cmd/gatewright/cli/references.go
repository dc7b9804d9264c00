package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/intake"
)

// referred are the kinds of which only those objects matter that a Gateway or a ListenerSet names.
var referred = map[schema.GroupKind]func(gateway.References) []types.NamespacedName{
	{Kind: "Secret"}:    func(r gateway.References) []types.NamespacedName { return r.Secrets },
	{Kind: "ConfigMap"}: func(r gateway.References) []types.NamespacedName { return r.ConfigMaps },
}

func byReference(kind intake.Kind) bool { return referred[kind.GroupKind] != nil }

// references are those of the Gateways of our classes, and of what is attached to them.
func (w *world) references() []gateway.References {
	var all []gateway.References
	for _, gw := range w.objects.Gateways {
		// What is of no class of ours is told where it matters.
		if snapshot, err := w.objects.Snapshot(keyOf(gw)); err == nil {
			all = append(all, snapshot.References())
		}
	}
	return all
}

// takeReferences takes in what is referred to, by name, so that nobody needs to be allowed to read more than that.
func (c *cluster) takeReferences(ctx context.Context) error {
	references := c.world.references()
	for _, kind := range intake.Kinds() {
		named := referred[kind.GroupKind]
		if named == nil {
			continue
		}
		var names []types.NamespacedName
		for _, r := range references {
			names = append(names, named(r)...)
		}
		slices.SortFunc(names, byNamespace)
		if err := c.takeNamed(ctx, kind, slices.Compact(names)); err != nil {
			return err
		}
	}
	return nil
}

// takeNamed takes in the objects of a kind that have these names. If there is one that may not be read, those that were not found
// are taken to be there, and that is noted once.
func (c *cluster) takeNamed(ctx context.Context, kind intake.Kind, names []types.NamespacedName) error {
	resource := schema.GroupVersionResource{Group: kind.Group, Version: kind.Versions[0], Resource: kind.Resource}
	var forbidden error
	for _, name := range names {
		o, err := c.client.Resource(resource).Namespace(name.Namespace).Get(ctx, name.Name, metav1.GetOptions{})
		switch {
		case apierrors.IsForbidden(err):
			forbidden = cmp.Or(forbidden, err)
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("reading %s %s: %w", kind.Kind, name, err)
		default:
			if err := c.add(kind, o); err != nil {
				return err
			}
		}
	}
	if forbidden != nil {
		c.note("reading %s: %v; those that are referred to and cannot be seen are taken to be there and to be good", kind.Resource, forbidden)
		return nil
	}
	c.complete(kind)
	return nil
}
