// Package walls holds the house together: it fails when a package imports, directly or through others, what the
// architecture keeps from it, and when a package does not say what it is for.
//
// It owns the list of walls, each with its reason. It must not judge anything that the list of imports does not show; what
// packages may call is the linter's to say.
package walls
