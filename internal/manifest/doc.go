// Package manifest turns YAML text into Kubernetes objects and back. Printed text has its keys in the order that people know from
// kustomize or, of what is no object, in that of its JSON. The package owns what a text may be: a stream of documents that a
// real YAML parser tells apart (never a search for "---"), each a plain tree. Whatever would let a tree say something twice or
// from elsewhere is an error: duplicate keys, anchors, aliases, merge keys, explicit tags.
//
// Scalars mean what they mean to kubectl (YAML 1.1 words such as `yes`, int64 where a number is whole), so that nobody reads a
// manifest differently than the rest of Kubernetes does.
//
// The package must not know templates, clusters or files, and must not panic on any input. Its errors name line and key path,
// never the text.
package manifest
