// Package faultproxy stands between the controller and an API server and does to requests what networks, API servers and power
// cuts do to them.
//
// It owns how requests are told apart, counted and tampered with. Which are tampered with, and when, is the business of the test:
// a Rule says so for each request.
package faultproxy
