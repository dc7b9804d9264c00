package apply

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/gatewright/gatewright/test/hostile"
)

// FuzzRefusals holds that what the API server quotes of a rendered object is not told: conditions are read by others than those
// who may read the values.
func FuzzRefusals(f *testing.F) {
	for _, s := range hostile.Strings {
		f.Add(s)
	}
	f.Add(`x": is not what it should be: y`)
	f.Add(`0.1: 2`)
	f.Fuzz(checkRefusals)
}

func TestNoRefusalQuotesAMadeUpValue(t *testing.T) {
	for s := range hostile.Mutants(append([]string{`x": is not what it should be: y`, "0.1: 2", ".spec.x: duplicate entries"}, hostile.Strings...), 3000) {
		checkRefusals(t, s)
	}
}

// canary stands beside a value, so that it is found in a message whatever the value is.
const canary = "7b1d-canary"

func checkRefusals(t *testing.T, s string) {
	t.Helper()
	kind, place := schema.GroupKind{Group: "apps", Kind: "Deployment"}, field.NewPath("spec", "template")
	for _, value := range []string{s + canary, canary + s, canary + ": " + s, s + " " + canary + "\n" + s} {
		for _, cause := range []error{
			apierrors.NewInvalid(kind, "x", field.ErrorList{field.Invalid(place, value, "must be a name")}),
			apierrors.NewInvalid(kind, "x", field.ErrorList{field.NotSupported(place, value, []string{"a", "b"})}),
			apierrors.NewInvalid(kind, "x", field.ErrorList{field.Duplicate(place, value), field.TypeInvalid(place, value, "must be a number")}),
			apierrors.NewInvalid(kind, "x", field.ErrorList{field.Invalid(place, map[string]any{value: value}, "must be empty")}),
			apierrors.NewBadRequest(value),
			apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "x", errors.New(value)),
			apierrors.NewInternalError(fmt.Errorf(".spec.ports: duplicate entries for key [name=%q]", value)),
			apierrors.NewInternalError(fmt.Errorf("failed to create typed patch object: .spec[name=%q].x: field not declared in schema", value)),
		} {
			if said := (&RefusedError{Cause: cause}).Error(); strings.Contains(said, canary) {
				t.Errorf("%q is told, from %q: %s", value, cause, said)
			}
		}
	}
}
