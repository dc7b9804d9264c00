// Package verdict holds the one shape in which the pure rooms say what they decided about an object and why. A rejection is
// data, never an error. The package must hold no rules: which reason fits is decided where the rule lives.
package verdict
