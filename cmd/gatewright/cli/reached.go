package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/values"
)

// maxNames is how many sources a verdict names.
const maxNames = 3

// reachView is what a policy, or what it has at a path, reaches.
type reachView struct {
	Policy string `json:"policy"`
	// Path is a JSON pointer; empty if it is about the whole policy.
	Path    string    `json:"path,omitempty"`
	Reaches []reached `json:"reaches"`
	// Unmatched are the target references that reach nothing.
	Unmatched []unmatchedTarget `json:"unmatched,omitempty"`
}

// unmatchedTarget is a target reference that reaches nothing.
type unmatchedTarget struct {
	// Target counts the target references from 1.
	Target  int    `json:"target"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// targetName names a Gateway, a listener or a route under one parent.
type targetName struct {
	// Target is the whole name for people.
	Target string `json:"target"`
	// Gateway is the Gateway of the target, as namespace/name.
	Gateway   string `json:"gateway"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Listener is set for a listener, as its Gateway or ListenerSet names it.
	Listener string `json:"listener,omitempty"`
	// Rule is set for a rule of a route.
	Rule string `json:"rule,omitempty"`
	// Parent is set for a route.
	Parent string `json:"parent,omitempty"`
}

// reached is one target and what becomes of the policy there.
type reached struct {
	targetName
	Level values.Level `json:"level"`
	// Verdict sums up all below for people.
	Verdict string `json:"verdict"`
	// Set are leaves of the policy that are in the target's values.
	Set []fate `json:"set,omitempty"`
	// Shadowed are leaves that others keep out.
	Shadowed []fate `json:"shadowed,omitempty"`
	// Removed are leaves that others took away.
	Removed []fate `json:"removed,omitempty"`
	// Removes are leaves of others that the policy took away.
	Removes []fate `json:"removes,omitempty"`
	// Inactive are blocks of the policy that have no part.
	Inactive []values.Inactive `json:"inactive,omitempty"`
	// Violations are what the blueprint's schema does not allow the policy.
	Violations []values.Violation `json:"violations,omitempty"`
	// Held are those for whose sake nothing new is put into effect.
	Held []string `json:"held,omitempty"`
}

// fate is what became of a leaf.
type fate struct {
	Path string `json:"path"`
	// Block of the policy that sets or removes the leaf.
	Block string `json:"block"`
	// By is who shadowed or removed it, or whose it was.
	By *values.Setter `json:"by,omitempty"`
	// Message is that of the constraint, if By is one that has a message.
	Message string `json:"message,omitempty"`
}

// targetOf names the end of a path of a Gateway.
func targetOf(gw types.NamespacedName, reach desired.Reach) targetName {
	key := reach.Parent
	t := targetName{Gateway: gw.String(), Kind: string(key.Kind), Namespace: key.Namespace, Name: key.Name}
	switch {
	case reach.Listener != nil:
		t.Listener = string(reach.Listener.Source.SectionName)
	case reach.Route != nil:
		object := reach.Route.Object
		t.Kind, t.Namespace, t.Name = string(reach.Route.Kind), object.GetNamespace(), object.GetName()
		t.Parent, t.Rule = parentName(*reach.Under), string(reach.Rule)
	}
	t.Target = fmt.Sprintf("%s %s/%s", t.Kind, t.Namespace, t.Name)
	if t.Listener != "" {
		t.Target += ", listener " + t.Listener
	}
	if t.Rule != "" {
		t.Target += ", rule " + t.Rule
	}
	if t.Parent != "" {
		t.Target += " under " + t.Parent
	}
	return t
}

// fates finds what became of what the policy has at a path and below. What one of its blocks keeps another from saying is no
// loss to the policy.
func (row *reached) fates(e values.Effective, p policy, at string) {
	source := p.parsed.Ref()
	for _, o := range e.Origins {
		if o.SetBy == source && within(o.Path, at) {
			row.Set = append(row.Set, fate{Path: o.Path, Block: o.Block})
		}
	}
	c := contribution(e, source)
	for _, v := range c.Violations {
		if within(v.Path, at) || within(at, v.Path) {
			row.Violations = append(row.Violations, v)
		}
	}
	for _, s := range c.Shadowed {
		if s.By.SetBy != source && within(s.Path, at) {
			row.Shadowed = append(row.Shadowed, fate{s.Path, s.Block, &s.By, s.Message})
		}
	}
	for _, r := range e.Removed {
		switch {
		case !within(r.Path, at):
		case r.By.SetBy == source:
			row.Removes = append(row.Removes, fate{r.Path, r.By.Block, &r.Setter, ""})
		case r.SetBy == source:
			row.Removed = append(row.Removed, fate{r.Path, r.Block, &r.By, r.Message})
		}
	}
	for _, i := range e.Inactive {
		if i.SetBy == source && p.blockHolds(i.Block, at) {
			row.Inactive = append(row.Inactive, i)
		}
	}
}

