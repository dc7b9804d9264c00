package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// FromJSON prints a JSON text as YAML, with its keys in their order.
func FromJSON(text []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	root, err := node(decoder)
	if err != nil {
		return nil, err
	}
	printed, err := yaml.NewRNode(root).String()
	return []byte(printed), err
}

// node reads one JSON value.
func node(decoder *json.Decoder) (*yaml.Node, error) {
	token, err := decoder.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case json.Delim:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		if token == '{' {
			n.Kind = yaml.MappingNode
		}
		for decoder.More() {
			// A map hands out its keys between its values.
			item, err := node(decoder)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, item)
		}
		_, err := decoder.Token()
		return n, err
	case string:
		return textNode(token), nil
	case nil:
		return yaml.NewScalarRNode("null").YNode(), nil
	default:
		return yaml.NewScalarRNode(fmt.Sprint(token)).YNode(), nil
	}
}

// textNode is a text, without quotes where nobody takes it for something else. Several lines stand on several lines.
func textNode(text string) *yaml.Node {
	n := yaml.NewStringRNode(text).YNode()
	switch {
	case strings.Contains(text, "\n"):
		n.Style = yaml.LiteralStyle
	case Plain(text) != any(text) || text == mergeKey:
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// Harmless escapes what a JSON text may hold that a terminal might obey, or that YAML does not allow. It means the same as before.
func Harmless(text []byte) []byte {
	harmful := func(r rune) bool { return !unicode.IsGraphic(r) && r != '\n' }
	if bytes.IndexFunc(text, harmful) < 0 {
		return text
	}
	var out []byte
	for _, r := range string(text) {
		switch {
		case !harmful(r):
			out = append(out, string(r)...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04x`, r)
		}
	}
	return out
}
