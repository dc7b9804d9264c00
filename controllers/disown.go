package controllers

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gatewright/gatewright/controllers/internal/status"
)

// disown takes back what we reported on a Gateway or ListenerSet that is none of ours any more. Who reported what is not in the cache,
// so the object is looked at as it is, once until we report on it again. live is an empty object of its kind.
func (s *shell) disown(ctx context.Context, object, live client.Object, conditions func(client.Object) []metav1.Condition) error {
	if !status.Reported(object) || s.written.disowned(object) {
		return nil
	}
	if err := s.fetch.Whole(ctx, client.ObjectKeyFromObject(object), live); err != nil {
		return client.IgnoreNotFound(err)
	}
	if live.GetUID() != object.GetUID() {
		return errBehind
	}
	after := live.DeepCopyObject().(client.Object)
	status.Disown(after)
	if err := s.update(ctx, live, after, conditions); err != nil {
		return err
	}
	s.written.disown(object)
	return nil
}
