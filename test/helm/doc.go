// Package helm runs Helm for tests: of the chart, and of templates that must mean to Gatewright what they mean to Helm.
//
// It owns where Helm comes from and that nothing of the user's own decides about a test. It must not know charts.
package helm
