package apply

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/internal/desired"
)

// ForeignError says that the name of a rendered object is taken by an object that was not rendered for this parent.
type ForeignError struct {
	desired.Identity
}

func (e *ForeignError) Error() string {
	return "exists already and was not rendered for this parent; rename it in the template or remove the existing object"
}

// ThrashingError says that somebody changes an object again and again, so that it is restored less and less often. The object is
// there all the same.
type ThrashingError struct {
	desired.Identity
	// After says when to look at the object again.
	After time.Duration
}

func (e *ThrashingError) Error() string {
	return "is changed again and again after it was applied, and is restored less and less often; " +
		"find out who else writes to it (metadata.managedFields) and let one of the two leave the field alone"
}

// ImmutableError says that an object stays as it is, since a change of it is refused for fields that are immutable.
type ImmutableError struct {
	desired.Identity
	// Fields that are immutable.
	Fields []string
}

func (e *ImmutableError) Error() string {
	return "stays as it is, since the API server lets nobody change " + strings.Join(e.Fields, ", ") +
		"; delete it, render it under another name, or list its template in spec.recreate of the blueprint"
}

// immutableWords are how the API server says that a field is immutable, which has no structured form.
var immutableWords = regexp.MustCompile(`(?i)immutable|(may|can) ?not (be )?(change|update|modif)|updates to .* are forbidden`)

// immutable returns the fields for which a change is refused, if that is all that is wrong with it.
func immutable(err error) []string {
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) || status.Status().Details == nil {
		return nil
	}
	var fields []string
	for _, cause := range status.Status().Details.Causes {
		if !immutableWords.MatchString(cause.Message) {
			return nil
		}
		if !slices.Contains(fields, cause.Field) {
			fields = append(fields, cause.Field)
		}
	}
	return fields
}

// ErrDeleting says that an object is being deleted and is created anew once it is gone.
var ErrDeleting = errors.New("the old object is still being deleted")

// RefusedError says that the API server did not accept a write.
type RefusedError struct {
	desired.Identity
	// As is the ServiceAccount as which it was tried; empty for the controller itself.
	As    types.NamespacedName
	Cause error
}

func (e *RefusedError) Unwrap() error { return e.Cause }

// Error says what is wrong with the object. It leaves out the values that the API server quotes, since they may be a tenant's and
// conditions are read by others; the fields are named.
func (e *RefusedError) Error() string {
	var status apierrors.APIStatus
	if !errors.As(e.Cause, &status) {
		return "the API server could not be reached"
	}
	s := status.Status()
	fields := untyped(s.Message)
	switch {
	case Terminating(e.Cause):
		return "goes with its namespace, which is being deleted"
	case apierrors.IsForbidden(e.Cause) && e.As != (types.NamespacedName{}):
		return e.forbidden(s.Message)
	case apierrors.IsForbidden(e.Cause):
		return "the controller may not write it, says the API server: grant it the kind, or look for a quota or an admission policy"
	case len(fields) > 0:
		return "the API server refuses it: " + strings.Join(fields, ", ")
	case s.Details != nil && len(s.Details.Causes) > 0:
		return "the API server refuses it: " + causes(s.Details.Causes)
	case s.Reason != "":
		return fmt.Sprintf("the API server refuses it: %s", s.Reason)
	default:
		return "the API server refuses it; `kubectl apply --server-side --dry-run=server` of what `gatewright render` prints says why"
	}
}

// missingRight is how the API server says that somebody lacks a right, which has no structured form.
var missingRight = regexp.MustCompile(`: User "[^"]*" cannot ([a-z:-]+) resource "([a-z0-9./-]+)" in API group "([a-z0-9.-]*)"`)

