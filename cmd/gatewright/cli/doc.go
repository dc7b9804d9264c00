// Package cli holds the commands of gatewright: where their input comes from, what they print, and how they exit. What a Gateway
// is, which values it has and what is rendered for it is decided where the controller has it decided, in packages gateway, values,
// render and internal/desired; this package must never decide any of that itself, and must not write to a cluster.
//
// What a command was asked for goes to standard output, everything else to standard error, so that output can be piped.
package cli
