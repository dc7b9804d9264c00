package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Document is one object of a text.
type Document struct {
	*unstructured.Unstructured
	// Line is where the object starts in the text, from 1.
	Line int

	unnamed map[string]bool
}

// Names says whether errors about the object may name a key of it.
func (d Document) Names(key string) bool { return !d.unnamed[key] }

// Error says what is wrong with a text.
type Error struct {
	// Line of the text, from 1; 0 if the parser names none.
	Line int
	// Path of keys to the place, e.g. `spec.ports[0].name`; "" if there is none.
	Path string
	// Message says what was found, without the text itself.
	Message string
}

// Error is the whole story in one line.
func (e *Error) Error() string {
	var where []string
	if e.Line > 0 {
		where = append(where, fmt.Sprintf("line %d", e.Line))
	}
	if e.Path != "" {
		where = append(where, e.Path)
	}
	if len(where) == 0 {
		return e.Message
	}
	return strings.Join(where, ", ") + ": " + e.Message
}

// Scalar is a scalar as it stands in a text.
type Scalar struct {
	// Text of the scalar, unquoted and unescaped.
	Text string
	// Plain says that it is not quoted, so that YAML would look for numbers and the like in it.
	Plain bool
	// Block says that it is a literal or folded block: text within the text.
	Block bool
	// Key says that it is the key of a map.
	Key bool
	// Path leads to the scalar; for a key, to its map.
	Path *Path
}

// Unnamed is a key that errors must not name.
type Unnamed string

// Bind may say what a scalar stands for: a string, int64, float64, bool or nil. ok is false where the scalar is to be read as
// usual. The value of a key must be a string or Unnamed. The error needs no position.
type Bind func(s Scalar) (value any, ok bool, err error)

// Decode reads all documents of a text, leaving out empty ones. Each must be an object with apiVersion and kind. Errors are of
// type *Error.
func Decode(text []byte) ([]Document, error) {
	return DecodeBound(text, nil)
}

// DecodeBound is Decode with a say in what scalars stand for.
func DecodeBound(text []byte, bind Bind) ([]Document, error) {
	var docs []Document
	err := eachDocument(text, func(root *yaml.Node) error {
		c := &converter{bind: bind}
		tree, err := c.value(root, nil)
		if err != nil {
			return err
		}
		if tree == nil {
			return nil
		}
		object, ok := tree.(map[string]any)
		if !ok {
			return &Error{Line: root.Line, Message: fmt.Sprintf("the document is %s, not an object", Describe(tree))}
		}
		for _, field := range []string{"apiVersion", "kind"} {
			if s, ok := object[field].(string); !ok || s == "" {
				return &Error{Line: root.Line, Path: field, Message: "every object must have one, and it must be a string"}
			}
		}
		docs = append(docs, Document{Unstructured: &unstructured.Unstructured{Object: object}, Line: root.Line, unnamed: c.unnamed})
		return nil
	})
	if err != nil {
		return nil, err
	}
	return docs, nil
}

// DecodeTree reads a text of at most one document, of any shape; nil if there is none. Errors are of type *Error.
func DecodeTree(text []byte, bind Bind) (any, error) {
	var tree any
	seen := false
	err := eachDocument(text, func(root *yaml.Node) error {
		value, err := (&converter{bind: bind}).value(root, nil)
		if err != nil || value == nil {
			return err
		}
		if seen {
			return &Error{Line: root.Line, Message: "there must be only one document here"}
		}
		tree, seen = value, true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return tree, nil
}

// eachDocument hands out the root node of each document of a text.
func eachDocument(text []byte, visit func(root *yaml.Node) error) (err error) {
	// The parser is not ours; a panic in it must be an error like any other.
	defer func() {
		if recover() != nil {
			err = &Error{Message: "the YAML parser cannot cope with this text"}
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(joinSurrogates(text)))
	for {
		var document yaml.Node
		if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return parserError(err)
		}
		if document.Kind != yaml.DocumentNode || len(document.Content) != 1 {
			continue
		}
		if err := visit(document.Content[0]); err != nil {
			return err
		}
	}
}

// surrogates are a character in JSON that is written as two; or a backslash that only looks like the beginning of one.
var surrogates = regexp.MustCompile(`\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}`)

// joinSurrogates writes out the characters that a JSON text holds as two escapes: JSON is YAML but for these.
func joinSurrogates(text []byte) []byte {
	if !bytes.Contains(text, []byte(`\ud`)) && !bytes.Contains(text, []byte(`\uD`)) || !json.Valid(text) {
		return text
	}
	return surrogates.ReplaceAllFunc(text, func(escaped []byte) []byte {
		var joined string
		if len(escaped) == 2 || json.Unmarshal(slices.Concat([]byte{'"'}, escaped, []byte{'"'}), &joined) != nil {
			return escaped
		}
		return []byte(joined)
	})
}

var parserMessage = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)$`)

// parserError gives the parser's error our shape. Its messages speak of characters and tokens; the only one that quotes the text
// is about an alias without its anchor.
func parserError(err error) error {
	match := parserMessage.FindStringSubmatch(err.Error())
	if match == nil {
		return &Error{Message: "this is not YAML"}
	}
	line, _ := strconv.Atoi(match[1])
	message := match[2]
	if strings.HasPrefix(message, "unknown anchor") {
		message = "an alias (*) is not allowed; write the value out, or quote it if it is text"
	}
	return &Error{Line: line, Message: message}
}
