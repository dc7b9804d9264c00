// Package image tests what a container image is built from, where there is no engine to build one: the context that the
// builder sees, the command that it runs there, and what comes out.
//
// It must not know how binaries are built; that is the Makefile's, and the image has to use it.
package image
