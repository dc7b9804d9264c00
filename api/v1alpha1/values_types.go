package v1alpha1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Strategy says how a block of values joins what stands above and below it.
// +kubebuilder:validation:Enum=merge;atomic
type Strategy string

// The strategies of a block. An omitted strategy means merge.
const (
	// StrategyMerge merges leaf by leaf: maps deeply, lists whole.
	StrategyMerge Strategy = "merge"
	// StrategyAtomic applies the block whole or not at all.
	StrategyAtomic Strategy = "atomic"
)

// BlockMerge says how one block of values (default or override) joins the others.
type BlockMerge struct {
	// strategy of the block: merge (leaf by leaf, the default) or atomic (whole or not at all).
	// +optional
	Strategy Strategy `json:"strategy,omitempty"`

	// when is a CEL expression, of type bool, that must hold for the block to apply. `self` is what the block would
	// be laid over.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	When string `json:"when,omitempty"`
}

// ValuesMerge says how the two blocks of values join the others.
type ValuesMerge struct {
	// default says how the default block joins.
	// +optional
	Default *BlockMerge `json:"default,omitempty"`

	// override says how the override block joins.
	// +optional
	Override *BlockMerge `json:"override,omitempty"`
}

// Constraint is a named, conditional override.
type Constraint struct {
	// name identifies the constraint in status and provenance.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`

	// when is a CEL expression, of type bool; the override applies where it holds.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=4096
	When string `json:"when"`

	// override is the tree that is laid over the values where the expression holds.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Override *apiextensionsv1.JSON `json:"override"`

	// message tells people why the constraint exists.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`
}

// ValuesBlocks are the trees of values that one source contributes, and how they join those of other sources.
type ValuesBlocks struct {
	// default is a free tree of values that more specific levels may change.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Default *apiextensionsv1.JSON `json:"default,omitempty"`

	// override is a free tree of values that more specific levels may not change.
	// +optional
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Override *apiextensionsv1.JSON `json:"override,omitempty"`

	// merge says how the blocks join others; omitted means leaf by leaf.
	// +optional
	Merge *ValuesMerge `json:"merge,omitempty"`

	// constraints are named, conditional overrides, in order.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Constraints []Constraint `json:"constraints,omitempty"`
}
