package apply

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// body is an object as a server-side apply. The API server reads it as YAML, whatever it is told: there some characters that JSON
// has no need to escape are line breaks, which it folds into a space, or are refused. They are escaped here, which YAML
// understands too.
func body(o *unstructured.Unstructured) (client.Patch, error) {
	plain, err := json.Marshal(o.Object)
	if err != nil {
		return nil, fmt.Errorf("encoding %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	return client.RawPatch(types.ApplyPatchType, escape(plain)), nil
}

func escape(plain []byte) []byte {
	if !bytes.ContainsFunc(plain, special) {
		return plain
	}
	var out bytes.Buffer
	for len(plain) > 0 {
		r, size := utf8.DecodeRune(plain)
		if special(r) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.Write(plain[:size])
		}
		plain = plain[size:]
	}
	return out.Bytes()
}

// special says whether YAML takes a character for more or for less than itself: DEL and the C1 control characters, NEL among
// them, the byte order mark, and two that are none.
func special(r rune) bool {
	return r >= 0x7f && r <= 0x9f || r == 0xfeff || r == 0xfffe || r == 0xffff
}