// forbidden says which right a ServiceAccount lacks, and what to grant to whom.
func (e *RefusedError) forbidden(message string) string {
	right := missingRight.FindStringSubmatch(message)
	if right == nil {
		return fmt.Sprintf("the API server forbids it to ServiceAccount %s: look for a quota or an admission policy", e.As)
	}
	verb, resource, group := right[1], right[2], right[3]
	if strings.HasPrefix(verb, "impersonate") {
		return fmt.Sprintf("the controller may not act as ServiceAccount %s: list it under impersonation.serviceAccounts of the chart, "+
			"or grant the controller the verb impersonate on it", e.As)
	}
	role := "a Role in namespace " + e.Namespace
	if e.Namespace == "" {
		role = "a ClusterRole"
	}
	if group != "" {
		resource += "." + group
	}
	return fmt.Sprintf("ServiceAccount %s may not %s %s: grant it create, patch and delete on them by %s", e.As, verb, resource, role)
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
		list = append(list, fmt.Sprintf("%s: %s", cause.Field, rule(cause)))
	}
	return strings.Join(list, ", ")
}

// rule is what a field breaks: the API server's words after the value that it quotes if the value is a plain one, so that it is
// certain where it ends, and else the name of the rule.
func rule(cause metav1.StatusCause) string {
	_, quoted, ok := strings.Cut(cause.Message, "Invalid value: ")
	if !ok || cause.Type != metav1.CauseTypeFieldValueInvalid {
		return string(cause.Type)
	}
	value, err := strconv.QuotedPrefix(quoted)
	if err != nil {
		value = plainNumber.FindString(quoted)
	}
	words, ok := strings.CutPrefix(quoted[len(value):], ": ")
	inner := strings.Trim(value, `"`)
	if !ok || inner == "" || strings.Contains(words, inner) {
		return string(cause.Type)
	}
	return words
}

// How server-side apply complains of an object that does not fit its kind's schema, which has no structured form. What is
// expected is told; what was found, and keys of list items, may be a tenant's.
var (
	untypedField = regexp.MustCompile(`(\.[^\s:]+): (field not declared in schema|duplicate entries|expected [a-z ()]+)`)
	wrongGoType  = regexp.MustCompile(`cannot convert (\w+) to (\w+)`)
	quoted       = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
	itemKeys     = regexp.MustCompile(`\[[^\]]*\]`)
	plainNumber  = regexp.MustCompile(`^-?[0-9.]+`)
)

// untyped returns the fields that do not fit the schema, and how.
func untyped(message string) []string {
	var fields []string
	// What is quoted goes first, since it may hold anything, such as what looks like a field.
	message = quoted.ReplaceAllString(message, `""`)
	for _, match := range untypedField.FindAllStringSubmatch(message, maxCauses) {
		fields = append(fields, itemKeys.ReplaceAllString(match[1], "[]")+": "+match[2])
	}
	for _, match := range wrongGoType.FindAllStringSubmatch(message, maxCauses) {
		fields = append(fields, fmt.Sprintf("a %s stands where the kind has a %s", match[1], match[2]))
	}
	return fields
}

// Terminating says whether a write was refused since its namespace is being deleted. Then there is nothing to do or to report: what
// is there goes with it.
func Terminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
}

// WorthRetrying says whether an error may go away without an event that would tell us: the API server was out of reach or busy,
// somebody wrote at the same time, a right, a quota or a ServiceAccount is missing, or a foreign object is in the way. What the API
// server finds invalid stays so until an input changes.
func WorthRetrying(err error) bool {
	var foreign *ForeignError
	var thrashing *ThrashingError
	var identity *IdentityError
	var refused *RefusedError
	switch {
	case errors.As(err, &foreign), errors.As(err, &thrashing), errors.As(err, &identity):
		return true
	case !errors.As(err, &refused):
		return false
	}
	if Terminating(refused.Cause) || len(untyped(refused.Cause.Error())) > 0 {
		return false
	}
	return !apierrors.IsInvalid(refused.Cause) && !apierrors.IsBadRequest(refused.Cause) && !apierrors.IsNotFound(refused.Cause)
}
