// Package faultproxy stands between the controller and an API server and does to requests what networks, API servers and power
// cuts do to them.
//
// It owns how requests are told apart, counted and tampered with. It must not decide which are, and when: that is the business of the
// test, whose Rule says so for each request.
package faultproxy
