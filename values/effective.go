package values

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Tree is a tree of values in the shapes that Kubernetes decodes JSON to: map[string]any, []any, string, bool, int64,
// float64 and, inside lists, nil.
type Tree = map[string]any

// The blocks that set leaves. A constraint's block is BlockConstraint followed by its name.
const (
	BlockDefault    = "default"
	BlockOverride   = "override"
	BlockConstraint = "constraint/"
	// BlockRemove stands for a policy's list of removals, which sets nothing.
	BlockRemove = "remove"
	// BlockSchema are the defaults of a blueprint's schema.
	BlockSchema = "schema"
)

// Setter is a block of a source of values.
type Setter struct {
	// SetBy is the source: "GatewayConfig/namespace/name" or "GatewayClassBlueprint/name".
	SetBy string `json:"setBy"`
	// Block is default, override or constraint/<name>; of a blueprint also schema, for removals also remove.
	Block string `json:"block"`
	// Level at which the source matches the target.
	Level Level `json:"level"`
}

// Because names a block for people, with the message of a constraint if there is one.
func (s Setter) Because(message string) string {
	if message == "" {
		return s.Block
	}
	return fmt.Sprintf("%s: %q", s.Block, message)
}

// Origin says who set one leaf of the result.
type Origin struct {
	// Path of the leaf, as a JSON pointer (RFC 6901).
	Path string `json:"path"`
	Setter
	// Shadowed are the active blocks that say something else about the same place, or would have said the same with less
	// strength; the strongest first.
	Shadowed []Setter `json:"shadowed"`
	// Message is that of the constraint that set the leaf, if it has one.
	Message string `json:"message,omitempty"`
}

// Hidden is a leaf that is not in the result since a stronger block says something else about its place, and that no Origin
// tells of: nothing of the result is at its place, above or below, or what is there comes from a block that replaced the
// stronger one in turn.
type Hidden struct {
	// Path of the leaf, as a JSON pointer; items of lists are named as in a Removal.
	Path string `json:"path"`
	// Setter is the block that holds the leaf.
	Setter
	// By is the strongest of the blocks that keep the leaf out.
	By Setter `json:"shadowedBy"`
	// Message is that of the constraint, if By is one that has a message.
	Message string `json:"message,omitempty"`
}

// Removal is a leaf that is not in the result since somebody took it away: by remove, or by a null.
type Removal struct {
	// Path of the leaf, as a JSON pointer. An item of a list that is merged is named by its keys (name=x) or, in a set, by its
	// value, unless it is in the result.
	Path string `json:"path"`
	// Setter is the block that holds the leaf.
	Setter
	// By is the block that took it away; its Block is remove, or that of the null.
	By Setter `json:"removedBy"`
	// Message is that of the constraint, if By is one that has a message.
	Message string `json:"message,omitempty"`
}

// Reason says why a block is inactive, or what a warning is about.
type Reason string

// Reasons for which a block is inactive.
const (
	// WhenFalse: the block's condition does not hold, or looks at a key that is missing.
	WhenFalse Reason = "WhenFalse"
	// ConditionError: the block's condition failed, which counts as false for a default.
	ConditionError Reason = "ConditionError"
	// AtomicSuperseded: an atomic default gives way as a more specific level contributes.
	AtomicSuperseded Reason = "AtomicSuperseded"
	// AtomicOverridden: an atomic override of the same or a less specific level took the block's place.
	AtomicOverridden Reason = "AtomicOverridden"
	// Conflicted: an older block of the same level and kind stands, and one of the two is atomic.
	Conflicted Reason = "Conflicted"
	// SetAside: a policy of a ListenerSet's namespace, which is not the Gateway's, would keep the values of a listener from being
	// put into effect; so the listener goes without all of them.
	SetAside Reason = "SetAside"
)

// Inactive is a block that matches the target and has no part in the result.
type Inactive struct {
	Setter
	// Reason is the first one that was found.
	Reason Reason `json:"reason"`
	// By is the block in whose favour it is inactive, if there is one.
	By *Setter `json:"by,omitempty"`
	// Message tells a person more, where the reason does not say all.
	Message string `json:"message,omitempty"`
}

// RemoveIneffective is the reason of a warning that a removal found nothing that it may remove, or that an override still
// sets what it names. Warnings of a condition that failed have reason ConditionError.
const RemoveIneffective Reason = "RemoveIneffective"

// Warning is something in a policy that does not do what its author may think.
type Warning struct {
	Setter
	Reason Reason `json:"reason"`
	// Path that the warning is about, as a JSON pointer, if it is about one.
	Path string `json:"path,omitempty"`
	// Message tells a person what happened.
	Message string `json:"message"`
}

// Shadow is a leaf of a policy that is not in the result since a stronger block says something else about its place.
type Shadow struct {
	// Path of the leaf, as a JSON pointer; items of lists are named as in a Removal.
	Path string
	// Block of the policy that holds the leaf.
	Block string
	// By is the strongest of the blocks that keep the leaf out. It may be another block of the same policy.
	By Setter
	// Message is that of the constraint, if By is one that has a message.
	Message string
}

