package values

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// restore brings a merged tree, and all paths that lead into it, into the shape that people know.
func (s *stack) restore(e *Effective) {
	if s.marks == nil {
		return
	}
	var places map[string]string
	e.Tree, places = unshape(s.marks, e.Tree, s.layers)
	for i := range e.Origins {
		e.Origins[i].Path = translate(e.Origins[i].Path, places)
	}
	for i := range e.Removed {
		e.Removed[i].Path = translate(e.Removed[i].Path, places)
	}
	for i := range e.Hidden {
		e.Hidden[i].Path = translate(e.Hidden[i].Path, places)
	}
	for _, c := range e.Contributions {
		for i := range c.Shadowed {
			c.Shadowed[i].Path = translate(c.Shadowed[i].Path, places)
		}
	}
	e.sort()
}

// conform fills in the defaults of a blueprint's schema and holds the values against it. own is how provenance calls the schema.
func (e *Effective) conform(schema Schema, own Setter) {
	marks := schema.Marks()
	schema.Default(e.Tree)
	e.claim(marks, own)
	e.Sensitive = marks.sensitivePaths(e.Tree)
	for _, p := range schema.Validate(e.Tree) {
		e.Violations = append(e.Violations, Violation{Path: p.Path, Message: p.Message, SetBy: e.responsible(p.Path, own)})
		// A key that was perhaps meant to be a sensitive one is not shown either.
		if p.Unknown && marks.at(keysOf(parentOf(p.Path))).any((*Marks).sensitive) {
			e.Sensitive = append(e.Sensitive, p.Path)
		}
	}
	slices.Sort(e.Sensitive)
	e.Sensitive = slices.Compact(e.Sensitive)
}

// claim gives the leaves that nobody set to the schema. What has been filled up is no leaf any more.
func (e *Effective) claim(m *Marks, own Setter) {
	known := make(map[string]Origin, len(e.Origins))
	for _, o := range e.Origins {
		known[o.Path] = o
	}
	var origins []Origin
	m.eachLeaf("", e.Tree, func(path string) {
		o, ok := known[path]
		if !ok {
			o = Origin{Path: path, Setter: own, Shadowed: []Setter{}}
		}
		delete(known, path)
		origins = append(origins, o)
	})
	e.Origins = origins
	e.sort()
	e.uncover(slices.Sorted(maps.Keys(known)))
	sets := map[string]int{}
	for _, o := range origins {
		sets[o.SetBy]++
	}
	for i := range e.Contributions {
		e.Contributions[i].Sets = sets[e.Contributions[i].Source]
	}
}

// uncover tells of what was shadowed at places, above or below, of which origins told that were there until the schema filled up
// the empty maps. The paths are sorted. A tenant may write very many empty maps, so nothing here goes through all of them for each.
func (e *Effective) uncover(paths []string) {
	if len(paths) == 0 {
		return
	}
	told := make(map[Hidden]bool, len(e.Hidden))
	for _, hidden := range e.Hidden {
		told[hidden] = true
	}
	itself := func(path string) string { return path }
	for _, c := range e.Contributions {
		for _, s := range c.Shadowed {
			hidden := Hidden{Path: s.Path, Setter: Setter{c.Source, s.Block, c.Level}, By: s.By, Message: s.Message}
			if told[hidden] || !anyAlong(paths, itself, s.Path, func(string) bool { return true }) {
				continue
			}
			told[hidden] = true
			if !anyAlong(e.Origins, pathOf, s.Path, func(o Origin) bool { return slices.Contains(o.Shadowed, hidden.Setter) }) {
				e.Hidden = append(e.Hidden, hidden)
			}
		}
	}
	e.sort()
}

func pathOf(o Origin) string { return o.Path }

// anyAlong says whether any of a list that is sorted by path, and that stands at a path, above or below it, is meant.
func anyAlong[T any](sorted []T, pathOf func(T) string, at string, meant func(T) bool) bool {
	find := func(path string) (int, bool) {
		return slices.BinarySearchFunc(sorted, path, func(item T, path string) int { return strings.Compare(pathOf(item), path) })
	}
	for above := at; above != ""; above = parentOf(above) {
		if i, ok := find(above); ok && meant(sorted[i]) {
			return true
		}
	}
	for i, _ := find(at + "/"); i < len(sorted) && strings.HasPrefix(pathOf(sorted[i]), at+"/"); i++ {
		if meant(sorted[i]) {
			return true
		}
	}
	return false
}

