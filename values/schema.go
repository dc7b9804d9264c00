package values

import "slices"

// Schema is the contract of a blueprint's values: what merging has to heed, what stands in for what nobody set, and what is
// valid. Any number of Computes may share one. Package schema has the one that is made from an OpenAPI schema.
type Schema interface {
	// Marks say how values merge, who may set them, and which of them nobody shall see; nil if the schema says nothing of that.
	Marks() *Marks
	// Default fills in, in place, what is missing.
	Default(tree Tree)
	// Validate says what is wrong with a tree, sorted by path. It leaves the tree as it is.
	Validate(tree Tree) []Problem
}

// Problem is something that a schema does not allow.
type Problem struct {
	// Path of the value, as a JSON pointer (RFC 6901) that leads through lists by index. What is missing is named too.
	Path string
	// Message says what is wrong in words that follow the path, and never holds a value.
	Message string
	// Unknown says that the schema knows nothing of what stands at the path.
	Unknown bool
}

// Merge says how values at a place are merged.
type Merge string

const (
	// MergeDefault means that maps are merged deeply, lists are replaced whole.
	MergeDefault Merge = ""
	// MergeAtomic means that what stands here is one leaf, a map too (x-kubernetes-map-type: atomic).
	MergeAtomic Merge = "atomic"
	// MergeByKey means that the items of the list are merged by their keys (x-kubernetes-list-type: map).
	MergeByKey Merge = "map"
	// MergeSet means that the list is the union of the lists (x-kubernetes-list-type: set).
	MergeSet Merge = "set"
)

// Party is who may set a value (x-gatewright-settable-by).
type Party string

const (
	// PartyProvider are the blueprint and every GatewayClassConfig.
	PartyProvider Party = "provider"
	// PartyTenant is everybody.
	PartyTenant Party = "tenant"
)

// Marks are what a schema says of a place and of all below it, besides what is valid there. They are never changed. Of a
// place without marks of its own there are none, so that nil stands for it.
type Marks struct {
	// Merge says how values are merged here.
	Merge Merge
	// Keys are those of the items of a list with MergeByKey.
	Keys []Key
	// SettableBy is who may set what stands here and below; empty means who may set what it is part of.
	SettableBy Party
	// Sensitive says that what stands here and below is not to be shown.
	Sensitive bool
	// Properties are the places below a map by key, and Additional is the place of all other keys.
	Properties map[string]*Marks
	Additional *Marks
	// Items is the place of each item of a list.
	Items *Marks
}

// Key is a property by which the items of a list are told apart.
type Key struct {
	Name string
	// Default is the value that an item has which leaves the key out; nil if it must not.
	Default any
}

// property is the place below a map.
func (m *Marks) property(key string) *Marks {
	if m == nil {
		return nil
	}
	if p, ok := m.Properties[key]; ok {
		return p
	}
	return m.Additional
}

// items is the place of each item of a list.
func (m *Marks) items() *Marks {
	if m == nil {
		return nil
	}
	return m.Items
}

// below is the place below a map or, whatever the item is called, below a list.
func (m *Marks) below(key string) *Marks {
	if items := m.items(); items != nil {
		return items
	}
	return m.property(key)
}

// at is the place at the end of a path.
func (m *Marks) at(keys []string) *Marks {
	for _, key := range keys {
		m = m.below(key)
	}
	return m
}

// any says whether something holds for the place or for one below it.
func (m *Marks) any(holds func(*Marks) bool) bool {
	if m == nil {
		return false
	}
	if holds(m) || m.Additional.any(holds) || m.Items.any(holds) {
		return true
	}
	for _, p := range m.Properties {
		if p.any(holds) {
			return true
		}
	}
	return false
}

// reshapes says whether merging depends on the place.
func (m *Marks) reshapes() bool { return m.Merge != MergeDefault }

func (m *Marks) sensitive() bool { return m.Sensitive }

// isKey says whether a path leads to a key of an item of a list.
func (m *Marks) isKey(path []string) bool {
	if len(path) < 2 {
		return false
	}
	list, name := m.at(path[:len(path)-2]), path[len(path)-1]
	return list != nil && list.Merge == MergeByKey && slices.ContainsFunc(list.Keys, func(k Key) bool { return k.Name == name })
}
