// Package schema reads the schema of a blueprint's values, which is written as that of a custom resource is, and implements
// with it what package values asks of one: marks to merge by, defaults, and what is wrong with a tree.
//
// All that a CustomResourceDefinition does is left to the libraries of the API server: structural schemas, defaulting, CEL
// rules and their costs. What is added are the marks of our own (x-gatewright-settable-by, writeOnly), and that nothing is
// passed over in silence: what a schema says and nobody would heed is an error.
//
// It stands apart from package values since those libraries bring much along, among it the API server's metrics. Package
// values must not import it, and it must not know of blueprints, policies or where a value comes from. It never puts a value
// into a message.
package schema
