package celenv

import (
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"
)

// CostLimit bounds one evaluation, in CEL's cost units: about ten milliseconds.
const CostLimit = 100_000

// maxLength is what the CRDs allow too.
const maxLength = 4096

// Environment makes an environment with these variables and functions. It takes milliseconds, and is to be made once.
func Environment(declarations ...cel.EnvOption) (*cel.Env, error) {
	return cel.NewEnv(append([]cel.EnvOption{
		cel.OptionalTypes(), cel.CrossTypeNumericComparisons(true), cel.DefaultUTCTimeZone(true),
		ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.TwoVarComprehensions(),
		library.URLs(), library.Regex(), library.Lists(), library.Quantity(), library.IP(), library.CIDR(), library.Format(),
	}, declarations...)...)
}

// Compile reads an expression, which must be of type bool, or dynamic and bool where it is evaluated. The error goes on after the
// name of the field that holds the expression.
func Compile(env *cel.Env, text string) (*cel.Ast, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("has %d bytes; write at most %d", len(text), maxLength)
	}
	checked, issues := env.Compile(text)
	if err := issues.Err(); err != nil {
		return nil, fmt.Errorf("does not compile: %s", firstIssue(issues))
	}
	if out := checked.OutputType(); !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("is of type %s; write an expression of type bool", out)
	}
	return checked, nil
}

// Program makes a compiled expression ready to be evaluated, with a bound on what an evaluation may cost.
func Program(env *cel.Env, checked *cel.Ast) (cel.Program, error) {
	return env.Program(checked, cel.CostTracking(&library.CostEstimator{}), cel.CostLimit(CostLimit))
}

// firstIssue is the first thing that is wrong with an expression, on one line.
func firstIssue(issues *cel.Issues) string {
	first := issues.Errors()[0]
	message, _, _ := strings.Cut(first.Message, "\n")
	return fmt.Sprintf("%s, at line %d, column %d", message, first.Location.Line(), first.Location.Column()+1)
}
