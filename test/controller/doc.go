// Package controller runs the controller for tests as it runs in production: the command itself, built from source, in a
// process of its own.
//
// It owns how that process comes and goes. It must not know what the controller works on, nor choose its flags, save for those
// that keep two processes on one machine apart.
package controller
