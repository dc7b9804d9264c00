package values

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// RedactedText is what is shown in place of a sensitive value.
const RedactedText = "(redacted)"

// minSecret is how many characters a secret must have to be looked for in other texts. Shorter ones are found everywhere by
// chance, and to hide them would tell what they are.
const minSecret = 4

// sensitivePaths are the paths of the sensitive values of a tree, the outermost ones.
func (m *Marks) sensitivePaths(tree Tree) []string {
	if !m.any((*Marks).sensitive) {
		return nil
	}
	var paths []string
	m.eachSensitive("", tree, func(path string) { paths = append(paths, path) })
	return paths
}

// eachSensitive calls visit with the paths of the sensitive values at a path and below it. Where a value is not of the kind
// that has the place of a sensitive one below it, it may hold that in another form, and is sensitive itself.
func (m *Marks) eachSensitive(path string, value any, visit func(path string)) {
	if !m.any((*Marks).sensitive) {
		return
	}
	object, isMap := value.(Tree)
	list, isList := value.([]any)
	switch {
	case m.Sensitive, isMap && m.Items != nil, isList && m.Items == nil, !isMap && !isList:
		visit(path)
	case isMap:
		for key, below := range object {
			m.property(key).eachSensitive(Pointer(path, key), below, visit)
		}
	default:
		for i, item := range list {
			m.Items.eachSensitive(path+"/"+strconv.Itoa(i), item, visit)
		}
	}
}

// Redacted is the tree for people to see: without the sensitive values. It shares all else with Tree.
func (e Effective) Redacted() Tree {
	tree := e.Tree
	for _, path := range e.Sensitive {
		changed, ok := redacted(tree, keysOf(path)).(Tree)
		if !ok {
			return Tree{} // the values are sensitive as a whole
		}
		tree = changed
	}
	return tree
}

// redacted is a value less what is at a path. What is not there anyway stays so.
func redacted(value any, keys []string) any {
	if len(keys) == 0 {
		return RedactedText
	}
	switch value := value.(type) {
	case Tree:
		if below, ok := value[keys[0]]; ok {
			value = maps.Clone(value)
			value[keys[0]] = redacted(below, keys[1:])
		}
		return value
	case []any:
		if i, err := strconv.Atoi(keys[0]); err == nil && i >= 0 && i < len(value) {
			value = slices.Clone(value)
			value[i] = redacted(value[i], keys[1:])
		}
		return value
	default:
		return value
	}
}

// Secrets are texts that must not be shown.
type Secrets []string

// SecretsOf are the sensitive values among effective ones, as they are and in base64, in which Kubernetes' own Secrets are.
// Those that are too short to be told from other text are left out.
func SecretsOf(all ...Effective) Secrets {
	found := map[string]bool{}
	for _, e := range all {
		for _, path := range e.Sensitive {
			if value, ok := Lookup(e.Tree, path); ok {
				collect(value, found)
			}
		}
	}
	// The longest come first: a secret may be part of another.
	return slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
}

func collect(value any, found map[string]bool) {
	switch value := value.(type) {
	case Tree:
		for _, below := range value {
			collect(below, found)
		}
	case []any:
		for _, item := range value {
			collect(item, found)
		}
	default:
		if text := scalarText(value); len([]rune(text)) >= minSecret {
			found[text] = true
			found[base64.StdEncoding.EncodeToString([]byte(text))] = true
		}
	}
}

// scalarText is a string or number as templates write it; nothing for what can be no secret.
func scalarText(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case int64, float64:
		text, err := json.Marshal(value)
		if err != nil {
			return "" // a number that JSON has no word for does not come from JSON
		}
		return string(text)
	default:
		return ""
	}
}

// Hide returns an object for people to see, in which every secret that stands in a key, a text or a number is redacted. It
// shares what is free of them with the object.
func (s Secrets) Hide(object map[string]any) map[string]any {
	if len(s) == 0 {
		return object
	}
	pairs := make([]string, 0, 2*len(s))
	for _, secret := range s {
		pairs = append(pairs, secret, RedactedText)
	}
	return hidden(strings.NewReplacer(pairs...), object).(map[string]any)
}

func hidden(r *strings.Replacer, value any) any {
	switch value := value.(type) {
	case map[string]any:
		changed := make(map[string]any, len(value))
		for key, below := range value {
			changed[r.Replace(key)] = hidden(r, below)
		}
		return changed
	case []any:
		changed := make([]any, len(value))
		for i, item := range value {
			changed[i] = hidden(r, item)
		}
		return changed
	case string:
		return r.Replace(value)
	default:
		if text := scalarText(value); r.Replace(text) != text {
			return RedactedText
		}
		return value
	}
}
