// Package render holds what a blueprint means: template texts in, Kubernetes objects out, with "not yet" (Pending) and "broken"
// (Failed) told apart from "rendered" and from "renders to nothing".
//
// Compile does once per generation of a blueprint all that does not depend on a Gateway; a Run is one rendering of one Set of
// templates for one Gateway or route.
//
// The package must not read a cluster, the clock, the environment or a random source, must not mutate what it is given, and must
// not know where values come from or how objects are applied. Errors name template, line and expression, never a value.
package render
