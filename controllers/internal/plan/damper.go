package plan

import "time"

// The bounds of a fight over an object: somebody changes it whenever we restore it, or what it is rendered from depends on what
// we write.
const (
	// thrashingWrites is how many writes to one object are well within the window without anything new to render it from.
	thrashingWrites = 20
	// thrashingWindow is also how long an object must need no write before it is restored at once again.
	thrashingWindow = 10 * time.Minute
	// The pause between two writes to an object that is fought over: at first, and at most.
	minPause = time.Second
	maxPause = 5 * time.Minute
)

// Damper counts the writes to one object, and says when the next one is due. The zero value has counted none.
type Damper struct {
	// inputs tells what the object was rendered from; a change of it starts the count anew.
	inputs string
	// writes are the times of the last ones, the oldest first, as many as count.
	writes []time.Time
	// pause between writes; 0 as long as nobody fights.
	pause time.Duration
	next  time.Time
}

// Wait says how long the object is to be left alone; 0 means that it may be written to. inputs tells what it is rendered from now.
func (d *Damper) Wait(inputs string, now time.Time) time.Duration {
	if fought, _ := d.Fought(inputs, now); !fought {
		return 0
	}
	return max(0, d.next.Sub(now))
}

// Fought says whether the object is being fought over, and for how long that is still to be said if nobody touches it any more.
func (d *Damper) Fought(inputs string, now time.Time) (fought bool, left time.Duration) {
	if d.pause == 0 || inputs != d.inputs || d.Over(now) {
		return false, 0
	}
	return true, d.writes[len(d.writes)-1].Add(thrashingWindow).Sub(now)
}

// Wrote counts a write. jitter spreads a pause, so that many objects do not wake at once.
func (d *Damper) Wrote(inputs string, now time.Time, jitter func(time.Duration) time.Duration) {
	if inputs != d.inputs || d.Over(now) {
		*d = Damper{inputs: inputs}
	}
	d.writes = append(d.writes, now)
	if extra := len(d.writes) - thrashingWrites - 1; extra > 0 {
		d.writes = d.writes[extra:]
	}
	switch {
	case d.pause > 0:
		d.pause = min(2*d.pause, maxPause)
	case len(d.writes) > thrashingWrites && now.Sub(d.writes[0]) <= thrashingWindow:
		d.pause = minPause
	}
	if d.pause > 0 {
		d.next = now.Add(jitter(d.pause))
	}
}

// Over says whether the object has needed no write for so long that what was counted means nothing any more.
func (d *Damper) Over(now time.Time) bool {
	return len(d.writes) == 0 || now.Sub(d.writes[len(d.writes)-1]) >= thrashingWindow
}