// within says whether a path is another one or leads below it.
func within(path, at string) bool {
	return path == at || strings.HasPrefix(path, at+"/")
}

// blocks are the policy's trees by the names of their blocks. What cannot be read is left out.
func (p policy) blocks() map[string]values.Tree {
	trees := map[string]values.Tree{}
	add := func(name string, raw *apiextensionsv1.JSON) {
		var tree values.Tree
		if raw != nil && json.Unmarshal(raw.Raw, &tree) == nil {
			trees[name] = tree
		}
	}
	spec := p.object.PolicySpec()
	add(values.BlockDefault, spec.Default)
	add(values.BlockOverride, spec.Override)
	for _, c := range spec.Constraints {
		add(values.BlockConstraint+c.Name, c.Override)
	}
	return trees
}

// blockHolds says whether a block has something at a path.
func (p policy) blockHolds(name, at string) bool {
	_, holds := values.Lookup(p.blocks()[name], at)
	return holds
}

// holdsPath says whether the policy has something at the view's path: it sets it, or removes it, or what it is in.
func (v *reachView) holdsPath(p policy) bool {
	for name := range p.blocks() {
		if p.blockHolds(name, v.Path) {
			return true
		}
	}
	for _, text := range p.object.PolicySpec().Remove {
		removed, err := pointerTo(text)
		if err == nil && (within(removed, v.Path) || within(v.Path, removed)) {
			return true
		}
	}
	// A path may lead to an item of a list that is merged, which blocks have at another place.
	return v.Path == "" || slices.ContainsFunc(v.Reaches, func(row reached) bool {
		return len(row.Set)+len(row.Shadowed)+len(row.Removed)+len(row.Removes) > 0
	})
}

// verdict sums up what becomes of the policy.
func (row *reached) verdict(source string, policy verdict.Verdict) string {
	var parts []string
	switch {
	case !policy.OK && slices.Contains(row.Held, source):
		return "invalid; what is rendered stays as it is"
	case !policy.OK:
		return "invalid"
	case len(row.Violations) > 0:
		parts = append(parts, "not allowed: "+listed(wrongs(row.Violations), ", "))
	case len(row.Held) > 0:
		parts = append(parts, "held back by "+listed(row.Held, ", "))
	case len(row.Set) > 0 && len(row.Shadowed)+len(row.Removed) > 0:
		parts = append(parts, "partly in effect")
	case len(row.Set) > 0:
		parts = append(parts, "in effect")
	}
	if len(row.Removes) > 0 {
		parts = append(parts, "removes that of "+listed(setters(row.Removes), ", "))
	}
	if len(row.Shadowed) > 0 {
		parts = append(parts, "shadowed by "+listed(setters(row.Shadowed), ", "))
	}
	if len(row.Removed) > 0 {
		parts = append(parts, "removed by "+listed(setters(row.Removed), ", "))
	}
	if len(row.Inactive) > 0 {
		parts = append(parts, "inactive: "+listed(causes(row.Inactive), ", "))
	}
	if len(parts) == 0 {
		return "without effect"
	}
	return strings.Join(parts, "; ")
}

// setters names who else has a part in fates, each once.
func setters(fates []fate) []string {
	var names []string
	for _, f := range fates {
		names = append(names, f.By.SetBy+" "+f.By.Because(f.Message))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// causes names inactive blocks with their reasons.
func causes(inactive []values.Inactive) []string {
	var list []string
	for _, i := range inactive {
		i.Message = "" // a cell has no room for it
		list = append(list, fmt.Sprintf("%s (%s)", i.Block, why(i)))
	}
	return list
}

// wrongs tells what is wrong, without repeating whose it is.
func wrongs(violations []values.Violation) []string {
	var list []string
	for _, v := range violations {
		list = append(list, path(v.Path)+" "+v.Message)
	}
	return list
}

// listed joins names, bounded.
func listed(names []string, separator string) string {
	if more := len(names) - maxNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], separator), more)
	}
	return strings.Join(names, separator)
}

// places counts the places of fates. Two blocks of a policy may have a leaf at one place.
func places(fates []fate) int {
	paths := map[string]bool{}
	for _, f := range fates {
		paths[f.Path] = true
	}
	return len(paths)
}
