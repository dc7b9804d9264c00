package values

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// escapeKey writes a key as a reference token of a JSON pointer (RFC 6901, section 3).
var escapeKey = strings.NewReplacer("~", "~0", "/", "~1")

// unescapeKey reads a reference token.
var unescapeKey = strings.NewReplacer("~1", "/", "~0", "~")

// Pointer extends a JSON pointer by a key.
func Pointer(parent, key string) string {
	if strings.ContainsAny(key, "~/") {
		key = escapeKey.Replace(key)
	}
	return parent + "/" + key
}

// pointerTo is the JSON pointer of a path.
func pointerTo(keys []string) string {
	path := ""
	for _, key := range keys {
		path = Pointer(path, key)
	}
	return path
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

// Lookup finds the value at a path of a tree, as Origin, Violation and Effective.Sensitive give it: through maps by key, through
// lists by index. The value is the tree's own, not a copy.
func Lookup(tree Tree, path string) (any, bool) {
	if path != "" && path[0] != '/' {
		return nil, false
	}
	var value any = tree
	for _, key := range keysOf(path) {
		var ok bool
		if value, ok = Step(value, key); !ok {
			return nil, false
		}
	}
	return value, true
}

// Step finds what a map has under a key, or a list at an index.
func Step(value any, key string) (any, bool) {
	switch value := value.(type) {
	case Tree:
		below, ok := value[key]
		return below, ok
	case []any:
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(value) {
			return nil, false
		}
		return value[i], true
	default:
		return nil, false
	}
}

// lookup finds the value at a path that leads through maps only.
func lookup(tree Tree, keys []string) (any, bool) {
	var value any = tree
	for _, key := range keys {
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

// parsePath reads a path as people write it: a.b, a["b.c/d"] or a JSON pointer.
func parsePath(text string) ([]string, error) {
	if text == "" {
		return nil, errors.New("is empty; write a path like a.b")
	}
	if text[0] == '/' {
		return parsePointer(text)
	}
	var keys []string
	for rest := text; ; {
		key, after, err := parseKey(rest, len(keys) == 0)
		if err != nil {
			return nil, fmt.Errorf("has %q, which %w", text, err)
		}
		keys = append(keys, key)
		if after == "" {
			return keys, nil
		}
		rest = after
	}
}

// parsePointer reads a JSON pointer, strictly: a ~ is part of ~0 or ~1.
func parsePointer(text string) ([]string, error) {
	for i := range len(text) {
		if text[i] == '~' && (i+1 == len(text) || text[i+1] != '0' && text[i+1] != '1') {
			return nil, fmt.Errorf("has %q, where ~ is not followed by 0 or 1; write ~0 for ~ and ~1 for / in a key", text)
		}
	}
	return keysOf(text), nil
}

// special are the characters that a key must be quoted for.
const special = ".[]\"'/ \t\n"

// parseKey reads the first key of what is left of a path: name, .name or ["name"].
func parseKey(text string, first bool) (key, rest string, err error) {
	if text[0] == '[' {
		return parseQuotedKey(text)
	}
	if !first {
		if text[0] != '.' {
			return "", "", errors.New(`lacks a dot between two keys; write a.b or a["b"]`)
		}
		text = text[1:]
	}
	end := strings.IndexAny(text, special)
	if end < 0 {
		end = len(text)
	}
	switch {
	case end == 0:
		return "", "", errors.New(`has an empty or unquoted key; write a.b or a["b"]`)
	case end < len(text) && text[end] != '.' && text[end] != '[':
		return "", "", fmt.Errorf(`has %q in a key; write the key in quotes, as a["b.c/d"]`, text[end])
	}
	return text[:end], text[end:], nil
}

// parseQuotedKey reads ["name"], the name being a JSON string, from the start of a path.
func parseQuotedKey(text string) (key, rest string, err error) {
	decoder := json.NewDecoder(strings.NewReader(text[1:]))
	if !strings.HasPrefix(text, `["`) || decoder.Decode(&key) != nil {
		return "", "", errors.New(`has brackets without a string; write a["b"], and leave out list indexes, since a list is removed whole`)
	}
	rest, closed := strings.CutPrefix(text[1+decoder.InputOffset():], "]")
	if !closed {
		return "", "", errors.New(`has a bracket that is not closed; write a["b"]`)
	}
	return key, rest, nil
}
