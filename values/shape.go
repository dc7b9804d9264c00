package values

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Overlay knows maps, which it merges, and all else, which it replaces. What a schema wants to merge in another way comes
// into the stack in another shape: a map that is one leaf as a list of one, and a list that is merged as a map of its items
// by name. After merging it is brought back. So there is one way of merging, of removing and of tracing for all of it.

// shaping collects the names of the items of lists, in their order, by the list's path.
type shaping map[string][]string

// shape brings a block's tree into the shape in which it is merged, and tells the names of the items of its lists. The tree
// stays as it is; where nothing has to change they share what is in it.
func shape(m *Marks, tree Tree) (Tree, map[string][]string) {
	s := shaping{}
	return s.object(m, "", tree), s
}

func (s shaping) value(m *Marks, path string, value any) any {
	if m == nil || value == nil {
		return value
	}
	switch m.Merge {
	case MergeAtomic:
		return sealed(value)
	case MergeByKey, MergeSet:
		list, _ := value.([]any)
		names, ok := m.names(list)
		if list == nil || !ok {
			return sealed(value)
		}
		return s.list(m, path, list, names)
	case MergeDefault:
	}
	if object, ok := value.(Tree); ok {
		return s.object(m, path, object)
	}
	return value
}

func (s shaping) object(m *Marks, path string, object Tree) Tree {
	if object == nil {
		return nil
	}
	changed := make(Tree, len(object))
	for key, value := range object {
		changed[key] = s.value(m.property(key), Pointer(path, key), value)
	}
	return changed
}

func (s shaping) list(m *Marks, path string, list []any, names []string) Tree {
	items := make(Tree, len(list))
	for i, item := range list {
		if m.Merge == MergeSet {
			items[names[i]] = []any{item}
		} else {
			items[names[i]] = s.value(m.Items, Pointer(path, names[i]), item)
		}
	}
	s[path] = names
	return items
}

// sealed makes one leaf of a value. As in all maps that are merged, a null in a map means that there is nothing.
func sealed(value any) any {
	if object, ok := value.(Tree); ok {
		value = withoutNulls(object)
	}
	return []any{value}
}

func withoutNulls(tree Tree) Tree {
	rest := make(Tree, len(tree))
	for key, value := range tree {
		if object, ok := value.(Tree); ok {
			value = withoutNulls(object)
		}
		if value != nil {
			rest[key] = value
		}
	}
	return rest
}

// names are the names of the items of a list that is merged. They fail if an item has none, or two have the same: such a list
// is replaced whole, and the schema will not allow it.
func (m *Marks) names(list []any) ([]string, bool) {
	names := make([]string, len(list))
	known := make(map[string]bool, len(list))
	for i, item := range list {
		name, ok := m.name(item)
		if !ok || known[name] {
			return nil, false
		}
		names[i], known[name] = name, true
	}
	return names, true
}

// name is what an item is called in paths that do not lead into the result: that of a set is its value, that of a list with
// keys is key=value, with commas between them. Different items have different names.
func (m *Marks) name(item any) (string, bool) {
	if m.Merge == MergeSet {
		return word(item), item != nil
	}
	object, ok := item.(Tree)
	if !ok {
		return "", false
	}
	parts := make([]string, len(m.Keys))
	for i, key := range m.Keys {
		value, present := object[key.Name]
		if !present {
			value = key.Default
		}
		switch value.(type) {
		case nil, Tree, []any:
			return "", false
		}
		parts[i] = key.Name + "=" + word(value)
	}
	return strings.Join(parts, ","), true
}

// word writes a value as JSON, and a string as it is where that cannot be taken for something else.
func word(value any) string {
	text, plain := value.(string)
	if plain && !strings.ContainsAny(text, `,="`) && !json.Valid([]byte(text)) && text != "" {
		return text
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return "" // what was decoded from JSON can be encoded
	}
	return string(encoded)
}

// unshaping brings a merged tree back into the shape that people know.
type unshaping struct {
	// layers are those that were merged, the weakest first: the items of a list come in the order in which they name them.
	layers []*layer
	// places are the paths of all items of lists in the merged tree, with their paths in the result.
	places map[string]string
}

func unshape(m *Marks, tree Tree, layers []*layer) (Tree, map[string]string) {
	u := &unshaping{layers: layers, places: map[string]string{}}
	return u.object(m, "", "", tree), u.places
}

// value brings a value back that stood at one path and now stands at another.
func (u *unshaping) value(m *Marks, was, is string, value any) any {
	if m == nil {
		return value
	}
	if m.Merge != MergeDefault {
		if whole, ok := value.([]any); ok {
			return whole[0]
		}
		return u.list(m, was, is, value.(Tree))
	}
	if object, ok := value.(Tree); ok {
		return u.object(m, was, is, object)
	}
	return value
}

func (u *unshaping) object(m *Marks, was, is string, object Tree) Tree {
	changed := make(Tree, len(object))
	for key, value := range object {
		changed[key] = u.value(m.property(key), Pointer(was, key), Pointer(is, key), value)
	}
	return changed
}

func (u *unshaping) list(m *Marks, was, is string, items Tree) []any {
	list := make([]any, 0, len(items))
	for _, name := range u.order(was, items) {
		from, to := Pointer(was, name), is+"/"+strconv.Itoa(len(list))
		u.places[from] = to
		if m.Merge == MergeSet {
			list = append(list, items[name].([]any)[0])
		} else {
			list = append(list, u.value(m.Items, from, to, items[name]))
		}
	}
	return list
}

// order are the names of the items that a list has in the result.
func (u *unshaping) order(path string, items Tree) []string {
	names := make([]string, 0, len(items))
	known := make(map[string]bool, len(items))
	for _, l := range u.layers {
		for _, name := range l.items[path] {
			if _, present := items[name]; present && !known[name] {
				known[name] = true
				names = append(names, name)
			}
		}
	}
	return names
}

// translate gives a path of the merged tree as one of the result, by what unshape learned. An item that is not in the result
// keeps its name.
func translate(path string, places map[string]string) string {
	for end := len(path); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		if place, ok := places[path[:end]]; ok {
			return place + path[end:]
		}
	}
	return path
}
