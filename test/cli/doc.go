// Package cli shows on a real API server that the tool sees a cluster as it sees files: the same objects, the same values, with
// what the API server fills in and what is live. No controller runs meanwhile.
//
// It runs the tool's commands in its own process, and must not look at more of them than they print.
package cli
