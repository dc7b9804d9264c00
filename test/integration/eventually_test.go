package integration_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// patience is how long a test waits for what must come about. It is generous: it is only ever used up by a test that fails.
	patience = 60 * time.Second
	// glance is how often it looks. An API server on this machine answers in a millisecond or two.
	glance = 25 * time.Millisecond
)

// eventually waits until check finds nothing to complain of, and ends the test with the last complaint if it always does.
func eventually(t testing.TB, what string, check func() error) {
	t.Helper()
	var complaint error
	err := wait.PollUntilContextTimeout(t.Context(), glance, patience, true, func(context.Context) (bool, error) {
		complaint = check()
		return complaint == nil, nil
	})
	if err != nil {
		t.Fatalf("%s: not within %s: %v", what, patience, complaint)
	}
}

// becomes waits until what is observed is what is wanted.
func becomes[T any](t testing.TB, what string, want T, observe func() (T, error)) {
	t.Helper()
	eventually(t, what, func() error {
		got, err := observe()
		if err != nil {
			return err
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

// is compares what is observed now.
func is[T any](t testing.TB, what string, want T, observe func() (T, error)) {
	t.Helper()
	got, err := observe()
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: -want +got:\n%s", what, diff)
	}
}
