package controllers

import (
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
)

// How soon, and how late at the latest, what failed is tried again without an event, and by how much of it that is spread.
const (
	minBackoff = time.Second
	maxBackoff = 5 * time.Minute
	jitter     = 0.2
)

// backoff has each object that fails wait twice as long as the last time. The waits are spread, so that many that failed at once, since
// the API server was away, do not all come back at once.
type backoff struct {
	workqueue.TypedRateLimiter[ctrl.Request]
}

func newBackoff() backoff {
	const longest = maxBackoff * 10 / 12 // with the spread it is maxBackoff
	return backoff{workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](minBackoff, longest)}
}

// When says how long an object waits that has failed once more.
func (b backoff) When(request ctrl.Request) time.Duration {
	return wait.Jitter(b.TypedRateLimiter.When(request), jitter)
}
