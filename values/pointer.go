package values

import "strings"

// escapeKey writes a key as a reference token of a JSON pointer (RFC 6901, section 3).
var escapeKey = strings.NewReplacer("~", "~0", "/", "~1")

// unescapeKey reads a reference token. Its order matters: "~01" is "~1", not "/".
var unescapeKey = strings.NewReplacer("~1", "/", "~0", "~")

// pointer extends a JSON pointer by a key.
func pointer(parent, key string) string {
	if strings.ContainsAny(key, "~/") {
		key = escapeKey.Replace(key)
	}
	return parent + "/" + key
}

// keysOf splits a JSON pointer into its keys.
func keysOf(pointer string) []string {
	if pointer == "" {
		return nil
	}
	keys := strings.Split(pointer[1:], "/")
	for i, key := range keys {
		keys[i] = unescapeKey.Replace(key)
	}
	return keys
}

// Lookup finds the value at a path of a tree, as Origin and Removal give it. Paths lead through maps only, since lists are
// leaves. The value is the tree's own, not a copy.
func Lookup(tree Tree, path string) (any, bool) {
	var value any = tree
	for _, key := range keysOf(path) {
		object, ok := value.(Tree)
		if !ok {
			return nil, false
		}
		if value, ok = object[key]; !ok {
			return nil, false
		}
	}
	return value, true
}
