// Package gateway decides what a Gateway is once its ListenerSets are folded in and its routes attached, with a verdict for
// each of them. Everything it may know stands in a Snapshot; Merge turns that into a Merged, the same for the same objects
// in whatever order they come.
//
// The package is pure: it must not read a cluster, a file, the clock or the environment, must not log, and never changes
// what it is given. A rejection is data (a verdict), never an error. It must not know how values are merged or templates
// rendered; policies pass through a Snapshot unread.
//
// Where Gateway API leaves a choice, it is made here and stated beside the code: conflicts in conflicts.go, unique listener
// names in names.go, which listeners a route reaches in attach.go.
package gateway
