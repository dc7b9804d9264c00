package desired

import (
	"strings"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/verdict"
	"github.com/gatewright/gatewright/render"
	"github.com/gatewright/gatewright/values"
	"github.com/gatewright/gatewright/values/schema"
)

// Compiled is one generation of a blueprint, ready to be rendered.
type Compiled struct {
	Program *render.Program
	// Values are the blueprint's own, with its schema.
	Values *values.Policy
}

// Compile reads all of a blueprint. The verdict against one names everything that is wrong with it, one a line.
func Compile(b *v1alpha1.GatewayClassBlueprint) (*Compiled, verdict.Verdict) {
	var problems []string
	own, v := CompileValues(b)
	if !v.OK {
		problems = append(problems, v.Message)
	}
	if err := gateway.CheckFeatures(b); err != nil {
		problems = append(problems, err.Error())
	}
	program, err := render.Compile(b)
	if err != nil {
		problems = append(problems, err.Error())
	}
	if len(problems) > 0 {
		return nil, refused(problems)
	}
	return &Compiled{Program: program, Values: own},
		verdict.Yes(v1alpha1.ReasonAccepted, "every template parses and their order is settled")
}

// CompileValues reads the values of a blueprint and their schema, which is enough to compute values. The policy is nil if they
// cannot be used.
func CompileValues(b *v1alpha1.GatewayClassBlueprint) (*values.Policy, verdict.Verdict) {
	var problems []string
	contract, rest, err := compileSchema(b)
	if err != nil {
		problems = append(problems, err.Error())
	}
	own, v := values.ParseBlueprint(rest, contract)
	if !v.OK {
		problems = append(problems, v.Message)
	}
	if len(problems) > 0 {
		return nil, refused(problems)
	}
	return own, v
}

func refused(problems []string) verdict.Verdict {
	return verdict.No(v1alpha1.ReasonInvalid, "%s", strings.Join(problems, "\n"))
}

// compileSchema reads a blueprint's schema; there is none if the blueprint has none. The rest is what else is to be read: where the
// schema is no good, the blueprint without it.
func compileSchema(b *v1alpha1.GatewayClassBlueprint) (values.Schema, *v1alpha1.GatewayClassBlueprint, error) {
	v := b.Spec.Values
	if v == nil || v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, b, nil
	}
	compiled, err := schema.Compile(v.Schema.OpenAPIV3Schema.Raw)
	if err != nil {
		rest := *b
		rest.Spec.Values = &v1alpha1.BlueprintValues{ValuesBlocks: v.ValuesBlocks}
		return nil, &rest, err
	}
	return compiled, b, nil
}
