package values

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/internal/verdict"
)

const (
	kindBlueprint = "GatewayClassBlueprint"
	// maxRefs is what the CRD allows too.
	maxRefs = 16
	// maxProblems bounds how many problems one message lists.
	maxProblems = 5
)

// Policy is a source of values as it was understood: a GatewayClassConfig, a GatewayConfig or a blueprint's own values. It
// is parsed once a generation and never changes after; any number of Computes may share it.
type Policy struct {
	kind, ref string
	// meta holds namespace, name and creation time only.
	meta     metav1.ObjectMeta
	deleting bool
	refs     []targetRef
	// defaults and overrides are nil where the source has no such block.
	defaults, overrides *block
	constraints         []*block
	removes             []removal
	// schema is that of a blueprint, if it has one.
	schema Schema
	// invalid sources match their targets, but contribute nothing.
	invalid bool
	// guards says that the source as written carries overrides or constraints, whether or not they could be read.
	guards bool
}

// block is one tree of a source.
type block struct {
	// name is how provenance calls the block.
	name   string
	tree   Tree
	atomic bool
	// when is nil for an unconditional block.
	when *condition
	// message tells people why a constraint exists. It is one line, and bounded.
	message string
}

// removal is a path that a source strips from less specific defaults.
type removal struct {
	keys []string
	// path is the same as a JSON pointer.
	path string
}

// Ref is how provenance calls the source: "GatewayConfig/namespace/name" or "GatewayClassBlueprint/name".
func (p *Policy) Ref() string { return p.ref }

// newPolicy knows what of an object's metadata counts here.
func newPolicy(kind string, object metav1.Object) *Policy {
	p := &Policy{
		kind: kind, ref: kind + "/" + object.GetName(),
		meta: metav1.ObjectMeta{
			Namespace: object.GetNamespace(), Name: object.GetName(), CreationTimestamp: object.GetCreationTimestamp(),
		},
		deleting: object.GetDeletionTimestamp() != nil,
	}
	if namespace := object.GetNamespace(); namespace != "" {
		p.ref = kind + "/" + namespace + "/" + object.GetName()
	}
	return p
}

// TargetsListeners says whether a target reference narrows its target to listeners of a Gateway or ListenerSet. Such a
// policy does nothing where the blueprint reads no listener values.
func (p *Policy) TargetsListeners() bool {
	for i := range p.refs {
		if p.refs[i].narrowed() {
			return true
		}
	}
	return false
}

// TargetsRules says whether a target reference is to a rule of routes.
func (p *Policy) TargetsRules() bool {
	return slices.ContainsFunc(p.refs, func(ref targetRef) bool { return ref.ofRule() })
}

// Parse reads a policy. A verdict against it has reason Invalid and names the fields; the policy that comes
// with it contributes nothing, but should be handed to Compute all the same, which tells what it would have reached.
func Parse(object v1alpha1.Policy) (*Policy, verdict.Verdict) {
	spec := object.PolicySpec()
	p := newPolicy(object.PolicyKind(), object)
	var found problems
	p.parseTargetRefs(spec, &found)
	p.parseBlocks("spec", &spec.ValuesBlocks, &found)
	for i, text := range spec.Remove {
		keys, err := parsePath(text)
		if err != nil {
			found.invalid(fmt.Sprintf("spec.remove[%d]", i), err)
			continue
		}
		p.removes = append(p.removes, removal{keys: keys, path: pointerTo(keys)})
	}
	return p.judged(&found)
}

// ParseBlueprint reads the values of a blueprint, as Parse does. A blueprint without values is fine. schema is what package
// schema made of the blueprint's; a blueprint that has one is refused without it.
func ParseBlueprint(b *v1alpha1.GatewayClassBlueprint, schema Schema) (*Policy, verdict.Verdict) {
	p := newPolicy(kindBlueprint, b)
	var found problems
	if v := b.Spec.Values; v != nil {
		p.parseBlocks("spec.values", &v.ValuesBlocks, &found)
		if v.Schema != nil && schema == nil {
			found.invalid("spec.values.schema", errors.New("cannot be used; write an openAPIV3Schema, or leave the schema out"))
		}
	}
	p.schema = schema
	return p.judged(&found)
}

// judged turns what was found wrong into a verdict.
func (p *Policy) judged(found *problems) (*Policy, verdict.Verdict) {
	if len(found.messages) == 0 {
		return p, verdict.Yes(v1alpha1.ReasonAccepted, p.kind+" is valid")
	}
	p.invalid = true
	return p, verdict.No(v1alpha1.ReasonInvalid, "%s", found.message())
}

func (p *Policy) parseTargetRefs(spec *v1alpha1.PolicySpec, found *problems) {
	if (spec.TargetRef == nil) == (len(spec.TargetRefs) == 0) {
		found.invalid("spec", errors.New("needs exactly one of targetRef and targetRefs"))
	}
	refs := spec.Targets()
	if len(refs) > maxRefs {
		found.invalid("spec.targetRefs", fmt.Errorf("has %d entries; write at most %d", len(refs), maxRefs))
	}
	for i := range refs {
		field := fmt.Sprintf("spec.targetRefs[%d]", i)
		if spec.TargetRef != nil && i == 0 {
			field = "spec.targetRef"
		}
		ref, err := parseTargetRef(p.kind, i, &refs[i])
		if err != nil {
			found.invalid(field, err)
			continue
		}
		p.refs = append(p.refs, ref)
	}
}

