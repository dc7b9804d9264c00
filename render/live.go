package render

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// What was observed carries its nature in its type, wherever a template takes it: through variables, helpers, ranges and
// functions. That is how a missing field of a live object (wait for it) is told from a missing value (an error).
type (
	// live is a map out of a live object.
	live map[string]any
	// liveList is a list out of a live object.
	liveList []any
	// liveObjects are the live objects of a template.
	liveObjects []any
	// resources is `.Resources`: liveObjects by template, those only that the template's own text names.
	resources map[string]any
)

// liveCopy copies a live object for templates. Who manages which field is nobody's business there, and large. What is in a
// Secret is left out, also where kubectl keeps a copy of it.
func liveCopy(object *unstructured.Unstructured) any {
	tree := liveTree(object.Object).(live)
	if metadata, ok := tree["metadata"].(live); ok {
		delete(metadata, "managedFields")
	}
	if !isSecret(tree) {
		return tree
	}
	delete(tree, "data")
	delete(tree, "stringData")
	if metadata, ok := tree["metadata"].(live); ok {
		if annotations, ok := metadata["annotations"].(live); ok {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
		}
	}
	return tree
}

func isSecret(tree map[string]any) bool {
	return tree["apiVersion"] == "v1" && tree["kind"] == "Secret"
}

func liveTree(v any) any {
	switch v := v.(type) {
	case map[string]any:
		tree := make(live, len(v))
		for key, child := range v {
			tree[key] = liveTree(child)
		}
		return tree
	case []any:
		list := make(liveList, len(v))
		for i, child := range v {
			list[i] = liveTree(child)
		}
		return list
	}
	return v
}

// plainCopy copies a tree deeply and leaves no special types in it.
func plainCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return plainMap(v)
	case live:
		return plainMap(v)
	case resources:
		return plainMap(v)
	case []any:
		return plainList(v)
	case liveList:
		return plainList(v)
	case liveObjects:
		return plainList(v)
	}
	return v
}

func plainMap(m map[string]any) map[string]any {
	tree := make(map[string]any, len(m))
	for key, child := range m {
		tree[key] = plainCopy(child)
	}
	return tree
}

func plainList(l []any) []any {
	list := make([]any, len(l))
	for i, child := range l {
		list[i] = plainCopy(child)
	}
	return list
}

// asMap sees any of the maps that templates meet as a plain one.
func asMap(v any) (m map[string]any, ok bool) {
	switch v := v.(type) {
	case map[string]any:
		return v, true
	case live:
		return v, true
	case resources:
		return v, true
	case map[string]string:
		m = make(map[string]any, len(v))
		for key, child := range v {
			m[key] = child
		}
		return m, true
	}
	return nil, false
}

// isLive says whether something missing in v may still come.
func isLive(v any) bool {
	switch v.(type) {
	case live, liveList, liveObjects:
		return true
	}
	return false
}
