// Package cases holds what policies say and what must come of it, as YAML: the rows of the decision table, and the examples of
// Kuadrant's RFC 0009. The code that merges is held to them, and so is the tool.
//
// The package turns cases into objects, and what is shown of values into what a case expects. It must never merge anything.
package cases
