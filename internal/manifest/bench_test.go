package manifest

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkDecode reads what a Gateway of a hundred listeners is rendered to.
func BenchmarkDecode(b *testing.B) {
	var text strings.Builder
	text.WriteString("apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata:\n  name: web\nspec:\n  listeners:\n")
	for i := range 100 {
		fmt.Fprintf(&text, "  - name: l%d\n    port: 443\n    protocol: HTTPS\n    hostname: \"h%d.example.com\"\n    tls: {certificateRefs: [{name: c%d}]}\n", i, i, i)
	}
	content := []byte(text.String())
	b.SetBytes(int64(len(content)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(content); err != nil {
			b.Fatal(err)
		}
	}
}
