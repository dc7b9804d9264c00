package cli

import (
	"bytes"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// lineOf finds the line of a field of a document; 0 if it is not certain. Decoders keep no lines, and nearly always none is asked
// for, so that the text is just read again.
func lineOf(d document, path string) int {
	decoder := yaml.NewDecoder(bytes.NewReader(d.text.content))
	for path != "" {
		var root yaml.Node
		if decoder.Decode(&root) != nil {
			return 0
		}
		if len(root.Content) != 1 || root.Content[0].Line != d.Line {
			continue
		}
		if lines := linesAt(yaml.NewRNode(root.Content[0]), segments(path), 0); len(lines) == 1 {
			return lines[0]
		}
		return 0
	}
	return 0
}

// segments splits `spec.listeners[1].port` into its keys and indexes.
func segments(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' })
}

// linesAt are the lines at which a path may end. A path may leave out the indexes of lists, and then all items are looked at; it
// cannot go on below a scalar, and aliases are no part of manifests.
func linesAt(n *yaml.RNode, path []string, line int) []int {
	if len(path) == 0 {
		return []int{line}
	}
	if field := n.Field(path[0]); field != nil {
		return linesAt(field.Value, path[1:], field.Key.YNode().Line)
	}
	items, err := n.Elements()
	if err != nil {
		return nil
	}
	if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 {
		path, items = path[1:], items[min(i, len(items)):min(i+1, len(items))]
	}
	var lines []int
	for _, item := range items {
		lines = append(lines, linesAt(item, path, item.YNode().Line)...)
	}
	return lines
}
