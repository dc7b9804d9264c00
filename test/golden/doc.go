// Package golden holds behaviours as folders of YAML: every blueprints/*/cases/* and every sample goes the way that the
// controller and the tool go, from files to objects, verdicts and values, and the outcome is compared with expected.yaml.
//
//	go test ./test/golden           compares
//	go test ./test/golden -update   rewrites expected.yaml; read the difference before you commit it
//
// A case holds input.yaml, and observed.yaml for what is live already, if anything is; its blueprint is the one beside cases/. Live
// objects carry the label gatewright.dev/template, as they do in a cluster.
//
// The package must contain no logic of its own about listeners, values or templates.
package golden