// Violation is something in the values that the blueprint's schema does not allow.
type Violation struct {
	// Path of the value, as a JSON pointer into the result that leads through lists by index. What is missing is named too,
	// as is what a policy was not allowed to bring into the result.
	Path string `json:"path"`
	// Message says what is wrong, in words that follow the path. It never holds a value.
	Message string `json:"message"`
	// SetBy are the blocks that the value stems from, or what is below it if it is a map; of what is missing, those that
	// removed it or that set the rest of the map. Where nobody has a part in it, it is the blueprint's schema.
	SetBy []Setter `json:"setBy"`
}

// Problem tells a person what is wrong.
func (v Violation) Problem() string {
	place := cmp.Or(v.Path, "the values as a whole")
	if strings.ContainsFunc(place, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		place = strconv.Quote(place) // keys are anything that people write
	}
	return place + " " + v.Message
}

// String tells a person what is wrong and whose it is.
func (v Violation) String() string {
	names := make([]string, len(v.SetBy))
	for i, s := range v.SetBy {
		names[i] = s.SetBy + " " + s.Block
	}
	more := ""
	if len(names) > maxSetters {
		more = fmt.Sprintf(" and %d more", len(names)-maxSetters)
		names = names[:maxSetters]
	}
	return fmt.Sprintf("%s (%s%s)", v.Problem(), strings.Join(names, ", "), more)
}

// maxSetters is how many of those that a value stems from a message names.
const maxSetters = 3

// Contribution is the part that one source has in the result.
type Contribution struct {
	// Source is the policy's or blueprint's Ref.
	Source string
	// Level at which it matches the target: the most specific one.
	Level Level
	// Refs are the indexes of those of its target references that match the target.
	Refs []int
	// Sets is the number of leaves of the result that it sets.
	Sets int
	// Shadowed are its leaves that stronger blocks keep out of the result, sorted by path.
	Shadowed []Shadow
	// Removes is the number of leaves of others that it took away, and Removed are those of its own that others took away.
	Removes int
	Removed []Removal
	// Inactive are those of its blocks that have no part in the result.
	Inactive []Inactive
	// SetAside says that the source is left out with all of its namespace; see SetAside. It may then be invalid, or have
	// Violations which the result does not have.
	SetAside bool
	// Violations are those that stem from the source.
	Violations []Violation
}

// Refusal is a policy of which target references match a target and are not accepted, since they are narrowed to listeners and
// no template reads what is said of those only.
type Refusal struct {
	// Source is the policy's Ref.
	Source string
	// Refs are the indexes of those target references.
	Refs []int
}

// Effective is the outcome of Compute.
type Effective struct {
	// Tree is the values. It is fresh: whoever has it may change it.
	Tree Tree
	// Origins says for every leaf of Tree who set it, sorted by path. A leaf is a scalar, a list or an empty map; by the marks
	// of the blueprint's schema a whole map may be one, and a list that is merged is none unless it is empty: its items are.
	Origins []Origin
	// Hidden are the shadowed leaves that Origins say nothing of, sorted by path.
	Hidden []Hidden
	// Removed are the leaves that were taken away, sorted by path.
	Removed []Removal
	// Inactive are the blocks that have no part in the result, in the order of Contributions; of one source default,
	// override, constraints.
	Inactive []Inactive
	// Warnings are what authors should hear about: conditions, then removals, in the order of Contributions.
	Warnings []Warning
	// Contributions are the sources that match the target, the least specific first, the oldest first within a level. A
	// source that is not listed does not match. The list has one entry for an invalid policy too, which sets nothing.
	Contributions []Contribution
	// Refused are the policies of which target references match the target and are not accepted, sorted.
	Refused []Refusal
	// Held are the invalid sources that match the target and carry overrides or constraints. While there is one, the
	// target must keep its last good rendering: a typo must not lift a guard rail.
	Held []string
	// Violations are what the blueprint's schema does not allow, sorted by path. While there is one, the target must keep its
	// last good rendering. A policy that sets what only the provider may set contributes nothing to the result.
	Violations []Violation
	// Sensitive are the paths of the values that nobody shall see, sorted. Redacted hides them.
	Sensitive []string
}

// Blocked says why the values must not be put into effect, in sentences for people, each of which names a source; nil if they
// may be.
func (e Effective) Blocked() []string {
	var why []string
	for _, ref := range e.Held {
		why = append(why, ref+" is invalid and carries overrides or constraints; mend it, its status says how")
	}
	for _, v := range e.Violations {
		why = append(why, v.String())
	}
	return why
}

// MarshalJSON writes what `gatewright values` shows. What is sensitive is redacted.
func (e Effective) MarshalJSON() ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	// Whether the text is for web pages is for those to say who print it.
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		Values     Tree        `json:"values"`
		Provenance []Origin    `json:"provenance"`
		Shadowed   []Hidden    `json:"shadowed,omitempty"`
		Removed    []Removal   `json:"removed"`
		Inactive   []Inactive  `json:"inactive"`
		Warnings   []Warning   `json:"warnings,omitempty"`
		Held       []string    `json:"held,omitempty"`
		Violations []Violation `json:"violations,omitempty"`
		Sensitive  []string    `json:"sensitive,omitempty"`
	}{
		orEmpty(e.Redacted()), listed(e.Origins), e.Hidden, listed(e.Removed), listed(e.Inactive), e.Warnings, e.Held,
		e.Violations, e.Sensitive,
	})
	return text.Bytes(), err
}

// listed makes a missing list an empty one, so that JSON never says null for it.
func listed[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func orEmpty(tree Tree) Tree {
	if tree == nil {
		return Tree{}
	}
	return tree
}
