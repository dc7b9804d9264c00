// Package desired says what should exist for one Gateway, and for one route under each of its parents: it hands the merged
// Gateway to package values, the effective values to package render, and puts the marks of ownership on what comes out.
//
// It is the one place where the pure rooms meet, so that the controller and the command line tool go the same way. It must
// not read or write anything, and it decides nothing that belongs into one of the rooms.
package desired
