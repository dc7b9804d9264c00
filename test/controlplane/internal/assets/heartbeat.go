package assets

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// beatEvery is short enough for a person to see life and for a CI system not
// to think that the job hangs.
const beatEvery = 10 * time.Second

// heartbeat tells every few seconds that something long is still going on.
type heartbeat struct {
	started time.Time
	done    chan struct{}
	beating sync.WaitGroup

	mu   sync.Mutex
	last string
}

func startHeartbeat(log io.Writer, label string) *heartbeat {
	h := &heartbeat{started: time.Now(), done: make(chan struct{})}
	fmt.Fprintf(log, "controlplane: %s ...\n", label)
	h.beating.Go(func() {
		ticker := time.NewTicker(beatEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				fmt.Fprintf(log, "controlplane: %s ... %s%s\n", label, seconds(time.Since(h.started)), h.takeNote())
			case <-h.done:
				return
			}
		}
	})
	return h
}

// note says what is being done; the next beat repeats it once.
func (h *heartbeat) note(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last = what
}

func (h *heartbeat) takeNote() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	what := h.last
	h.last = ""
	if what == "" {
		return ""
	}
	return ": " + what
}

// stop ends the beats and returns how long it went on. Nothing is written to
// the log after it returns.
func (h *heartbeat) stop() time.Duration {
	close(h.done)
	h.beating.Wait()
	return time.Since(h.started)
}
