package order

import (
	"cmp"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Compare tells which of two objects has precedence: the one created first, then the one that comes first by
// namespace/name. The result is negative if a has it, as for slices.SortFunc.
func Compare(a, b metav1.Object) int {
	return cmp.Or(
		a.GetCreationTimestamp().Compare(b.GetCreationTimestamp().Time),
		compareKeys(a, b),
	)
}

// compareKeys compares "namespace/name" without making such texts, of which sorting would need many.
func compareKeys(a, b metav1.Object) int {
	of, other := a.GetNamespace(), b.GetNamespace()
	shorter := min(len(of), len(other))
	switch {
	case of[:shorter] != other[:shorter]:
		return cmp.Compare(of, other)
	case len(of) > shorter:
		return cmp.Compare(of[shorter], '/')
	case len(other) > shorter:
		return cmp.Compare('/', other[shorter])
	}
	return cmp.Compare(a.GetName(), b.GetName())
}

// Sorted returns the objects in order of precedence, the strongest first. The input is left as it is.
func Sorted[T metav1.Object](objects []T) []T {
	sorted := slices.Clone(objects)
	slices.SortStableFunc(sorted, func(a, b T) int { return Compare(a, b) })
	return sorted
}
