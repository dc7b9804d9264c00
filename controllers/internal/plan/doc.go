// Package plan compares what is rendered for a parent with what the parent owns in the cluster and says what is to be done:
// which objects to apply, which to leave as they are, which to prune, which to hold back from pruning. It is pure: objects
// in, steps out.
//
// It owns two arguments that everything else relies on. One is when an object need not be applied: see Unchanged. The other is
// when an object may be deleted: see Prune. It must not read or write a cluster, and it must not know how objects came to be
// rendered.
package plan
