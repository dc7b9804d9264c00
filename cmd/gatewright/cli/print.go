package cli

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/internal/manifest"
)

// The output formats.
const (
	outputYAML  = "yaml"
	outputJSON  = "json"
	outputTable = "table"
)

// indentation is that of kubectl.
const indentation = "    "

// printObjects prints objects, sorted: as YAML documents, or as one JSON List.
func printObjects(out io.Writer, format string, objects []*unstructured.Unstructured) error {
	slices.SortStableFunc(objects, func(a, b *unstructured.Unstructured) int {
		return cmp.Or(
			cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetKind(), b.GetKind()),
			cmp.Compare(a.GetName(), b.GetName()), cmp.Compare(a.GetAPIVersion(), b.GetAPIVersion()),
		)
	})
	if format == outputJSON {
		items := make([]any, len(objects))
		for i, object := range objects {
			items[i] = object.Object
		}
		return printJSON(out, map[string]any{"apiVersion": "v1", "kind": "List", "metadata": map[string]any{}, "items": items})
	}
	text, err := manifest.Encode(objects...)
	if err != nil {
		return err
	}
	return write(out, text)
}

// printJSON prints a value as JSON.
func printJSON(out io.Writer, value any) error {
	text, err := toJSON(value)
	if err != nil {
		return err
	}
	return write(out, indented(text))
}

// printYAML prints a value as YAML, with its keys in the order of JSON.
func printYAML(out io.Writer, value any) error {
	text, err := toJSON(value)
	if err != nil {
		return err
	}
	if text, err = manifest.FromJSON(text); err != nil {
		return fmt.Errorf("printing YAML: %w", err)
	}
	return write(out, text)
}

// toJSON is a value as JSON on one line. What is printed is for terminals and programs, not for web pages.
func toJSON(value any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("printing JSON: %w", err)
	}
	return manifest.Harmless(bytes.TrimSpace(text.Bytes())), nil
}

// indented is a JSON text with a line for each key.
func indented(text []byte) []byte {
	var out bytes.Buffer
	// The text was encoded just now.
	_ = json.Indent(&out, text, "", indentation)
	out.WriteByte('\n')
	return out.Bytes()
}

func write(out io.Writer, text []byte) error {
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
