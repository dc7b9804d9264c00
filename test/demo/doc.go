// Command demo shows Gatewright at work: from nothing to a Gateway that a blueprint has turned into infrastructure, on a real
// API server. It is what `make demo` runs.
//
// It plays the part of a person with a terminal: everything that it does to the cluster it does with kubectl, and it prints
// each command. It must not know anything that this person would not know.
package main
