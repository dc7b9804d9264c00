package nearest

import (
	"slices"
	"strings"
)

// Suggest finds the word that was probably meant, as a clause to end a message with; "" if none is near.
func Suggest(found string, known []string) string {
	best, distance := "", len(found)/3+1
	for _, word := range slices.Sorted(slices.Values(known)) {
		if max(len(word)-len(found), len(found)-len(word)) >= distance {
			continue // they differ by more letters than that; what is written may be very long
		}
		if d := edits(strings.ToLower(found), strings.ToLower(word)); d < distance {
			best, distance = word, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next := min(row[j+1]+1, row[j]+1, diagonal+cost)
			diagonal, row[j+1] = row[j+1], next
		}
	}
	return row[len(b)]
}
