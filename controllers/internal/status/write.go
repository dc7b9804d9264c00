package status

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Write writes the status of an object if it differs from what was read, with an optimistic lock: lists such as a route's parents
// are shared with other controllers, and what they wrote in between must not be lost. It says whether it wrote. before is
// the object as it was read, after the same with its new status.
func Write(ctx context.Context, c client.Client, before, after client.Object) (bool, error) {
	if equality.Semantic.DeepEqual(before, after) {
		return false, nil
	}
	err := c.Status().Update(ctx, after, client.FieldOwner(fieldOwner))
	if client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("writing the status of %s: %w", client.ObjectKeyFromObject(after), err)
	}
	// Of an object that is gone by now there is nothing to report.
	return err == nil, nil
}

// fieldOwner is one manager for all status that we write.
const fieldOwner = "gatewright-status"
