package controllers

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/gatewright/gatewright/controllers/internal/apply"
	"github.com/gatewright/gatewright/internal/desired"
)

func TestWhatIsInvalidIsTriedAgainOnlyWithWhatIsNot(t *testing.T) {
	invalid := fmt.Errorf("writing the status: %w",
		&apply.RefusedError{Cause: apierrors.NewInvalid(schema.GroupKind{Kind: "Gateway"}, "edge", nil)})
	busy := apierrors.NewTooManyRequestsError("busy")
	for name, c := range map[string]struct {
		err      error
		terminal bool
	}{
		"an invalid object waits for a change":       {invalid, true},
		"so do several of them":                      {errors.Join(invalid, invalid), true},
		"an API server that is busy is asked again":  {busy, false},
		"one of the two is enough to be tried again": {errors.Join(invalid, busy), false},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := result(c.err)
			if err == nil || errors.Is(err, reconcile.TerminalError(nil)) != c.terminal {
				t.Errorf("result() = %v, want an error that is terminal: %v", err, c.terminal)
			}
		})
	}
}

func TestThatADeletionWaitsIsNewsOncePerObject(t *testing.T) {
	b, first, second := newBlocked(), desired.Identity{}, desired.Identity{}
	first.Name, second.Name = "first", "second"
	type step struct {
		owner types.UID
		by    desired.Identity
		news  bool
	}
	for i, s := range []step{{"a", first, true}, {"a", first, false}, {"b", first, true}, {"a", second, true}, {"a", second, false}} {
		if got := b.isNews(s.owner, s.by); got != s.news {
			t.Errorf("step %d: isNews() = %v, want %v", i, got, s.news)
		}
	}
	b.forget("a")
	if !b.isNews("a", second) {
		t.Error("it is no news of an owner that was forgotten")
	}
}
