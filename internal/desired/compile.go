package desired

import (
	"strings"

	"github.com/gatewright/gatewright/api/v1alpha1"
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
	own, v := CompileValues(b)
	program, err := render.Compile(b)
	var problems []string
	if !v.OK {
		problems = append(problems, v.Message)
	}
	if err != nil {
		problems = append(problems, err.Error())
	}
	if len(problems) > 0 {
		return nil, verdict.No(v1alpha1.ReasonInvalid, "%s", strings.Join(problems, "\n"))
	}
	return &Compiled{Program: program, Values: own},
		verdict.Yes(v1alpha1.ReasonAccepted, "every template parses and their order is settled")
}

// CompileValues reads the values of a blueprint and their schema, which is enough to compute values.
func CompileValues(b *v1alpha1.GatewayClassBlueprint) (*values.Policy, verdict.Verdict) {
	var contract values.Schema
	if v := b.Spec.Values; v != nil && v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
		compiled, err := schema.Compile(v.Schema.OpenAPIV3Schema.Raw)
		if err != nil {
			return nil, verdict.No(v1alpha1.ReasonInvalid, "%s", err)
		}
		contract = compiled
	}
	return values.ParseBlueprint(b, contract)
}
