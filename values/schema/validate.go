package schema

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapierrors "k8s.io/kube-openapi/pkg/validation/errors"

	"github.com/gatewright/gatewright/internal/nearest"
	"github.com/gatewright/gatewright/values"
)

// maxFound bounds how many problems of one tree are told. Who mends these will hear of the others.
const maxFound = 100

// Validate implements values.Schema. Rules are asked only about a tree that is otherwise as the schema says, since they may
// rely on that.
func (s *Schema) Validate(tree values.Tree) []values.Problem {
	f := finding{tree: tree}
	f.structure(s)
	f.lists(s)
	if len(f.found) == 0 {
		f.rules(s)
	}
	f.unknown(s.structural, "", tree)
	slices.SortFunc(f.found, func(a, b values.Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	f.found = slices.Compact(f.found)
	return f.found[:min(len(f.found), maxFound)]
}

// finding collects what is wrong with a tree.
type finding struct {
	tree  values.Tree
	found []values.Problem
}

func (f *finding) problem(place, message string) {
	f.found = append(f.found, values.Problem{Path: pointer(f.tree, place), Message: message})
}

// structure asks for all that a schema says about single values.
func (f *finding) structure(s *Schema) {
	for _, err := range s.validator.Validate(f.tree).Errors {
		single, ok := errors.AsType[*openapierrors.Validation](err)
		if !ok {
			place, message := combined(err.Error())
			f.problem(place, message)
			continue
		}
		message := strings.TrimPrefix(single.Error(), single.Name+" in body ")
		switch single.Code() {
		case openapierrors.InvalidTypeCode:
			// What comes after the type may be the value.
			message, _, _ = strings.Cut(message, ": ")
			message, _, _ = strings.Cut(message, ", because")
		case openapierrors.RequiredFailCode:
			message = "is required; set it"
		}
		f.problem(single.Name, message)
	}
}

// combined reads an error that is about several schemas for one value, which begins with the place in quotes, or about the range
// of a number, which ends with it.
func combined(text string) (place, message string) {
	if quoted, err := strconv.QuotedPrefix(text); err == nil {
		place, _ = strconv.Unquote(quoted) // what is a quoted prefix can be unquoted
		return place, strings.TrimSpace(text[len(quoted):])
	}
	message, place, _ = strings.Cut(text, " in ")
	message = strings.TrimPrefix(message, "Checked value ")
	return place, strings.TrimSuffix(message, " (default format)")
}

// self is what the library calls the tree, since it cannot do without a name.
const self = "self"

// lists looks for items of lists that should be unlike all others.
func (f *finding) lists(s *Schema) {
	for _, err := range listtype.ValidateListSetsAndMaps(field.NewPath(self), s.structural, f.tree) {
		message := "is the same item as another; keep one of them"
		if err.Type != field.ErrorTypeDuplicate {
			message = "must be an object, as an item of a list with keys"
		}
		f.problem(strings.TrimPrefix(err.Field, self), message)
	}
}

// rules asks the schema's rules.
func (f *finding) rules(s *Schema) {
	if s.rules == nil {
		return
	}
	errs, left := s.rules.Validate(context.Background(), field.NewPath(self), s.structural, f.tree, nil, budget)
	if left < 0 {
		// Which rules came before depends on chance.
		f.problem("", "take too long to be checked by the rules of the schema; set less")
		return
	}
	for _, err := range errs {
		f.problem(strings.TrimPrefix(err.Field, self), s.ruleTexts.of(err.Detail))
	}
}

// of is what is told of a rule that does not hold or fails. Where it fails, the library may name a key or a value.
func (t *texts) of(detail string) string {
	if t.messages[detail] {
		return detail
	}
	for _, rule := range t.rules {
		if strings.HasSuffix(detail, rule) {
			return "cannot be checked, since something is missing, of a wrong type or out of range: " + rule
		}
	}
	return "cannot be checked by the rules of the schema"
}

// unknown looks for keys that the schema does not have.
func (f *finding) unknown(s *schema.Structural, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, below := range value {
			at := values.Pointer(path, key)
			if property, ok := s.Properties[key]; ok {
				f.unknown(&property, at, below)
				continue
			}
			if a := s.AdditionalProperties; a != nil && a.Structural != nil {
				f.unknown(a.Structural, at, below)
			} else if s.Type == "object" && !s.XPreserveUnknownFields && (a == nil || !a.Bool) {
				f.found = append(f.found, values.Problem{Path: at, Message: "is an unknown key" + suggest(key, s), Unknown: true})
			}
		}
	case []any:
		if s.Items == nil {
			return
		}
		for i, item := range value {
			f.unknown(s.Items, path+"/"+strconv.Itoa(i), item)
		}
	}
}

func suggest(key string, s *schema.Structural) string {
	known := make([]string, 0, len(s.Properties))
	for name := range s.Properties {
		known = append(known, name)
	}
	return nearest.Suggest(key, known)
}
