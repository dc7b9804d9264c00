package render

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/gatewright/gatewright/internal/celenv"
	"github.com/gatewright/gatewright/internal/nearest"
)

// Readiness is what an expression of spec.readyWhen says of a live object.
type Readiness struct {
	Ready bool
	// Message tells people why it is not ready. It holds no values.
	Message string
}

// Ready says what spec.readyWhen says of a live object of a template; nil if it has no expression for the template. What is not
// there yet is waited for, so that an expression may name fields that a controller has still to write.
func (s *Set) Ready(template string, object *unstructured.Unstructured) *Readiness {
	program, ok := s.ready[template]
	if !ok {
		return nil
	}
	where := "spec.readyWhen of template " + template
	value, _, err := program.Eval(map[string]any{"object": withoutSecrets(object.Object)})
	switch {
	case value == nil:
		return &Readiness{Message: where + " takes too long on this object"}
	case err == nil && value == types.True:
		return &Readiness{Ready: true}
	case err == nil && value == types.False:
		return &Readiness{Message: "is not ready, says " + where}
	case err != nil && strings.HasPrefix(err.Error(), "no such key"):
		return &Readiness{Message: "is not ready: it lacks a field that " + where + " reads"}
	default:
		return &Readiness{Message: where + " fails on this object: a field is of a type that the expression does not expect"}
	}
}

// withoutSecrets is an object as an expression may read it: a Secret without what is in it.
func withoutSecrets(object map[string]any) map[string]any {
	if !isSecret(object) {
		return object
	}
	object = maps.Clone(object)
	delete(object, "data")
	delete(object, "stringData")
	return object
}

// readyEnvironment is that of the expressions of spec.readyWhen.
var readyEnvironment = sync.OnceValues(func() (*cel.Env, error) {
	return celenv.Environment(cel.Variable("object", cel.MapType(cel.StringType, cel.DynType)))
})

// readyWhen compiles the expressions for the templates of the sets.
func (c *compiler) readyWhen(sets []*Set) {
	for _, name := range slices.Sorted(maps.Keys(c.blueprint.Spec.ReadyWhen)) {
		program, err := compileReady(c.blueprint.Spec.ReadyWhen[name])
		if err != nil {
			c.say("spec.readyWhen "+name, 0, "%s", err)
		}
		for _, set := range c.setsWith(sets, name, "spec.readyWhen "+name) {
			if set.ready == nil {
				set.ready = map[string]cel.Program{}
			}
			set.ready[name] = program
		}
	}
}

// recreate notes the templates whose objects may be deleted and created anew.
func (c *compiler) recreate(sets []*Set) {
	for i, name := range c.blueprint.Spec.Recreate {
		for _, set := range c.setsWith(sets, name, fmt.Sprintf("spec.recreate[%d]", i)) {
			set.recreate = append(set.recreate, name)
		}
	}
}

// setsWith are the sets that have a template of a name: it may be one of several of them. field names it.
func (c *compiler) setsWith(sets []*Set, name, field string) []*Set {
	with := slices.DeleteFunc(slices.Clone(sets), func(s *Set) bool { return !slices.Contains(s.Names(), name) })
	if len(with) == 0 && !c.tried[name] {
		var known []string
		for _, set := range sets {
			known = append(known, set.Names()...)
		}
		c.say(field, 0, "there is no template %q%s", name, nearest.Suggest(name, known))
	}
	return with
}

func compileReady(text string) (cel.Program, error) {
	env, err := readyEnvironment()
	if err != nil {
		return nil, fmt.Errorf("cannot be read, for want of a CEL environment: %w", err)
	}
	checked, err := celenv.Compile(env, text)
	if err != nil {
		return nil, err
	}
	program, err := celenv.Program(env, checked)
	if err != nil {
		return nil, errors.New("cannot be evaluated")
	}
	return program, nil
}
