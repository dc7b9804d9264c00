package intake

import (
	"encoding/base64"
	gojson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
)

// embedded are the Go structs that the decoder names on the way to a field, though they are no part of the text.
var embedded = strings.NewReplacer(
	"spec.CommonRouteSpec.", "spec.",
	"spec.ValuesBlocks.", "spec.",
	"spec.values.ValuesBlocks.", "spec.values.",
)

// problemOf says in the words of YAML what a JSON decoder found.
func problemOf(err error) *Problem {
	var mismatch *gojson.UnmarshalTypeError
	if _, corrupt := errors.AsType[base64.CorruptInputError](err); corrupt {
		return &Problem{Message: "holds a value that must be base64 and is not; a Secret takes plain text under stringData"}
	}
	if !errors.As(err, &mismatch) {
		return &Problem{Message: err.Error()}
	}
	return &Problem{embedded.Replace(mismatch.Field), fmt.Sprintf("must be %s, and is %s", wanted(mismatch.Type), found(mismatch.Value))}
}

func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a map"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Int,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		return "a whole number in the range of the field"
	}
	return "a " + t.Name()
}

// found names the type only: the decoder adds the value of a number.
func found(value string) string {
	kind, _, _ := strings.Cut(value, " ")
	switch kind {
	case "object":
		return "a map"
	case "array":
		return "a list"
	case "bool":
		return "true or false"
	}
	return "a " + kind
}
