package apply

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/internal/desired"
)

// ForeignError says that the name of a rendered object is taken by an object that was not rendered for this parent.
type ForeignError struct {
	desired.Identity
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s %s exists already and was not rendered for this parent; rename it in the template or remove the existing object",
		e.Kind, e.Name)
}

// ErrDeleting says that an object is being deleted and is created anew once it is gone.
var ErrDeleting = errors.New("the old object is still being deleted")

// RefusedError says that the API server did not accept a write.
type RefusedError struct {
	desired.Identity
	Cause error
}

func (e *RefusedError) Unwrap() error { return e.Cause }

// Error names the object and the reason. It leaves out the values that the API server quotes, since they may be a tenant's
// and conditions are read by others; the fields are named.
func (e *RefusedError) Error() string {
	object := fmt.Sprintf("%s %s", e.Kind, e.Name)
	var status apierrors.APIStatus
	if !errors.As(e.Cause, &status) {
		return fmt.Sprintf("applying %s: the API server could not be reached", object)
	}
	s := status.Status()
	fields := untyped(s.Message)
	switch {
	case Terminating(e.Cause):
		return object + " goes with its namespace, which is being deleted"
	case apierrors.IsForbidden(e.Cause):
		return fmt.Sprintf("the controller may not write %s: the API server says Forbidden; grant it the kind, or look for a quota or an admission policy", object)
	case len(fields) > 0:
		return fmt.Sprintf("the API server refuses %s: %s", object, strings.Join(fields, ", "))
	case s.Details != nil && len(s.Details.Causes) > 0:
		return fmt.Sprintf("the API server refuses %s: %s", object, causes(s.Details.Causes))
	default:
		return fmt.Sprintf("the API server refuses %s: %s", object, s.Reason)
	}
}

// maxCauses is how many wrong fields a message names.
const maxCauses = 4

func causes(all []metav1.StatusCause) string {
	var list []string
	for i, cause := range all {
		if i == maxCauses {
			list = append(list, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		list = append(list, fmt.Sprintf("%s: %s", cause.Field, cause.Type))
	}
	return strings.Join(list, ", ")
}

// untypedField is how server-side apply complains of an object that does not fit its kind's schema: it has no structured form.
// What is expected is told; what was found, and keys of list items, may be a tenant's.
var (
	untypedField = regexp.MustCompile(`(\.[^\s:]+): (field not declared in schema|duplicate entries|expected [a-z ()]+)`)
	itemKeys     = regexp.MustCompile(`\[[^\]]*\]`)
)

// untyped returns the fields that do not fit the schema, and how.
func untyped(message string) []string {
	var fields []string
	for _, match := range untypedField.FindAllStringSubmatch(message, maxCauses) {
		fields = append(fields, itemKeys.ReplaceAllString(match[1], "[]")+": "+match[2])
	}
	return fields
}

// Terminating says whether a write was refused since its namespace is being deleted. Then there is nothing to do or to report: what
// is there goes with it.
func Terminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// WorthRetrying says whether an error may go away without an event that would tell us: the API server was out of reach or busy,
// somebody wrote at the same time, a right or a quota is missing, or a foreign object is in the way. What the API server finds
// invalid stays so until an input changes.
func WorthRetrying(err error) bool {
	var foreign *ForeignError
	var refused *RefusedError
	switch {
	case errors.As(err, &foreign):
		return true
	case !errors.As(err, &refused):
		return false
	}
	if Terminating(refused.Cause) || len(untyped(refused.Cause.Error())) > 0 {
		return false
	}
	return !apierrors.IsInvalid(refused.Cause) && !apierrors.IsBadRequest(refused.Cause) && !apierrors.IsNotFound(refused.Cause)
}
