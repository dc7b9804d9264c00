package gateway

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
)

const (
	maxNameLength = 253 // of a gatewayv1.SectionName
	suffixBytes   = 5
)

// names hands out listener names that are unique in one merged list.
//
// A listener keeps its name if no listener before it, in order of precedence, has it. Otherwise a hash of where it comes
// from is appended, so that the new name does not depend on which or how many others share the old one: a ListenerSet that
// comes or goes renames a listener only if it takes or frees that listener's very name. Rejected listeners count as having
// their names, though they are given none, since otherwise a verdict that changes on one listener would rename another.
//
// Hashing alone would not do: names are chosen by tenants, and one may write down what another's hash will be. So a taken
// name is never given out again; the next hash is tried.
type names map[gatewayv1.SectionName]bool

// reserve takes a listener's own name out of circulation.
func (n names) reserve(source Source) {
	n[source.SectionName] = true
}

// give returns the unique name for a listener, a valid section name if its own is one.
func (n names) give(source Source) gatewayv1.SectionName {
	name := source.SectionName
	for attempt := 0; n[name]; attempt++ {
		name = hashedName(source, attempt)
	}
	n[name] = true
	return name
}

func hashedName(source Source, attempt int) gatewayv1.SectionName {
	// None of the parts may contain a slash, so different sources never hash the same text.
	origin := strings.Join([]string{
		string(source.Kind), source.Namespace, source.Name, string(source.SectionName), strconv.Itoa(attempt),
	}, "/")
	return gatewayv1.SectionName(hashed(string(source.SectionName), origin, maxNameLength))
}

// LabelValue is the name of an object as the value of a label, which holds fewer letters than a name may have
// (gateway.networking.k8s.io/gateway-name): a name that is too long is cut, and told from others by a hash.
func LabelValue(name string) string {
	if len(name) <= validation.LabelValueMaxLength {
		return name
	}
	return hashed(name, name, validation.LabelValueMaxLength)
}

// hashed puts a hash of its origin behind a name, of which the end is cut off if it would be too long.
func hashed(name, origin string, most int) string {
	sum := sha256.Sum256([]byte(origin))
	suffix := "-" + hex.EncodeToString(sum[:suffixBytes])
	if len(name) > most-len(suffix) {
		// A label must not end with what the cut may leave at its end.
		name = strings.TrimRight(name[:most-len(suffix)], "-.")
	}
	return name + suffix
}
