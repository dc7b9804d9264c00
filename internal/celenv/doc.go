// Package celenv compiles the CEL expressions that authors of policies and blueprints write: one environment for all of them, with
// the libraries of Kubernetes' own CEL that need nothing but their arguments, so that an expression knows no clock, no randomness
// and no cluster. It must not know what an expression is for, nor evaluate any.
package celenv