// leadsTo says whether a path is another one or leads below it.
func leadsTo(path, at string) bool { return path == at || strings.HasPrefix(path, at+"/") }

// eachLeaf calls visit with the path of every leaf below a value that stands at a path of the result.
func (m *Marks) eachLeaf(path string, value any, visit func(path string)) {
	switch value := value.(type) {
	case Tree:
		if len(value) > 0 && (m == nil || m.Merge == MergeDefault) {
			for key, below := range value {
				m.property(key).eachLeaf(Pointer(path, key), below, visit)
			}
			return
		}
	case []any:
		if m.merges(value) {
			for i, item := range value {
				m.leavesOfItem(path+"/"+strconv.Itoa(i), item, visit)
			}
			return
		}
	}
	if path != "" {
		visit(path)
	}
}

// merges says whether the items of a list have origins of their own.
func (m *Marks) merges(list []any) bool {
	if m == nil || len(list) == 0 || m.Merge != MergeByKey && m.Merge != MergeSet {
		return false
	}
	_, ok := m.names(list)
	return ok
}

func (m *Marks) leavesOfItem(path string, item any, visit func(path string)) {
	if m.Merge == MergeSet {
		visit(path)
		return
	}
	m.Items.eachLeaf(path, item, visit)
}

// responsible are those to whom it falls to mend what is wrong at a path; see Violation.
func (e *Effective) responsible(path string, own Setter) []Setter {
	if found := within(e.Origins, path); len(found) > 0 {
		return setters(found)
	}
	for at := path; at != ""; at = parentOf(at) {
		if found := within(e.Origins, at); len(found) > 0 && found[0].Path == at {
			return []Setter{found[0].Setter} // a leaf that the path leads into
		}
	}
	var removers []Setter
	for _, r := range e.Removed {
		if leadsTo(r.Path, path) {
			removers = append(removers, r.By)
		}
	}
	if len(removers) > 0 {
		return distinct(removers)
	}
	// What the schema filled in beside it does not make the map the blueprint's.
	beside := slices.DeleteFunc(setters(within(e.Origins, parentOf(path))), func(s Setter) bool { return s == own })
	if parentOf(path) == "" || len(beside) == 0 || beside[0].SetBy == own.SetBy {
		return []Setter{own}
	}
	return beside
}

// setters are those of some leaves, each once.
func setters(origins []Origin) []Setter {
	list := make([]Setter, len(origins))
	for i, o := range origins {
		list[i] = o.Setter
	}
	return distinct(list)
}

// distinct sorts setters, the least specific first, which are those of the blueprint, and leaves each there once.
func distinct(list []Setter) []Setter {
	slices.SortFunc(list, func(a, b Setter) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), cmp.Compare(a.SetBy, b.SetBy), cmp.Compare(a.Block, b.Block))
	})
	return slices.Compact(list)
}

// blame adds what policies were not allowed to set, sorts all violations, and tells each source of its own.
func (e *Effective) blame(sources []source) {
	for _, s := range sources {
		e.Violations = append(e.Violations, s.trespasses...)
	}
	slices.SortFunc(e.Violations, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message),
			slices.CompareFunc(a.SetBy, b.SetBy, func(a, b Setter) int {
				return cmp.Or(cmp.Compare(a.SetBy, b.SetBy), cmp.Compare(a.Block, b.Block))
			}))
	})
	for i := range e.Contributions {
		c := &e.Contributions[i]
		for _, v := range e.Violations {
			if slices.ContainsFunc(v.SetBy, func(s Setter) bool { return s.SetBy == c.Source }) {
				c.Violations = append(c.Violations, v)
			}
		}
	}
}

// parentOf is the JSON pointer of what the value at a path is part of.
func parentOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }
