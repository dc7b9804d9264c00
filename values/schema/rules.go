package schema

import (
	"fmt"
	"math"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// What rules may cost by estimation, one of them and all together, and all together on one tree, in CEL's cost units. The
// estimates are held to what the API server allows a CustomResourceDefinition. A tree gets less time: it is validated each time
// that something is rendered, where the API server validates what is written. A million is about a tenth of a second.
const (
	maxRuleCost  = 10_000_000
	maxRulesCost = 100_000_000
	budget       = celconfig.PerCallLimit
)

const rules = "x-kubernetes-validations"

// texts are what the rules of a schema say for themselves where they do not hold, and where they fail: none of it holds a value.
type texts struct {
	messages map[string]bool
	rules    []string
}

func (t *texts) add(message, rule string) {
	if t.messages == nil {
		t.messages = map[string]bool{}
	}
	t.messages[message] = true
	t.rules = append(t.rules, rule)
}

// checkRules compiles the rules of a place, and counts what they cost.
func (c *compiler) checkRules(at *field.Path, s *schema.Structural, often cardinality) {
	if len(s.XValidations) == 0 {
		return
	}
	sound := true
	for i := range s.XValidations {
		sound = c.checkRule(at.Child(rules).Index(i), s, i) && sound
	}
	declared := model.SchemaDeclType(s, false)
	if !sound || declared == nil {
		if declared == nil {
			c.problem(at.Child(rules), "needs a type to be declared beside it")
		}
		return
	}
	env := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	compiled, err := cel.Compile(s, declared, celconfig.PerCallLimit, env, cel.NewExpressionsEnvLoader())
	if err != nil {
		c.problem(at.Child(rules), "cannot be compiled: %s", err)
		return
	}
	for i, result := range compiled {
		c.checkCompiled(at.Child(rules).Index(i).Child("rule"), result, often)
	}
}

// checkRule looks at what a rule has besides its expression.
func (c *compiler) checkRule(at *field.Path, s *schema.Structural, i int) bool {
	rule := &s.XValidations[i]
	before := len(c.problems)
	text, message := strings.TrimSpace(rule.Rule), strings.TrimSpace(rule.Message)
	if text == "" {
		c.problem(at.Child("rule"), "is missing; write a CEL expression over self")
	}
	if rule.MessageExpression != "" {
		c.problem(at.Child("messageExpression"), "could show values to people who may not see them; write message")
	}
	if rule.OptionalOldSelf != nil {
		c.problem(at.Child("optionalOldSelf"), "is of no use: values have no former state")
	}
	if strings.ContainsAny(message, "\n\r") || message == "" && strings.ContainsAny(text, "\n\r") {
		c.problem(at.Child("message"), "must be one line; write what the rule asks for")
	}
	if rule.FieldPath != "" {
		if _, _, err := cel.ValidFieldPath(rule.FieldPath, s); err != nil {
			c.problem(at.Child("fieldPath"), "must lead to a property below: %s", err)
		}
	}
	// The reason is for the API server's answers. One of them would take the place of the message.
	rule.Reason = nil
	if message == "" {
		c.texts.add("failed rule: "+text, text)
	} else {
		c.texts.add(message, message)
	}
	return len(c.problems) == before
}

// checkCompiled looks at what became of an expression.
func (c *compiler) checkCompiled(at *field.Path, r cel.CompilationResult, often cardinality) {
	if r.Error != nil {
		detail, _, _ := strings.Cut(strings.TrimPrefix(r.Error.Detail, "compilation failed: "), "\n")
		c.problem(at, "does not compile: %s", strings.TrimPrefix(detail, "ERROR: <input>:"))
		return
	}
	if r.UsesOldSelf {
		c.problem(at, "uses oldSelf, but values have no former state; write a rule about self")
	}
	if often.unbounded {
		often.most = r.MaxCardinality
	}
	cost := product(r.MaxCost, often.most)
	if cost > maxRuleCost {
		c.problem(at, "may cost too much, %s what is allowed; simplify it, or bound what it looks at by maxItems, maxProperties and maxLength", excess(cost, maxRuleCost))
	}
	c.cost = sum(c.cost, cost)
}

// checkCost looks at what all rules cost together.
func (c *compiler) checkCost() {
	if c.cost > maxRulesCost {
		c.problem(root, "has rules that may cost too much together, %s what is allowed; bound what they look at by maxItems, maxProperties and maxLength", excess(c.cost, maxRulesCost))
	}
}

// excess says how much more a cost is than a limit. Where it is very much more, the number tells nothing.
func excess(cost, limit uint64) string {
	if cost/limit >= 100 {
		return "more than 100 times"
	}
	return fmt.Sprintf("%.1f times", float64(cost)/float64(limit))
}

// cardinality is how many values there can be at a place of a schema.
type cardinality struct {
	most      uint64
	unbounded bool
}

// once is how often the root is there.
var once = cardinality{most: 1}

// times is the cardinality of what is there so many times at each of the places; nil means any number of times.
func (c cardinality) times(n *int64) cardinality {
	if c.unbounded || n == nil {
		return cardinality{unbounded: true}
	}
	return cardinality{most: product(c.most, uint64(max(0, *n)))}
}

func itemsOf(s *schema.Structural) *int64 { return s.ValueValidation.MaxItems }

func propertiesOf(s *schema.Structural) *int64 { return s.ValueValidation.MaxProperties }

func product(a, b uint64) uint64 {
	if b != 0 && a > math.MaxUint64/b {
		return math.MaxUint64
	}
	return a * b
}

func sum(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}
