// Package watch keeps the live state of rendered objects at hand: one informer a kind, started when a blueprint first renders
// the kind, restricted to objects that carry our owner label. It turns their events into reconcile requests of their owners.
//
// It owns which kinds are watched and what is known of them. It must not write, and it must not judge what it sees.
package watch
