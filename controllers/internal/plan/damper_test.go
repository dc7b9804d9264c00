package plan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func exactly(d time.Duration) time.Duration { return d }

// fight writes to an object whenever it may, which somebody changes back at once every time, for some time, and returns when.
func fight(d *Damper, inputs string, from time.Time, lasting time.Duration) (writes []time.Duration) {
	for now := from; now.Before(from.Add(lasting)); {
		if wait := d.Wait(inputs, now); wait > 0 {
			now = now.Add(wait)
			continue
		}
		d.Wrote(inputs, now, exactly)
		writes = append(writes, now.Sub(from))
		now = now.Add(100 * time.Millisecond)
	}
	return writes
}

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestAFightIsDamped(t *testing.T) {
	var d Damper
	writes := fight(&d, "a", noon, time.Hour)
	var pauses []time.Duration
	for i := range writes[1:] {
		pauses = append(pauses, writes[i+1]-writes[i])
	}
	var want []time.Duration
	for range thrashingWrites {
		want = append(want, 100*time.Millisecond)
	}
	for pause := time.Second; pause < maxPause; pause *= 2 {
		want = append(want, pause)
	}
	for len(want) < len(pauses) {
		want = append(want, maxPause)
	}
	if diff := cmp.Diff(want, pauses); diff != "" {
		t.Errorf("pauses between the writes of an hour: -want +got:\n%s", diff)
	}
	if len(writes) > 45 {
		t.Errorf("%d writes in an hour", len(writes))
	}
}

func TestAFightEnds(t *testing.T) {
	cases := map[string]struct {
		inputs string
		after  time.Duration
		waits  bool
	}{
		"while it lasts, the object is left alone for a while": {"a", time.Second, true},
		"something new to render is written at once":           {"b", time.Second, false},
		"after ten minutes without a write it is forgotten":    {"a", thrashingWindow + time.Second, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var d Damper
			writes := fight(&d, "a", noon, 10*time.Minute)
			last := noon.Add(writes[len(writes)-1])
			if wait := d.Wait(c.inputs, last.Add(c.after)); (wait > 0) != c.waits {
				t.Errorf("Wait() = %s, want a wait: %t", wait, c.waits)
			}
			if fought, left := d.Fought(c.inputs, last.Add(c.after)); fought != c.waits || (left > 0) != c.waits {
				t.Errorf("Fought() = %t for %s, want %t", fought, left, c.waits)
			}
		})
	}
}

func TestWhatIsNoFightIsNotDamped(t *testing.T) {
	cases := map[string]struct {
		every  time.Duration
		inputs func(i int) string
	}{
		"an object that is restored now and then":         {time.Minute, func(int) string { return "a" }},
		"an object that is rendered anew again and again": {time.Millisecond, func(i int) string { return time.Duration(i).String() }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var d Damper
			now := noon
			for i := range 1000 {
				if wait := d.Wait(c.inputs(i), now); wait != 0 {
					t.Fatalf("write %d has to wait for %s", i, wait)
				}
				d.Wrote(c.inputs(i), now, exactly)
				now = now.Add(c.every)
			}
		})
	}
}
