// Package chart tests the Helm chart as its users meet it: through Helm itself, and against a real API server.
//
// It owns the promises that the chart makes: which rights it asks for, under which restrictions the controller runs, which
// values it knows. It must not test the controller further than that it gets along with what the chart gives it.
package chart
