package schema

import (
	"strings"

	"github.com/gatewright/gatewright/values"
)

// pointer makes a JSON pointer of a place as the API server's libraries name it, .a.b[0] or .a[key], in which keys are not
// quoted. So it takes a look at the tree. What is not there is one key, since only the last one can be missing.
func pointer(tree any, place string) string {
	path, _ := follow(tree, place)
	return path
}

// follow walks along a place as far as there is something. It says whether that was to the end; if not, it has walked as
// far as anything leads, and taken the rest for one key.
func follow(value any, place string) (path string, whole bool) {
	if place == "" {
		return "", true
	}
	best, found := values.Pointer("", strings.TrimPrefix(place, ".")), false
	for _, step := range steps(place) {
		below, ok := values.Step(value, step.key)
		if !ok {
			continue
		}
		rest, whole := follow(below, place[step.end:])
		rest = values.Pointer("", step.key) + rest
		if whole {
			return rest, true
		}
		if !found {
			best, found = rest, true
		}
	}
	return best, false
}

// step is a key that a place may begin with, and where it ends.
type step struct {
	key string
	end int
}

// steps are the keys that a place may begin with, the shortest first: up to each dot or bracket, or in brackets up to each
// closing one.
func steps(place string) []step {
	var list []step
	place, dotted := strings.CutPrefix(place, ".")
	shift := 0
	if dotted {
		shift = 1
	}
	if strings.HasPrefix(place, "[") {
		for i := range len(place) {
			if place[i] == ']' {
				list = append(list, step{place[1:i], shift + i + 1})
			}
		}
		return list
	}
	for i := 1 - shift; i <= len(place); i++ { // what comes after a dot may be an empty key
		if i == len(place) || place[i] == '.' || place[i] == '[' {
			list = append(list, step{place[:i], shift + i})
		}
	}
	return list
}
