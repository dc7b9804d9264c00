// Command gatewright-controller is the manager: it implements the Gateways of GatewayClasses whose controllerName is
// gatewright.dev/controller. It runs in a cluster, or outside of one with --kubeconfig.
//
// It turns flags into a manager with the controllers of package controllers. It must hold no logic of its own.
package main
