// Package kube gives integration tests a real Kubernetes API server: the one that `make test` shares among all test
// processes, or else one that it starts for the process at hand. It also finds and installs CRDs.
//
// It owns how tests come to an API server, and nothing of what they do there: it must not know Gatewright's kinds or its
// controllers. How the control plane is built and run is the business of test/controlplane alone.
//
// A package that uses it has a TestMain, because only there is a place to stop what was started:
//
//	func TestMain(m *testing.M) { os.Exit(kube.Run(m)) }
package kube
