// Package plane owns one running control plane: its keys and certificates,
// the flags of etcd, kube-apiserver and kube-controller-manager, the moment
// when it is ready, and its end.
//
// It must not build or look for binaries (that is package assets), must not
// listen on anything but the loopback interface, and must leave no process
// behind, however its own process ends (on Linux; elsewhere, unless it is
// killed outright).
package plane
