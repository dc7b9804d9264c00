package values

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/gatewright/gatewright/internal/celenv"
)

// The variables of an expression.
const (
	varSelf   = "self"
	varLower  = "lower"
	varTarget = "target"
)

// judge is a function that no author can name. Conditions are planned with it around each operand of && and ||, where CEL
// keeps only the first of several errors. It passes a missing key on as the error that it is and turns all else that is no
// bool into an unknown, which && and || prefer to errors. So a missing key cannot hide a failure, which matters where
// failures count as true.
const judge = "@judge"

// environment is built once.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	object := cel.MapType(cel.StringType, cel.DynType)
	return celenv.Environment(
		cel.CustomTypeAdapter(sorted{}),
		cel.Variable(varSelf, object), cel.Variable(varLower, object), cel.Variable(varTarget, object),
		cel.Function(judge, cel.Overload(judge, []*cel.Type{cel.DynType}, cel.BoolType,
			cel.OverloadIsNonStrict(), cel.UnaryBinding(judgeValue))),
	)
})

// condition is a compiled `when`. Any number of goroutines may share it.
type condition struct {
	program cel.Program
	// indexed says that the expression has an index that is computed from values.
	indexed bool
}

// compileCondition reads an expression, which must be of type bool, or dynamic and bool where it is evaluated.
func compileCondition(text string) (*condition, error) {
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("cannot be read, for want of a CEL environment: %w", err)
	}
	if _, err := celenv.Compile(env, text); err != nil {
		return nil, err
	}
	return plan(env, text)
}

// plan makes the program of an expression that compiles.
func plan(env *cel.Env, text string) (*condition, error) {
	parsed, issues := env.Parse(text)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	c := &condition{indexed: hasComputedIndex(parsed.NativeRep().Expr())}
	putJudges(parsed.NativeRep())
	checked, issues := env.Check(parsed)
	if err := issues.Err(); err != nil {
		return nil, err
	}
	var err error
	c.program, err = celenv.Program(env, checked)
	return c, err
}

// putJudges wraps every operand of && and || into a call of judge. Macros like exists are made of these operators.
func putJudges(a *ast.AST) {
	factory, id := ast.NewExprFactory(), ast.MaxID(a)
	ast.PostOrderVisit(a.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		call := e.AsCall()
		if name := call.FunctionName(); name != operators.LogicalAnd && name != operators.LogicalOr {
			return
		}
		operands := make([]ast.Expr, len(call.Args()))
		for i, operand := range call.Args() {
			id++
			operands[i] = factory.NewCall(id, judge, operand)
		}
		e.SetKindCase(factory.NewCall(e.ID(), call.FunctionName(), operands...))
	}))
}

// hasComputedIndex says whether an expression looks something up by anything but a literal.
func hasComputedIndex(e ast.Expr) bool {
	found := false
	ast.PostOrderVisit(e, ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind {
			return
		}
		switch call := e.AsCall(); call.FunctionName() {
		case operators.Index, operators.OptIndex:
			found = found || call.Args()[1].Kind() != ast.LiteralKind
		}
	}))
	return found
}

// missingKey is how CEL's message begins where a key is missing, or is looked for in a scalar.
const missingKey = "no such key"

// wrongIndex is how CEL's message begins where a field is looked for in a list, or an index is of a wrong type.
const wrongIndex = "unsupported index type"

// judgeValue is what judge does: a bool or a missing key stays what it is, all else is unknown.
func judgeValue(value ref.Val) ref.Val {
	switch v := value.(type) {
	case types.Bool, *types.Unknown:
		return v
	case *types.Err:
		if text := v.Error(); strings.HasPrefix(text, missingKey) || strings.HasPrefix(text, wrongIndex) {
			return v
		}
	}
	return types.NewUnknown(0, nil)
}

// Failures of conditions, in words that hold no values.
var (
	errCondition = errors.New("the condition fails on these values: one of them is missing from a list, of a type that the expression does not expect, or out of range")
	errCost      = errors.New("the condition takes too long on these values")
	errSpent     = errors.New("the condition is not looked at, since those of the policy that were take too long together on these values")
	errAllSpent  = errors.New("the condition is not looked at, since those of all policies that were take too long together on these values")
)

// What conditions may cost for one target, in CEL's cost units, besides the bound on each evaluation: those of one source, and those
// of all. Ordinary ones cost some tens. The last one that is looked at may cost more than what is left.
const (
	sourceBudget = 2 * celenv.CostLimit
	totalBudget  = 10 * celenv.CostLimit
)

// budget is what conditions have cost so far for one target.
type budget struct {
	total   uint64
	sources map[int]uint64
}

// exhausted says why a condition of a source is not looked at any more; nil if it is.
func (b *budget) exhausted(source int) error {
	switch {
	case b.sources[source] >= sourceBudget:
		return errSpent
	case b.total >= totalBudget:
		return errAllSpent
	}
	return nil
}

// spend notes what a condition of a source has cost.
func (b *budget) spend(source int, cost uint64) {
	if b.sources == nil {
		b.sources = map[int]uint64{}
	}
	b.sources[source] += cost
	b.total += cost
}

// holds evaluates the condition. A missing key means false, also one below something that is no map: a scalar or a list.
// Any other failure is an error, and what it means depends on the block. cost is what it took.
func (c *condition) holds(vars map[string]any) (held bool, cost uint64, err error) {
	value, details, _ := c.program.Eval(vars)
	if value == nil {
		return false, celenv.CostLimit, errCost
	}
	if actual := details.ActualCost(); actual != nil {
		cost = *actual
	}
	held, err = c.judged(value)
	return held, cost, err
}

// judged is what a value of the condition means; see holds.
func (c *condition) judged(value ref.Val) (bool, error) {
	switch judged := judgeValue(value).(type) {
	case types.Bool:
		return bool(judged), nil
	case *types.Err:
		// A field of a list and a list's index of a wrong type give one and the same error. Where the index comes from
		// the values, it must not pass for a missing key.
		if c.indexed && strings.HasPrefix(judged.Error(), wrongIndex) {
			return false, errCondition
		}
		return false, nil
	default:
		return false, errCondition
	}
}
