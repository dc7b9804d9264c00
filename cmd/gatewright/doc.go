// Command gatewright shows, from files or from a cluster, what the controller makes of Gateways: what it renders, from which
// values, set by whom. Installed as kubectl-gatewright it is a plugin of kubectl.
//
// The command itself must hold nothing but its version: what it does stands in package cli.
package main
