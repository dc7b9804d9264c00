package hostile

import (
	"iter"
	"math/rand/v2"
	"strings"
)

// Strings would do harm, or would not be themselves any more, if they were pasted into YAML.
var Strings = []string{
	"", " ", "benign", "two words", " leading", "trailing ",
	"60\n---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: pwn}\n",
	"60\nkind: NetworkPolicy\nmetadata: {name: stolen, namespace: kube-system}",
	"x\r\nkind: Evil", "x\u2028kind: Evil", "x\u0085kind: Evil",
	"\n", "\n\n  indented\n", "---", "--- ", "...", "a---b", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n",
	`"`, `'`, `\`, `\"`, `x" kind: Evil`, `x' kind: Evil`, `x", kind: Evil, z: "`, "`", `{{ .Values }}`,
	"a: b", "a:", ": a", "a #b", "#", "# comment", "- a", "-", "?", "? a", "[", "]", "{", "}", "a, b",
	"&anchor", "*alias", "*", "*.example.com",
	"!tag", "!!str x", "|", "|-", ">", "%", "@", "<<", "=", "~",
	"no", "yes", "on", "off", "y", "n", "true", "false", "null", "0777", "0o7", "1e3", "1_000", "0x1F", ".5", ".inf", "2001-01-01", "1:30",
	"NaN", "1e400", "-0", "+1", "9223372036854775808", "a\u2029b: c", "%YAML 1.1",
	"%TAG ! x", "|+2", "- - a", "? a\n: b", "\r", "\u202egpj", "{{/*",
	"\x00", "\x07bell", "\ttab", "tab\t", "\u00a0", "\ufeff", "\U0001F600", "é", "\uE0000\uE001", "\uE000", "\uE001x",
	strings.Repeat("long ", 500),
}

// Mutants yields n texts that are made of the given ones: cut, joined, put into each other, and with hostile characters in
// them. They are the same ones each time.
func Mutants(of []string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		random := rand.New(rand.NewPCG(7, 11))
		pick := func() string { return of[random.IntN(len(of))] }
		for range n {
			text := []rune(pick())
			for range 1 + random.IntN(3) {
				at := random.IntN(len(text) + 1)
				to := at + random.IntN(len(text)-at+1)
				switch random.IntN(5) {
				case 0:
					text = splice(text, at, to, "")
				case 1:
					text = splice(text, at, at, pick())
				case 2:
					text = splice(text, at, to, pick())
				case 3:
					text = splice(text, at, at, string(text[at:to]))
				default:
					text = splice(text, at, at, Strings[random.IntN(len(Strings))])
				}
				// Mutants of mutants must not grow without end.
				text = text[:min(len(text), 4096)]
			}
			if !yield(string(text)) {
				return
			}
		}
	}
}

// splice puts a string in the place of a part of a text.
func splice(text []rune, from, to int, with string) []rune {
	return append(append(append([]rune{}, text[:from]...), []rune(with)...), text[to:]...)
}
