package render

import (
	"maps"
	"slices"
)

// sortByReads orders names so that each comes after all that it reads, and else by name. If that is impossible, it gives one
// cycle instead, its first name repeated at the end.
func sortByReads(reads map[string][]string) (order, cycle []string) {
	const (
		entered = 1
		done    = 2
	)
	state := map[string]int{}
	var path []string
	var visit func(name string) bool
	visit = func(name string) bool {
		switch state[name] {
		case done:
			return true
		case entered:
			cycle = append(slices.Clone(path[slices.Index(path, name):]), name)
			return false
		}
		state[name] = entered
		path = append(path, name)
		for _, read := range reads[name] {
			if !visit(read) {
				return false
			}
		}
		path = path[:len(path)-1]
		state[name] = done
		order = append(order, name)
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(reads)) {
		if !visit(name) {
			return nil, cycle
		}
	}
	return order, nil
}
