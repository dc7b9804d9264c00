package order

import (
	"cmp"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheOldestComesFirst(t *testing.T) {
	at := func(second int) metav1.Time { return metav1.NewTime(time.Unix(int64(second), 0)) }
	older := &metav1.ObjectMeta{Namespace: "z", Name: "z", CreationTimestamp: at(1)}
	newer := &metav1.ObjectMeta{Namespace: "a", Name: "a", CreationTimestamp: at(2)}
	if Compare(older, newer) >= 0 || Compare(newer, older) <= 0 {
		t.Error("age must count before the name")
	}
}

// The order is that of the text "namespace/name", in which some letters come before the slash.
func TestOfOneAgeTheNameDecides(t *testing.T) {
	texts := []string{"", "a", "a-b", "a.b", "a0", "ab", "b", "a-", "0"}
	var all []*metav1.ObjectMeta
	for _, namespace := range texts {
		for _, name := range texts {
			all = append(all, &metav1.ObjectMeta{Namespace: namespace, Name: name})
		}
	}
	for _, a := range all {
		for _, b := range all {
			want := cmp.Compare(a.Namespace+"/"+a.Name, b.Namespace+"/"+b.Name)
			if got := Compare(a, b); got != want {
				t.Errorf("%s/%s and %s/%s: want %d, got %d", a.Namespace, a.Name, b.Namespace, b.Name, want, got)
			}
		}
	}
}
