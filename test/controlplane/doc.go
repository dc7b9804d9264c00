// Command controlplane builds a real Kubernetes control plane (etcd,
// kube-apiserver, kube-controller-manager and kubectl) from its Go modules,
// caches it, and runs it for tests and for the demo.
//
// It owns everything about that control plane: which versions, how they are
// built, with which flags they run and how they are stopped. It must not know
// Gatewright: it imports nothing of the main module and installs nothing into
// the cluster but what it is told to.
//
// It is a module of its own so that the hundreds of modules that Kubernetes is
// made of stay out of Gatewright's own go.sum. The binaries are `tool`
// dependencies of its go.mod: pinned and checksummed there, yet imported by
// nothing, so that the command itself compiles from the standard library alone
// and starts at once.
package main
