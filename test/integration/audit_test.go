package integration_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// mutating are the verbs of requests that change something.
var mutating = []string{"create", "update", "patch", "delete", "deletecollection"}

// audit reads what the API server is asked from now on.
type audit struct {
	*testing.T
	offset int64
}

// newAudit begins to listen.
func newAudit(t *testing.T) *audit {
	t.Helper()
	a := &audit{T: t}
	a.catchUp()
	info, err := os.Stat(shared.server.AuditLog)
	if err != nil {
		t.Fatal(err)
	}
	a.offset = info.Size()
	return a
}

// catchUp waits until the log holds what has been answered so far: a request is logged some time after its answer.
func (a *audit) catchUp() {
	a.Helper()
	marker := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("marker-%d", markers.Add(1))}}
	if err := shared.client.Get(a.Context(), client.ObjectKeyFromObject(marker), marker); client.IgnoreNotFound(err) != nil {
		a.Fatal(err)
	}
	eventually(a, "the audit log catches up", func() error {
		events, err := a.events()
		if err != nil {
			return err
		}
		found := slices.ContainsFunc(events, func(e auditv1.Event) bool { return e.ObjectRef != nil && e.ObjectRef.Name == marker.Name })
		if !found {
			return fmt.Errorf("%d events, and not the marker", len(events))
		}
		return nil
	})
}

// markers gives each marker a name of its own.
var markers atomic.Int32

func (a *audit) events() ([]auditv1.Event, error) {
	text, err := os.ReadFile(shared.server.AuditLog)
	if err != nil {
		return nil, err
	}
	var events []auditv1.Event
	for line := range bytes.Lines(text[a.offset:]) {
		var e auditv1.Event
		// The last line may be half written.
		if json.Unmarshal(line, &e) == nil {
			events = append(events, e)
		}
	}
	return events, nil
}

// requests are what a manager has asked about a world, or at all without one, "verb resource name" and the code of an answer that says no, in order, so
// far as the verbs are among those given.
func (a *audit) requests(m *manager, w *world, verbs ...string) []string {
	a.Helper()
	a.catchUp()
	events, err := a.events()
	if err != nil {
		a.Fatal(err)
	}
	var requests []string
	for _, e := range events {
		ref := e.ObjectRef
		if e.UserAgent != m.userAgent || ref == nil || !slices.Contains(verbs, e.Verb) || w != nil && ref.Namespace != w.namespace && ref.Name != w.name {
			continue
		}
		resource := ref.Resource
		if ref.Subresource != "" {
			resource += "/" + ref.Subresource
		}
		request := fmt.Sprintf("%s %s %s", e.Verb, resource, ref.Name)
		if e.ResponseStatus != nil && e.ResponseStatus.Code >= 400 {
			request += fmt.Sprintf(": %d", e.ResponseStatus.Code)
		}
		requests = append(requests, request)
	}
	return requests
}
