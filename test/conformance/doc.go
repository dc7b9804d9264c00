// Package conformance runs Gateway API's conformance suite, as it is, against the controller on a real control plane.
//
// There are no nodes on that control plane: nothing carries traffic and no Pod ever runs. So the package plays the two parts
// that are missing, and plays them by status alone: the class that shadow Gateways belong to, and the kubelet. Tests that send
// traffic are left out, by name and with the reason; all others run, and none is changed. What ran and what did not is written
// to docs/conformance.md, beside the report that the suite itself makes.
//
// It owns which tests run, and the parts that are played. It must not know how the controller comes to what it reports.
//
// The suite takes minutes, so it runs only if asked to: make conformance.
package conformance
