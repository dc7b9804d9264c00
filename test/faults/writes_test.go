package faults_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gatewright/gatewright/test/faults/faultproxy"
)

// phase is something that happens to a world, and makes the controller write.
type phase struct {
	name string
	// begin brings about what the phase starts from, happen has it happen. Both may be called many times in turn.
	begin, happen func(w *world, round int)
}

var phases = []phase{
	{"create", nothing, func(w *world, round int) { w.gateway(fmt.Sprintf("g%d", round)) }},
	{"update", one, func(w *world, round int) { w.paint(fmt.Sprintf("color-%d", round)) }},
	{"prune", func(w *world, round int) {
		one(w, round)
		w.withExtra(true)
	}, func(w *world, _ int) { w.withExtra(false) }},
	{"delete", func(w *world, round int) { w.gateway(fmt.Sprintf("g%d", round)) },
		func(w *world, round int) { w.remove(fmt.Sprintf("g%d", round)) }},
}

// nothing leaves no Gateway of earlier rounds behind.
func nothing(w *world, _ int) {
	for name := range w.gateways {
		w.remove(name)
	}
}

// one has exactly one Gateway.
func one(w *world, _ int) {
	if len(w.gateways) == 0 {
		w.gateway("g")
	}
}

// TestKilledAtEveryWrite kills the controller before each write is sent, and after it was answered, in everything that it ever
// does; the next one must find its way from there.
func TestKilledAtEveryWrite(t *testing.T) {
	for i, p := range phases {
		for j, when := range []string{"before", "after"} {
			if !*all && i%2 != j {
				continue
			}
			t.Run(p.name+", "+when, func(t *testing.T) { killedAtEveryWrite(t, p, when) })
		}
	}
}

// stride is how far the writes of a short run are apart at which the controller is killed.
const stride = 5

func killedAtEveryWrite(t *testing.T, p phase, when string) {
	w := newWorld(t)
	w.start()
	writes, step := 0, stride
	if *all {
		step = 1
	}
	for k := 1; ; k += step {
		p.begin(w, k)
		w.converged()
		before := w.uids()
		killed := killAt(w, k, when)
		p.happen(w, k)
		if !w.ends(killed, k) {
			shared.proxy.Restart(nil)
			w.converged()
			break
		}
		writes = k
		r := results.note("kill -9 "+when+" a write of "+p.name, fmt.Sprintf("write %d: %s", k, w.calls(shared.proxy.Writes()[k-1])))
		shared.proxy.Restart(nil)
		w.start()
		w.converged()
		w.keeps(before)
		if r.done(t); t.Failed() {
			t.Fatalf("killed %s write %d", when, k)
		}
	}
	t.Logf("killed %s each %d. of %d writes", when, step, writes)
	if writes == 0 {
		t.Errorf("nothing was written")
	}
}

// calls names a request as any run would name it.
func (w *world) calls(r faultproxy.Request) string {
	return strings.NewReplacer(w.namespace+"/", "", w.name, "the class").Replace(r.String())
}

// killAt has the controller die at its k-th write, and returns a channel that is closed then.
func killAt(w *world, k int, when string) <-chan struct{} {
	killed := make(chan struct{})
	var once sync.Once
	die := func() { once.Do(func() { w.running.Kill(); close(killed) }) }
	shared.proxy.Restart(func(r faultproxy.Request) faultproxy.Answer {
		switch {
		case r.Number != k:
			return faultproxy.Answer{}
		case when == "before":
			return faultproxy.Answer{Before: die, Lost: true}
		}
		return faultproxy.Answer{After: die, Lost: true, Sent: true}
	})
	return killed
}

// ends waits until the controller was killed at its k-th write, or has done all that there was to do. It says whether it was killed.
func (w *world) ends(killed <-chan struct{}, k int) bool {
	w.Helper()
	dead := false
	w.eventually("the controller is killed, or done", func() error {
		select {
		case <-killed:
			dead = true
			return nil
		default:
			return w.told()
		}
	})
	if !dead && len(shared.proxy.Writes()) >= k {
		// The write was seen before it was answered.
		<-killed
		dead = true
	}
	if dead {
		w.running = nil
	}
	return dead
}

// answers are what an API server, or the net before it, may do to a request instead of what it is asked.
var answers = map[string]faultproxy.Answer{
	"429 with Retry-After":       {Status: http.StatusTooManyRequests, Header: http.Header{"Retry-After": {"1"}}},
	"429 without Retry-After":    {Status: http.StatusTooManyRequests},
	"500":                        {Status: http.StatusInternalServerError},
	"503":                        {Status: http.StatusServiceUnavailable},
	"504":                        {Status: http.StatusGatewayTimeout},
	"409":                        {Status: http.StatusConflict},
	"403":                        {Status: http.StatusForbidden},
	"a reset before it was sent": {Lost: true},
	"a reset after it was sent":  {Lost: true, Sent: true},
	"500 after it was sent":      {Status: http.StatusInternalServerError, Sent: true},
	"504 after it was sent":      {Status: http.StatusGatewayTimeout, Sent: true},
	"no answer for a second":     {Before: func() { <-time.After(time.Second) }, Lost: true},
}

// shortAnswers are those of a short run.
var shortAnswers = []string{"a reset after it was sent"}

// TestAnswersThatSayNo answers each write once with a fault, the same for all of a phase.
func TestAnswersThatSayNo(t *testing.T) {
	names := shortAnswers
	if *all {
		names = sorted(answers)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.start()
			for round, p := range phases {
				p.begin(w, round)
				w.converged()
				before := w.uids()
				r := results.note("each write is answered once with "+name, p.name)
				refused := refuseEachOnce(answers[name])
				p.happen(w, round)
				w.eventually("everything is done and told", w.told)
				shared.proxy.Restart(nil)
				w.converged()
				w.keeps(before)
				n := refused()
				if n == 0 {
					t.Errorf("%s: nothing was refused", p.name)
				}
				r.detail = fmt.Sprintf("%s, %d writes", p.name, n)
				r.done(t)
			}
		})
	}
}

// refuseEachOnce answers every write to an object the first time with a fault. It returns how to ask how many there were.
func refuseEachOnce(answer faultproxy.Answer) func() int {
	var mu sync.Mutex
	seen := map[string]bool{}
	shared.proxy.Restart(func(r faultproxy.Request) faultproxy.Answer {
		if !r.Write() {
			return faultproxy.Answer{}
		}
		mu.Lock()
		defer mu.Unlock()
		if seen[r.String()] {
			return faultproxy.Answer{}
		}
		seen[r.String()] = true
		return answer
	})
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return len(seen)
	}
}
