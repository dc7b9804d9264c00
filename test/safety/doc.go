// Package safety holds what docs/security.md promises of templates: no string of a tenant's changes what is rendered but itself,
// whatever blueprint it goes into; what blueprints are usually written like renders as it does elsewhere; and what runs away is
// stopped, alone.
//
//	go test ./test/safety                       the corpora, and strings that are made of them
//	go test ./test/safety -fuzz FuzzShipped     looks for more
//
// The package goes the way of the controller and the tool, from objects to rendered objects, and must contain no rules of its own
// about listeners, values or templates.
package safety
