package values

import (
	"fmt"
	"testing"
)

// BenchmarkCompute has one Gateway with policies in its namespace. The tree has 1,000 leaves; in "all-leaves" every policy
// sets all of them, in the others each sets five.
func BenchmarkCompute(b *testing.B) {
	leaves := func(from, count, value int) Tree {
		tree := Tree{}
		for i := from; i < from+count; i++ {
			group := fmt.Sprintf("group%d", i/50%20)
			if tree[group] == nil {
				tree[group] = Tree{}
			}
			tree[group].(Tree)[fmt.Sprintf("leaf%d", i%50)] = int64(value)
		}
		return tree
	}
	cases := []struct {
		name     string
		policies int
		each     int
	}{{"policies=0", 0, 0}, {"policies=5", 5, 5}, {"policies=200", 200, 5}, {"policies=200,all-leaves", 200, 1000}}
	for _, c := range cases {
		set := []drawn{{level: LevelBlueprint, name: "bp", defaults: leaves(0, 1000, -1)}}
		for i := range c.policies {
			set = append(set, drawn{level: LevelNamespace, name: fmt.Sprintf("p%d", i), created: i, defaults: leaves(i*5%1000, c.each, i)})
		}
		bp, policies := parsed(b, set)
		target := gatewayTarget()
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if e := Compute(bp, policies, target); len(e.Origins) != 1000 {
					b.Fatal(len(e.Origins))
				}
			}
		})
	}
}

// BenchmarkComputeConstraints has 200 policies with 32 constraints each, none of which holds.
func BenchmarkComputeConstraints(b *testing.B) {
	set := []drawn{{level: LevelBlueprint, name: "bp", defaults: Tree{"replicas": int64(1)}}}
	bp, _ := parsed(b, set)
	var policies []*Policy
	for i := range 200 {
		blocks := "constraints:"
		for c := range 32 {
			blocks += fmt.Sprintf("\n- {name: c%d, when: 'self.replicas > %d', override: {replicas: 10}}", c, 10+c)
		}
		policies = append(policies, at(b, LevelNamespace, fmt.Sprintf("p%d", i), i, blocks))
	}
	b.ReportAllocs()
	for b.Loop() {
		Compute(bp, policies, gatewayTarget())
	}
}
