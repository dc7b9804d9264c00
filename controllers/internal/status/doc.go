// Package status computes the status of every kind that the controller reports on, from verdicts and from what became of the
// rendered objects, and writes each object's status at most once a pass, and only if it differs.
//
// It owns which condition carries which verdict. Conditions and entries of others are left as they are, in their order. It must
// not decide anything about listeners, values or templates.
package status
