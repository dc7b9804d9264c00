package schema

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/gatewright/gatewright/values"
)

// root is where the schema stands in a blueprint.
var root = field.NewPath("spec", "values", "schema", "openAPIV3Schema")

// maxProblems bounds how many problems one error lists.
const maxProblems = 20

// Schema is a compiled schema. Any number of goroutines may share it.
type Schema struct {
	structural *schema.Structural
	validator  validation.SchemaCreateValidator
	rules      *cel.Validator
	ruleTexts  texts
	marks      *values.Marks
}

var _ values.Schema = (*Schema)(nil)

// Compile reads a schema, as JSON. The error is for people: every problem found, one a line, each naming the field of the
// blueprint.
func Compile(raw []byte) (*Schema, error) {
	var decoded any
	if err := utiljson.Unmarshal(raw, &decoded); err != nil {
		return nil, fmt.Errorf("%s: is not valid JSON", root)
	}
	object, ok := decoded.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s: must be an object; write type: object and properties", root)
	}
	var c compiler
	plain, marks := c.read(root, object, within{})
	if err := c.error(); err != nil {
		return nil, err
	}
	s := &Schema{marks: marks}
	props := c.decode(plain)
	if s.structural = c.structure(props); s.structural == nil {
		return nil, c.error()
	}
	var err error
	if s.validator, _, err = validation.NewSchemaValidator(props); err != nil {
		return nil, fmt.Errorf("%s: cannot be used: %w", root, err)
	}
	s.ruleTexts = c.texts
	s.rules = cel.NewValidator(s.structural, false, celconfig.PerCallLimit)
	return s, nil
}

// Marks implements values.Schema.
func (s *Schema) Marks() *values.Marks { return s.marks }

// Default implements values.Schema.
func (s *Schema) Default(tree values.Tree) { defaulting.Default(tree, s.structural) }

// compiler collects what is wrong with a schema.
type compiler struct {
	problems []string
	texts    texts
	// cost is that of all rules together, as far as it was estimated.
	cost uint64
}

func (c *compiler) problem(at *field.Path, format string, args ...any) {
	c.problems = append(c.problems, at.String()+": "+fmt.Sprintf(format, args...))
}

// error is everything that is wrong, sorted; nil if nothing is.
func (c *compiler) error() error {
	if len(c.problems) == 0 {
		return nil
	}
	slices.Sort(c.problems)
	lines := slices.Compact(c.problems)
	if more := len(lines) - maxProblems; more > 0 {
		lines = append(lines[:maxProblems:maxProblems], fmt.Sprintf("%s: and %d more", root, more))
	}
	return errors.New(strings.Join(lines, "\n"))
}

// structure makes a structural schema; nil if something is wrong.
func (c *compiler) structure(props *apiextensions.JSONSchemaProps) *schema.Structural {
	if props == nil {
		return nil
	}
	s, err := schema.NewStructural(props)
	if err != nil {
		c.problem(root, "%s", err)
		return nil
	}
	if s.Type != "object" {
		c.problem(root.Child("type"), "must be object, which the values are")
	}
	if s.Default.Object != nil {
		c.problem(root.Child("default"), "has no effect, since there always are values; write defaults for properties")
	}
	c.check(root, s, once)
	// At the root of a custom resource some properties have a meaning of their own; below it, none has.
	resource := &schema.Structural{Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{wrapped: *s}}
	c.fieldErrors(schema.ValidateStructural(root, resource))
	if len(c.problems) > 0 {
		return nil
	}
	c.defaults(root, resource)
	c.checkCost()
	if len(c.problems) > 0 {
		return nil
	}
	return s
}

// wrapped is the property that the schema is put under to be validated.
const wrapped = "values"

// fieldErrors takes over what the API server's libraries find wrong.
func (c *compiler) fieldErrors(found field.ErrorList) {
	prefix := root.Child("properties").Key(wrapped).String()
	for _, err := range found {
		at := err.Field
		if rest, ok := strings.CutPrefix(at, prefix); ok {
			at = root.String() + rest
		}
		detail := strings.TrimPrefix(strings.TrimSpace(err.Detail), "in body ")
		if detail == "" {
			detail = strings.ToLower(err.Type.String())
		}
		c.problems = append(c.problems, at+": "+detail)
	}
}

// decode reads a schema that has nothing but what the API server knows; nil if that fails.
func (c *compiler) decode(plain map[string]any) *apiextensions.JSONSchemaProps {
	text, err := json.Marshal(plain)
	var written apiextensionsv1.JSONSchemaProps
	if err == nil {
		err = json.Unmarshal(text, &written)
	}
	props := &apiextensions.JSONSchemaProps{}
	if err == nil {
		err = apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&written, props, nil)
	}
	if err != nil {
		c.problem(root, "cannot be read: %s", strings.TrimPrefix(err.Error(), "json: "))
		return nil
	}
	return props
}

// defaults validates the defaults, also those below additional properties, which the library passes over.
func (c *compiler) defaults(at *field.Path, s *schema.Structural) {
	found, err := defaulting.ValidateDefaults(context.Background(), at, s, false, true)
	if err != nil {
		c.problem(at, "has defaults that cannot be validated: %s", err)
	}
	c.fieldErrors(found)
	c.defaultsBelow(at, s)
}

func (c *compiler) defaultsBelow(at *field.Path, s *schema.Structural) {
	if s == nil {
		return
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		c.defaults(at.Child("additionalProperties"), s.AdditionalProperties.Structural)
	}
	c.defaultsBelow(at.Child("items"), s.Items)
	for name, property := range s.Properties {
		c.defaultsBelow(at.Child("properties").Key(name), &property)
	}
}
