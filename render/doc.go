// Package render holds what a blueprint means: template texts in, Kubernetes objects out, with "not yet" (Pending) and "broken"
// (Failed) told apart from "rendered" and from "renders to nothing".
//
// Compile does once per generation of a blueprint all that does not depend on a Gateway; a Run is one rendering of one Set of
// templates for one Gateway or route. Templates are text/template with an allow-list of sprig and what Helm users know, so that
// what authors have learned elsewhere holds here. It differs where it has to:
//
//   - A string that an action prints is bound to the parsed YAML like a parameter to a prepared statement. It is one scalar, or a
//     part of one, whatever is in it, so neither quoting nor escaping is a matter of safety. YAML comes from toYaml and include.
//   - A field that is not set is an error where it is needed, nil where a condition, default or the like asks for it, and an empty
//     list to range. A field of a live object in .Resources is waited for instead of an error, and asked for alike.
//   - .Resources is followed by the literal name of a sibling, since the order of rendering is made of these names.
//   - set, unset and merge give changed copies. Nothing that a template does is seen by another.
//   - Everything is bounded: steps, output, memory, nesting.
//   - Objects are of the kinds that the template writes literally, or that spec.permits lists, and of the parent's namespace.
//
// The package must not read a cluster, the clock, the environment or a random source, must not mutate what it is given, and must
// not know where values come from or how objects are applied. Errors name template, line and expression, never a value.
package render
