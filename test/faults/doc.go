// Package faults holds the controller to its invariants while everything around it goes wrong: it runs the command in a process
// of its own against a real API server, has a fault happen, and then lets one checker see whether anything was lost, left over,
// touched that is not ours, or told wrongly.
//
// The faults of a short run are a selection; `make faults` has them all. A fault is a row with a name; what must hold after it
// stands in check_test.go, once for all of them.
package faults
