package render

import (
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"regexp"
	"strings"
)

// uniqueName makes one DNS-1123 label of several strings, a name that no other list of strings gets:
// `uniqueName .Gateway.metadata.namespace .Gateway.metadata.name`. A number at the end is the greatest length, 63 if there is
// none. Plain concatenation is not enough: team/a-web and team-a/web would both be team-a-web.
func uniqueName(_ *state, args []any) (any, error) {
	most, hash := 63, sha256.New()
	var parts []string
	for i, arg := range args {
		if n, err := asInt(arg); err == nil {
			if n < 16 || n > 63 || i != len(args)-1 {
				return nil, broken("a number stands last, and is the greatest length, 16 to 63; to make a number part of the name, pipe it through toString")
			}
			most = n
			continue
		}
		part, ok := arg.(string)
		if !ok || part == "" {
			return nil, broken("argument %d must be a string that is not empty, and is %s", i+1, describe(arg))
		}
		// Lengths keep the parts apart whatever they hold.
		fmt.Fprintf(hash, "%d:%s", len(part), part)
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		return nil, broken("there must be at least one string")
	}
	const digits = 10
	sum := base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").EncodeToString(hash.Sum(nil))[:digits]
	slug := notInLabel.ReplaceAllString(strings.ToLower(strings.Join(parts, "-")), "-")
	slug = strings.Trim(slug[:min(len(slug), most-digits-1)], "-")
	if slug == "" {
		return sum, nil
	}
	return slug + "-" + sum, nil
}

var notInLabel = regexp.MustCompile(`[^a-z0-9]+`)
