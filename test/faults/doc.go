// Package faults holds the controller to its invariants while everything around it goes wrong: it runs the command in a process
// of its own against a real API server, has a fault happen, and then lets one checker see whether anything was lost, left over,
// touched that is not ours, or told wrongly.
//
// The faults of a short run are a selection; `make faults` has them all, and prints at its end a table of every fault, and of every
// write at which the controller was killed, with what became of the invariants. A fault is a row with a name; what must hold after
// it stands in check_test.go and status_test.go, once for all of them. tells_test.go breaks each invariant by hand, to see that the
// checker looks.
//
// Whether the controller has come to rest is not found out by waiting: rest_test.go changes what it reads in something that means
// nothing, and it must answer that and write nothing else. idle_test.go watches it for as long as -rest says, besides.
package faults