func (p *Policy) parseBlocks(field string, v *v1alpha1.ValuesBlocks, found *problems) {
	p.guards = v.Override != nil || len(v.Constraints) > 0
	var merge v1alpha1.ValuesMerge
	if v.Merge != nil {
		merge = *v.Merge
	}
	p.defaults = parseBlock(field, BlockDefault, v.Default, merge.Default, found)
	p.overrides = parseBlock(field, BlockOverride, v.Override, merge.Override, found)
	names := map[string]bool{}
	for i := range v.Constraints {
		c := &v.Constraints[i]
		place := fmt.Sprintf("%s.constraints[%d]", field, i)
		if c.Name == "" {
			found.invalid(place, errors.New("has no name; write one that is unique in the list"))
		} else if names[c.Name] {
			found.invalid(place, fmt.Errorf("has the name %q of another; write one that is unique in the list", c.Name))
		}
		names[c.Name] = true
		p.constraints = append(p.constraints, parseConstraint(place, c, found))
	}
}

// parseBlock reads a default or override block and how it joins. A missing block is nil.
func parseBlock(field, name string, raw *apiextensionsv1.JSON, merge *v1alpha1.BlockMerge, found *problems) *block {
	b := &block{name: name}
	if merge != nil {
		place := field + ".merge." + name
		switch merge.Strategy {
		case "", v1alpha1.StrategyMerge:
		case v1alpha1.StrategyAtomic:
			b.atomic = true
		default:
			found.invalid(place+".strategy", fmt.Errorf("is %q; write merge or atomic", merge.Strategy))
		}
		if merge.When != "" {
			b.when = parseWhen(place+".when", merge.When, found)
		}
	}
	if raw == nil || len(raw.Raw) == 0 {
		return nil
	}
	b.tree = parseTree(field+"."+name, raw, found)
	return b
}

func parseConstraint(field string, c *v1alpha1.Constraint, found *problems) *block {
	b := &block{name: BlockConstraint + c.Name, message: oneLine(c.Message)}
	if c.When == "" {
		found.invalid(field, errors.New("has no when; write a condition, or use override for what always applies"))
	} else {
		b.when = parseWhen(field+".when", c.When, found)
	}
	if c.Override == nil || len(c.Override.Raw) == 0 {
		found.invalid(field, errors.New("has no override; write the values that apply where the condition holds"))
	} else {
		b.tree = parseTree(field+".override", c.Override, found)
	}
	return b
}

// maxMessage is how many characters of a constraint's message are told: it is told again for each leaf.
const maxMessage = 200

// oneLine makes one line of a text, without what a terminal might obey, and cuts it where it gets long.
func oneLine(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			return r
		}
		return ' '
	}, text)
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > maxMessage {
		runes = append(runes[:maxMessage-len("...")], []rune("...")...)
	}
	return string(runes)
}

func parseWhen(field, expression string, found *problems) *condition {
	when, err := compileCondition(expression)
	if err != nil {
		found.invalid(field, err)
	}
	return when
}

func parseTree(field string, raw *apiextensionsv1.JSON, found *problems) Tree {
	tree, err := decodeTree(raw.Raw)
	if err != nil {
		found.invalid(field, err)
	}
	return tree
}

// decodeTree decodes a tree as Kubernetes decodes JSON: whole numbers that fit to int64, others to float64.
func decodeTree(raw []byte) (Tree, error) {
	var value any
	if err := utiljson.Unmarshal(raw, &value); err != nil {
		return nil, errors.New("is not valid JSON; write an object of values")
	}
	tree, ok := value.(Tree)
	if !ok {
		return nil, fmt.Errorf("must be an object, but is %s; write keys with values under it", jsonType(value))
	}
	if nestedDeeper(tree, maxNesting) {
		return nil, fmt.Errorf("is nested more than %d deep; write fewer levels", maxNesting)
	}
	return tree, nil
}

// maxNesting is how deep a tree may be. The path to each leaf is kept, so that a very deep tree would take very much memory.
const maxNesting = 64

func nestedDeeper(value any, levels int) bool {
	if levels < 0 {
		return true
	}
	deeper := func(child any) bool { return nestedDeeper(child, levels-1) }
	switch value := value.(type) {
	case Tree:
		return slices.ContainsFunc(slices.Collect(maps.Values(value)), deeper)
	case []any:
		return slices.ContainsFunc(value, deeper)
	}
	return false
}

// jsonType names the JSON type of a value, which is all that a message may tell of it.
func jsonType(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case []any:
		return "a list"
	case Tree:
		return "an object"
	default:
		return "a number"
	}
}

// problems collects what is wrong with a source.
type problems struct {
	messages []string
}

func (p *problems) invalid(field string, err error) {
	p.messages = append(p.messages, field+" "+err.Error())
}

func (p *problems) message() string {
	shown := p.messages[:min(len(p.messages), maxProblems)]
	text := strings.Join(shown, "; ")
	if more := len(p.messages) - len(shown); more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text
}
