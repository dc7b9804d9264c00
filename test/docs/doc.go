// Package docs holds the documentation to what is so: what it shows of the tool's output is what the tool prints, the tests that
// it names exist, and its links lead somewhere.
//
// It must not judge what the documentation says in words, nor follow links to other sites.
package docs
