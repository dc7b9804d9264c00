package values

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// What is wrong with setting or removing what is the provider's.
const (
	provided = "may be set only by the blueprint and by a GatewayClassConfig; leave it out"
	covering = "would take away what is below it and may be set only by the blueprint and by a GatewayClassConfig; set the rest key by key"
	removing = "is or holds what only the blueprint and a GatewayClassConfig may set; remove less, or nothing"
)

// restricts says whether the place is the provider's, with all below it that is not opened again.
func (m *Marks) restricts() bool { return m.SettableBy == PartyProvider }

// opens says whether the place is for everybody.
func (m *Marks) opens() bool { return m.SettableBy == PartyTenant }

// party is who may set what stands at a place that is part of one which by may set.
func (m *Marks) party(by Party) Party {
	if m == nil {
		return by
	}
	return cmp.Or(m.SettableBy, by)
}

// trespasses finds where a policy says something of what its target's blueprint keeps for the provider, to whom every
// GatewayClassConfig belongs. A block counts whether or not its condition holds: what a policy may not say, it must not wait for
// the moment to say.
func (p *Policy) trespasses(m *Marks, level Level) []Violation {
	if p.kind != v1alpha1.KindGatewayConfig || p.invalid {
		return nil
	}
	t := trespass{}
	for _, b := range p.blocks() {
		t.setter = Setter{p.Ref(), b.name, level}
		t.set(m, PartyTenant, "", b.tree)
	}
	t.setter = Setter{p.Ref(), BlockRemove, level}
	for _, r := range p.removes {
		t.remove(m, r)
	}
	return t.found
}

// blocks are all that a source has: default, override, constraints.
func (p *Policy) blocks() []*block {
	all := append([]*block{p.defaults, p.overrides}, p.constraints...)
	return slices.DeleteFunc(all, func(b *block) bool { return b == nil })
}

// trespass is the search in one policy.
type trespass struct {
	// setter is the block that is looked at.
	setter Setter
	found  []Violation
}

func (t *trespass) report(path, message string) {
	t.found = append(t.found, Violation{Path: path, Message: message, SetBy: []Setter{t.setter}})
}

// set looks at what a block has at a place. by is who may set what the place is part of.
func (t *trespass) set(m *Marks, by Party, path string, value any) {
	by = m.party(by)
	switch value := value.(type) {
	case Tree:
		if m.keepsItems() {
			break // no map stands beside a list
		}
		if len(value) > 0 && (by == PartyTenant || m.any((*Marks).opens)) {
			for key, below := range value {
				t.set(m.property(key), by, Pointer(path, key), below)
			}
			return
		}
		if len(value) == 0 && by == PartyTenant {
			return // it leaves what is below as it is
		}
	case []any:
		if by == PartyTenant && !m.keepsProperties() {
			known := len(t.found)
			merged := t.setItems(m, path, value)
			if merged || len(t.found) > known {
				return
			}
		}
	}
	switch {
	case by == PartyProvider:
		t.report(path, provided)
	case m.keepsProperties() || m.keepsItems():
		t.report(path, covering)
	}
}

// setItems looks at the items of a list, under the names that they are merged by. It says whether they are merged: if not, the
// list takes the place of what stands there.
func (t *trespass) setItems(m *Marks, path string, list []any) (merged bool) {
	var names []string
	if m != nil && (m.Merge == MergeByKey || m.Merge == MergeSet) {
		names, merged = m.names(list)
	}
	for i, item := range list {
		name := strconv.Itoa(i)
		if merged && m.Merge == MergeByKey {
			name = names[i]
		}
		t.set(m.items(), PartyTenant, Pointer(path, name), item)
	}
	return merged
}

// remove looks at a path that a policy removes.
func (t *trespass) remove(m *Marks, r removal) {
	by := m.party(PartyTenant)
	for _, key := range r.keys {
		m = m.below(key)
		by = m.party(by)
	}
	if by == PartyProvider || m.keepsProperties() || m.keepsItems() {
		t.report(r.path, removing)
	}
}

// keepsProperties says whether some of what a map holds here is the provider's.
func (m *Marks) keepsProperties() bool {
	if m == nil {
		return false
	}
	if m.Additional.any((*Marks).restricts) {
		return true
	}
	for _, p := range m.Properties {
		if p.any((*Marks).restricts) {
			return true
		}
	}
	return false
}

// keepsItems says whether some of what a list holds here is the provider's. It would be gone if something came over the list.
func (m *Marks) keepsItems() bool { return m != nil && m.Items.any((*Marks).restricts) }
