package cli

import (
	"bytes"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
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
		if lines := linesAt(root.Content[0], segments(path), 0); len(lines) == 1 {
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

// linesAt are the lines at which a path may end. A path may leave out the indexes of lists, and then all items are looked at.
func linesAt(n *yaml.Node, path []string, line int) []int {
	if len(path) == 0 {
		return []int{line}
	}
	var lines []int
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == path[0] {
				lines = append(lines, linesAt(n.Content[i+1], path[1:], n.Content[i].Line)...)
			}
		}
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(path[0]); err == nil && i >= 0 && i < len(n.Content) {
			return linesAt(n.Content[i], path[1:], n.Content[i].Line)
		}
		for _, item := range n.Content {
			lines = append(lines, linesAt(item, path, item.Line)...)
		}
	default:
		// A path cannot go on below a scalar, and aliases are no part of manifests.
	}
	return lines
}
