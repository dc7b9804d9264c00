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

func printJSON(out io.Writer, value any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	// What is printed is for terminals and programs, not for web pages.
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indentation)
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("printing JSON: %w", err)
	}
	return write(out, text.Bytes())
}

func write(out io.Writer, text []byte) error {
	if _, err := out.Write(text); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}
