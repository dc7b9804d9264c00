// Package defaults fills in what an API server fills into objects of Gateway API when they are written, so that an object from
// a file is the same to templates as it is in a cluster. It owns the defaults of the CRDs, boiled down to defaults.json; nobody
// writes that file by hand:
//
//	go test ./internal/defaults -update
//
// The package must not validate, and must not know what any field means.
package defaults
