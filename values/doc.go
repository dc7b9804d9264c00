// Package values decides what .Values is: policies and the blueprint's own values become one tree, with the origin of every
// leaf. Parse reads a policy once, ParseBlueprint likewise, and Compute folds what matches a target.
//
// The strategy is Custom in the words of GEP-713: patch defaults and patch overrides (RFC 7386), from the least specific
// default to the most specific one, then from the most specific override to the least specific one; among policies of one
// level the oldest wins each leaf.
//
// A blueprint may have a schema. It says how lists and maps merge, who may set what, what stands in for what nobody set, and
// what is valid; what it does not allow is laid at the door of whoever set it. The package owns what it asks of a Schema, and
// must not know how one is written.
//
// The package is pure: the same inputs give the same result in whatever order they are listed, inputs are neither changed
// nor aliased, and nothing is read from a cluster, a clock or a file. It does not know what a merged Gateway is, nor what
// templates make of the tree. It never puts a value into a message.
package values
