package manifest

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"
)

// Path is the way to a place in a tree, as a list from the end to the root. The nil Path is the root.
type Path struct {
	// Parent is the place one level up.
	Parent *Path
	// Key of the parent map, or "" with Index set.
	Key string
	// Index in the parent list.
	Index int

	isIndex, unnamed bool
}

// String spells the path as field paths are in Kubernetes: `spec.ports[0].name`.
func (p *Path) String() string {
	if p == nil {
		return ""
	}
	parent := p.Parent.String()
	switch {
	case p.unnamed:
		return parent + "[...]"
	case p.isIndex:
		return fmt.Sprintf("%s[%d]", parent, p.Index)
	case strings.ContainsAny(p.Key, ".[]/") || p.Key == "":
		return fmt.Sprintf("%s[%q]", parent, p.Key)
	case parent == "":
		return p.Key
	default:
		return parent + "." + p.Key
	}
}

// Keys are the keys from the root, an index as "".
func (p *Path) Keys() []string {
	if p == nil {
		return nil
	}
	return append(p.Parent.Keys(), p.Key)
}

// converter turns nodes into a tree of map[string]any, []any, string, bool, int64, float64 and nil.
type converter struct {
	bind Bind
	// unnamed are the keys that errors must not name.
	unnamed map[string]bool
	depth   int
}

// maxNesting is far deeper than any object is, and no depth at which what walks a tree later has to worry.
const maxNesting = 256

func (c *converter) value(n *yaml.Node, path *Path) (any, error) {
	if err := refuse(n, path); err != nil {
		return nil, err
	}
	if c.depth++; c.depth > maxNesting {
		return nil, &Error{Line: n.Line, Message: fmt.Sprintf("lists and maps are nested more than %d deep", maxNesting)}
	}
	defer func() { c.depth-- }()
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, path)
	case yaml.SequenceNode:
		list := make([]any, 0, len(n.Content))
		for i, item := range n.Content {
			value, err := c.value(item, &Path{Parent: path, Index: i, isIndex: true})
			if err != nil {
				return nil, err
			}
			list = append(list, value)
		}
		return list, nil
	default:
		return c.scalar(n, path)
	}
}

func (c *converter) mapping(n *yaml.Node, path *Path) (any, error) {
	object := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, unnamed, err := c.key(n.Content[i], path)
		if err != nil {
			return nil, err
		}
		at := &Path{Parent: path, Key: key, unnamed: unnamed}
		if _, found := object[key]; found {
			return nil, &Error{Line: n.Content[i].Line, Path: at.String(), Message: "this key stands here twice"}
		}
		if object[key], err = c.value(n.Content[i+1], at); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// mergeKey takes over the keys of other maps, where it is not quoted.
const mergeKey = "<<"

// key reads a key, and says whether errors must not name it. A key is its text, whatever the text would mean as a value: nobody who
// writes `on:` means the key "true".
func (c *converter) key(n *yaml.Node, path *Path) (key string, unnamed bool, err error) {
	if err := refuse(n, path); err != nil {
		return "", false, err
	}
	switch {
	case n.Kind != yaml.ScalarNode:
		return "", false, &Error{Line: n.Line, Path: path.String(), Message: "a key must be a string"}
	case n.Style == 0 && n.Value == mergeKey:
		return "", false, &Error{Line: n.Line, Path: path.String(), Message: "a merge key (<<) is not allowed; write the keys out"}
	}
	if c.bind == nil {
		return n.Value, false, nil
	}
	value, ok, err := c.bind(scalarOf(n, path, true))
	if err != nil {
		return "", false, &Error{Line: n.Line, Path: path.String(), Message: err.Error()}
	}
	if !ok {
		return n.Value, false, nil
	}
	switch key := value.(type) {
	case string:
		return key, false, nil
	case Unnamed:
		if c.unnamed == nil {
			c.unnamed = map[string]bool{}
		}
		c.unnamed[string(key)] = true
		return string(key), true, nil
	}
	return "", false, &Error{Line: n.Line, Path: path.String(), Message: "a key must be a string"}
}

func (c *converter) scalar(n *yaml.Node, path *Path) (any, error) {
	if c.bind != nil {
		value, ok, err := c.bind(scalarOf(n, path, false))
		if err != nil {
			return nil, &Error{Line: n.Line, Path: path.String(), Message: err.Error()}
		}
		if ok {
			return value, nil
		}
	}
	if n.Style != 0 {
		return n.Value, nil
	}
	value := Plain(n.Value)
	if f, ok := value.(float64); ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		return nil, &Error{Line: n.Line, Path: path.String(), Message: "infinity and NaN are no values in Kubernetes; quote it if it is text"}
	}
	return value, nil
}

func scalarOf(n *yaml.Node, path *Path, key bool) Scalar {
	return Scalar{
		Text:  n.Value,
		Plain: n.Style == 0,
		Block: n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0,
		Key:   key,
		Path:  path,
	}
}

// refuse names what has no place in a manifest.
func refuse(n *yaml.Node, path *Path) error {
	var what string
	switch {
	case n.Kind == yaml.AliasNode:
		what = "an alias (*) is not allowed; write the value out, or quote it if it is text"
	case n.Anchor != "":
		what = "an anchor (&) is not allowed; quote the value if it is text"
	case n.Style&yaml.TaggedStyle != 0:
		what = "a tag (!) is not allowed; quote the value if it is text"
	default:
		return nil
	}
	return &Error{Line: n.Line, Path: path.String(), Message: what}
}

var float = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`)

// Plain says what an unquoted scalar means to Kubernetes: nil, bool, int64, float64, or the string itself.
func Plain(text string) any {
	if text == "" {
		return nil
	}
	switch text[0] {
	case '+', '-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return number(text)
	case '~', 'n', 'N', 'y', 'Y', 't', 'T', 'f', 'F', 'o', 'O':
		return word(text)
	}
	return text
}

func word(text string) any {
	switch text {
	case "~", "null", "Null", "NULL":
		return nil
	case "y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return true
	case "n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return false
	}
	return text
}

func number(text string) any {
	switch strings.TrimLeft(text, "+-") {
	case ".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN":
		return math.NaN()
	}
	digits := strings.ReplaceAll(text, "_", "")
	if text[0] != '.' {
		if i, err := strconv.ParseInt(digits, 0, 64); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(digits, 0, 64); err == nil {
			return float64(u)
		}
	}
	if !float.MatchString(digits) {
		return text
	}
	f, err := strconv.ParseFloat(digits, 64)
	if err != nil {
		return text
	}
	// JSON knows one kind of number, and Kubernetes reads back as an integer what is whole.
	if f == math.Trunc(f) && math.Abs(f) < 1<<63 {
		return int64(f)
	}
	return f
}

// Describe names the type of a decoded value for people: "a map", "a number".
func Describe(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case bool:
		return "true or false"
	case int, int32, int64, uint64, float32, float64:
		return "a number"
	case []any:
		return "a list"
	case map[string]any:
		return "a map"
	}
	return "something else"
}
