// Package assets owns the binaries of the test control plane: which ones
// there are, from which pinned module each is built, where they are cached
// and how two builders at once come to one build.
//
// It must not start any of them (that is package plane), must not download
// anything but Go modules through the go command, and must not write outside
// the cache directory that it is given, except for a temporary directory that
// it removes.
package assets
