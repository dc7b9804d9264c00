package values

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConditionHolds(t *testing.T) {
	self := `{num: 5, f: 5.5, s: "100", enabled: true, flag: "true", m: {a: 1}, list: [{}, {limit: "100"}, {limit: 7}], big: 12}`
	type outcome struct {
		Holds  bool
		Failed bool
	}
	isTrue, isFalse, fails := outcome{Holds: true}, outcome{}, outcome{Failed: true}
	cases := map[string]struct {
		when string
		want outcome
	}{
		"a comparison that holds is true":                                 {"self.num > 4", isTrue},
		"a comparison that does not hold is false":                        {"self.num > 5", isFalse},
		"an int compares with a double":                                   {"self.num < 5.5 && self.f > 5", isTrue},
		"a dynamic bool is a condition":                                   {"self.enabled", isTrue},
		"a string is no condition":                                        {"self.flag", fails},
		"a missing key is false":                                          {"self.x > 1", isFalse},
		"a missing key is false under a negation too":                     {"!(self.x > 1)", isFalse},
		"a key below a missing key is false":                              {"self.x.y.z > 1", isFalse},
		"a key below a number is false":                                   {"self.num.z > 1", isFalse},
		"a key below a string is false":                                   {"self.s.z > 1", isFalse},
		"a key below a list is false":                                     {"self.list.z > 1", isFalse},
		"a key by index is false where it is missing":                     {`self["x"] > 1`, isFalse},
		"a string compared with a number fails":                           {"self.s > 10", fails},
		"an index beyond a list fails":                                    {"self.list[9].limit > 1", fails},
		"a list's index of a wrong type that comes from the values fails": {"[1, 2][self.s] > 1", fails},
		"a division by zero fails":                                        {"1 / (self.num - 5) > 0", fails},
		"a conversion that does not work fails":                           {"int(self.flag) > 0", fails},
		"true wins over a missing key":                                    {"self.x > 1 || self.num == 5", isTrue},
		"true wins over a failure":                                        {"self.s > 1 || self.num == 5", isTrue},
		"false wins over a failure":                                       {"self.s > 1 && self.num == 4", isFalse},
		"a missing key does not hide a failure after it":                  {"self.x > 1 || self.s > 10", fails},
		"a missing key does not hide a failure before it":                 {"self.s > 10 || self.x > 1", fails},
		"a missing key does not hide something that is no bool":           {"self.x > 1 || self.flag", fails},
		"a missing key in one element does not hide a failure in another": {"self.list.exists(r, r.limit > 50)", fails},
		"an element for which it holds wins over the failures":            {"self.list.exists(r, r.limit > 5)", isTrue},
		"has tells what is there":                                         {"has(self.m.a) && !has(self.m.b) && !has(self.x)", isTrue},
		"has of a key below a missing key is false":                       {"has(self.x.y)", isFalse},
		"optional keys have a value to fall back on":                      {"self.?x.?y.orValue(3) == 3 && self.?num.orValue(3) == 5", isTrue},
		"quantities compare":                                              {`quantity("1Gi").isGreaterThan(quantity("500Mi"))`, isTrue},
		"the target is known":                                             {`target.kind == "Gateway" && target.labels["app"] == "edge"`, isTrue},
		"what takes too long fails": {
			"self.many.all(a, self.many.all(b, a + b >= 0))", fails,
		},
	}
	values := tree(t, self)
	many := make([]any, 1000)
	for i := range many {
		many[i] = int64(i)
	}
	values["many"] = many
	vars := map[string]any{
		varSelf: values, varLower: Tree{},
		varTarget: map[string]any{"kind": "Gateway", "labels": map[string]string{"app": "edge"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			compiled, err := compileCondition(c.when)
			if err != nil {
				t.Fatal(err)
			}
			holds, _, err := compiled.holds(vars)
			if diff := cmp.Diff(c.want, outcome{holds, err != nil}); diff != "" {
				t.Errorf("%s (-want +got)\n%s%v", c.when, diff, err)
			}
		})
	}
}

func TestCompileConditionSaysWhatIsWrong(t *testing.T) {
	cases := map[string]struct{ when, want string }{
		"a syntax error has a place":    {"self.a >", "does not compile: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}, at line 1, column 9"},
		"an unknown variable is named":  {"other.a > 1", "does not compile: undeclared reference to 'other' (in container ''), at line 1, column 1"},
		"there is no clock":             {"now() > 1", "does not compile: undeclared reference to 'now' (in container ''), at line 1, column 4"},
		"the judge is not for authors":  {"@judge(self.a)", "does not compile: Syntax error: token recognition error at: '@', at line 1, column 1"},
		"a number is no condition":      {"1 + 1", "is of type int; write an expression of type bool"},
		"a tree is no condition":        {"self", "is of type map(string, dyn); write an expression of type bool"},
		"a type error has a place, too": {"true && 1", "does not compile: expected type 'bool' but found 'int', at line 1, column 9"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := compileCondition(c.when)
			if err == nil {
				t.Fatal("it compiles")
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// TestAConditionCostsTheSameEachTime goes through maps of which the one key that ends the search may come early or late.
func TestAConditionCostsTheSameEachTime(t *testing.T) {
	self := Tree{"m": Tree{}, "l": []any{Tree{}}}
	for i := range 40 {
		self["m"].(Tree)[fmt.Sprint("key", i)] = int64(i)
		self["l"].([]any)[0].(Tree)[fmt.Sprint("key", i)] = Tree{"x": int64(i)}
	}
	for _, expression := range []string{
		"self.m.exists(k, self.m[k] == 20)", "self.m.exists(k, v, v == 20)", "self.l.exists(m, m.exists(k, m[k].x == 20))",
		"self.exists(k, k == 'm' && self[k].exists(n, n == 'key20'))", "!lower.m.all(k, lower.m[k] != 20)", "{'a': self.m}.a.exists(k, k == 'key20')",
	} {
		c, err := compileCondition(expression)
		if err != nil {
			t.Fatal(err)
		}
		costs := map[uint64]int{}
		for range 50 {
			held, cost, err := c.holds(map[string]any{varSelf: self, varLower: func() any { return self }, varTarget: Tree{}})
			if !held || err != nil {
				t.Fatalf("%s is %v: %v", expression, held, err)
			}
			costs[cost]++
		}
		if len(costs) != 1 {
			t.Errorf("%s costs, so many times each: %v", expression, costs)
		}
	}
}
