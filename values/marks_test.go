package values

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// marked are the marks that the tests merge by: /atomic is one leaf, the items of /listeners are told apart by name, those of
// /ports by port and protocol, /tags is a set, and under /any there may be more of it by any key.
func marked() *Marks {
	places := func() map[string]*Marks {
		return map[string]*Marks{
			"atomic":    {Merge: MergeAtomic},
			"listeners": {Merge: MergeByKey, Keys: []Key{{Name: "name"}}, Items: &Marks{Properties: map[string]*Marks{"tls": {Merge: MergeAtomic}, "tags": {Merge: MergeSet}}}},
			"ports":     {Merge: MergeByKey, Keys: []Key{{Name: "port"}, {Name: "protocol", Default: "TCP"}}},
			"tags":      {Merge: MergeSet},
		}
	}
	root := &Marks{Properties: places()}
	root.Properties["any"] = &Marks{Additional: &Marks{Properties: places()}}
	return root
}

// origins are the provenance in short: who set each leaf, and whom that shadows.
func origins(e Effective) map[string]string {
	short := map[string]string{}
	for _, o := range e.Origins {
		text := o.SetBy + " " + o.Block
		for _, s := range o.Shadowed {
			text += " over " + s.SetBy
		}
		short[o.Path] = text
	}
	return short
}

const (
	bySchema    = "GatewayClassBlueprint/bp schema"
	byBlueprint = "GatewayClassBlueprint/bp default"
	byP         = "GatewayConfig/team/p default"
	byQ         = "GatewayClassConfig/gatewright-system/q default"
)

func TestMarksDecideHowValuesMerge(t *testing.T) {
	const overBlueprint = " over GatewayClassBlueprint/bp"
	cases := map[string]struct {
		// blueprint, q (all Gateways of the class) and p (the Gateway) are sources, the later the more specific.
		blueprint, q, p string
		want            string
		origins         map[string]string
		found           found
	}{
		"an atomic map is replaced whole": {
			blueprint: "default: {atomic: {a: 1, b: {c: 2}}}", p: "default: {atomic: {a: 3}}",
			want: "{atomic: {a: 3}}", origins: map[string]string{"/atomic": byP + overBlueprint},
		},
		"an empty atomic map replaces another, since it is the value of one leaf": {
			blueprint: "default: {atomic: {a: 1}}", p: "default: {atomic: {}}",
			want: "{atomic: {}}", origins: map[string]string{"/atomic": byP + overBlueprint},
		},
		"a null in an atomic map leaves nothing, as in any map": {
			p: "default: {atomic: {a: null, b: {c: null}, d: [null]}}", want: "{atomic: {b: {}, d: [null]}}",
			origins: map[string]string{"/atomic": byP},
		},
		"a null hides a less specific atomic map": {
			blueprint: "default: {atomic: {a: 1}}", p: "default: {atomic: null}",
			want: "{}", origins: map[string]string{},
			found: found{Removed: []string{"/atomic of GatewayClassBlueprint/bp by default of GatewayConfig/team/p"}},
		},
		"an override of an atomic map wins as a whole": {
			q: "override: {atomic: {a: 1}}", p: "default: {atomic: {a: 2, b: 2}}", want: "{atomic: {a: 1}}",
			origins: map[string]string{"/atomic": "GatewayClassConfig/gatewright-system/q override over GatewayConfig/team/p"},
		},
		"what is no map where an atomic one should be is a value like others": {
			blueprint: "default: {atomic: [{a: 1}]}", p: "default: {any: {x: {atomic: 5}}}",
			want:    "{atomic: [{a: 1}], any: {x: {atomic: 5}}}",
			origins: map[string]string{"/atomic": byBlueprint, "/any/x/atomic": byP},
		},
		"the items of a list merge by key, each leaf with an origin, in the order of who names them first": {
			blueprint: "default: {listeners: [{name: b, port: 1, tls: {mode: x, cert: y}}, {name: a, port: 2}]}",
			p:         "default: {listeners: [{name: c, port: 3}, {name: b, port: 4, tls: {mode: z}, more: {x: 1}}]}",
			want:      "{listeners: [{name: b, port: 4, tls: {mode: z}, more: {x: 1}}, {name: a, port: 2}, {name: c, port: 3}]}",
			origins: map[string]string{
				"/listeners/0/name": byP + overBlueprint, "/listeners/0/port": byP + overBlueprint, "/listeners/0/tls": byP + overBlueprint,
				"/listeners/0/more/x": byP, "/listeners/1/name": byBlueprint, "/listeners/1/port": byBlueprint,
				"/listeners/2/name": byP, "/listeners/2/port": byP,
			},
		},
		"an override wins for the fields that it has": {
			q: "override: {listeners: [{name: a, port: 1}]}", p: "default: {listeners: [{name: b, port: 2}, {name: a, port: 2, host: x}]}",
			want: "{listeners: [{name: b, port: 2}, {name: a, port: 1, host: x}]}",
			origins: map[string]string{
				"/listeners/0/name": byP, "/listeners/0/port": byP, "/listeners/1/host": byP,
				"/listeners/1/name": "GatewayClassConfig/gatewright-system/q override over GatewayConfig/team/p",
				"/listeners/1/port": "GatewayClassConfig/gatewright-system/q override over GatewayConfig/team/p",
			},
		},
		"a null in an item hides what less specific sources say there": {
			blueprint: "default: {listeners: [{name: a, port: 1, host: x}]}", p: "default: {listeners: [{name: a, host: null}]}",
			want: "{listeners: [{name: a, port: 1}]}", origins: map[string]string{"/listeners/0/name": byP + overBlueprint, "/listeners/0/port": byBlueprint},
			found: found{Removed: []string{"/listeners/0/host of GatewayClassBlueprint/bp by default of GatewayConfig/team/p"}},
		},
		"items are told apart by all keys, one of which has a default": {
			blueprint: "default: {ports: [{port: 53, v: 1}, {port: 53, protocol: UDP, v: 1}]}",
			p:         "default: {ports: [{port: 53, protocol: TCP, w: 2}, {port: 53, protocol: UDP, v: 2}]}",
			want:      "{ports: [{port: 53, protocol: TCP, v: 1, w: 2}, {port: 53, protocol: UDP, v: 2}]}",
			origins: map[string]string{
				"/ports/0/port": byP + overBlueprint, "/ports/0/protocol": byP, "/ports/0/v": byBlueprint, "/ports/0/w": byP,
				"/ports/1/port": byP + overBlueprint, "/ports/1/protocol": byP + overBlueprint, "/ports/1/v": byP + overBlueprint,
			},
		},
		"a number and a text are different keys": {
			blueprint: "default: {listeners: [{name: 80}]}", p: "default: {listeners: [{name: '80'}, {name: 80.0}]}",
			want:    "{listeners: [{name: 80}, {name: '80'}]}",
			origins: map[string]string{"/listeners/0/name": byP + overBlueprint, "/listeners/1/name": byP},
		},
		"an empty list has no items to merge": {
			blueprint: "default: {listeners: [{name: a}]}", p: "default: {listeners: [], ports: []}",
			want: "{listeners: [{name: a}], ports: []}", origins: map[string]string{"/listeners/0/name": byBlueprint, "/ports": byP},
		},
		"a list whose items cannot be told apart replaces the list": {
			blueprint: "default: {listeners: [{name: a}], tags: [x]}", p: "default: {listeners: [{name: b}, {name: b}], tags: [y, y]}",
			want:    "{listeners: [{name: b}, {name: b}], tags: [y, y]}",
			origins: map[string]string{"/listeners": byP + overBlueprint, "/tags": byP + overBlueprint},
		},
		"a list whose items cannot be told apart is replaced in turn, and told as shadowed": {
			blueprint: "default: {listeners: [{name: a}, {name: a, port: 1}], tags: [x, x]}", p: "default: {listeners: [{name: b}], tags: [y]}",
			want:    "{listeners: [{name: b}], tags: [y]}",
			origins: map[string]string{"/listeners/0/name": byP + overBlueprint, "/tags/0": byP + overBlueprint},
		},
		"what is no list replaces a list, and the reverse": {
			blueprint: "default: {listeners: [{name: a}], ports: 5, tags: [x]}", p: "default: {listeners: {name: b}, ports: [{port: 1}], tags: null}",
			want:    "{listeners: {name: b}, ports: [{port: 1}]}",
			origins: map[string]string{"/listeners": byP + overBlueprint, "/ports/0/port": byP + overBlueprint},
			found:   found{Removed: []string{"/tags/x of GatewayClassBlueprint/bp by default of GatewayConfig/team/p"}},
		},
		"a set is the union": {
			blueprint: "default: {tags: [b, 1, {x: 1}]}", p: "default: {tags: [a, '1', b, {x: 1}]}",
			want: "{tags: [b, 1, {x: 1}, a, '1']}",
			origins: map[string]string{
				"/tags/0": byP + overBlueprint, "/tags/1": byBlueprint, "/tags/2": byP + overBlueprint, "/tags/3": byP, "/tags/4": byP,
			},
		},
		"what is merged may be in what is merged": {
			blueprint: "default: {any: {x/y: {listeners: [{name: a, tags: [t]}]}}}", p: "default: {any: {x/y: {listeners: [{name: b}, {name: a, tags: [u]}]}}}",
			want: "{any: {x/y: {listeners: [{name: a, tags: [t, u]}, {name: b}]}}}",
			origins: map[string]string{
				"/any/x~1y/listeners/0/name": byP + overBlueprint, "/any/x~1y/listeners/0/tags/0": byBlueprint,
				"/any/x~1y/listeners/0/tags/1": byP, "/any/x~1y/listeners/1/name": byP,
			},
		},
		"an item is removed by its name": {
			blueprint: "default: {listeners: [{name: a, port: 1}, {name: b.c, port: 2}], tags: [x, y], ports: [{port: 53}]}",
			p:         "remove: ['/listeners/name=a', 'listeners[\"name=b.c\"].port', tags.x, 'ports[\"port=53,protocol=TCP\"]']",
			want:      "{listeners: [{name: b.c}], tags: [y]}",
			origins:   map[string]string{"/listeners/0/name": byBlueprint, "/tags/0": byBlueprint},
			found: found{Removed: []string{
				"/listeners/0/port of GatewayClassBlueprint/bp by remove of GatewayConfig/team/p",
				"/listeners/name=a/name of GatewayClassBlueprint/bp by remove of GatewayConfig/team/p",
				"/listeners/name=a/port of GatewayClassBlueprint/bp by remove of GatewayConfig/team/p",
				"/ports/port=53,protocol=TCP/port of GatewayClassBlueprint/bp by remove of GatewayConfig/team/p",
				"/tags/x of GatewayClassBlueprint/bp by remove of GatewayConfig/team/p",
			}},
		},
		"the key of an item is not removed": {
			blueprint: "default: {listeners: [{name: a, port: 1}]}", p: "remove: ['/listeners/name=a/name', '/listeners/0']",
			want: "{listeners: [{name: a, port: 1}]}", origins: map[string]string{"/listeners/0/name": byBlueprint, "/listeners/0/port": byBlueprint},
			found: found{Warnings: []string{
				"GatewayConfig/team/p remove/listeners/name=a/name: RemoveIneffective", "GatewayConfig/team/p remove/listeners/0: RemoveIneffective",
			}},
		},
		"conditions see lists as lists and maps as maps": {
			blueprint: "default: {listeners: [{name: a}], atomic: {x: 1}}",
			q:         "constraints: [{name: c, when: \"self.listeners.map(l, l.name) == ['a', 'b'] && self.atomic.x == 1 && lower.listeners[0].name == 'b' && self.tags == ['t']\", override: {held: 1}}]",
			p:         "default: {listeners: [{name: b}], tags: [t]}\nmerge: {default: {when: '!has(self.listeners)'}}",
			want:      "{listeners: [{name: a}, {name: b}], tags: [t], atomic: {x: 1}, held: 1}",
			origins: map[string]string{
				"/atomic": byBlueprint, "/listeners/0/name": byBlueprint, "/listeners/1/name": byP, "/tags/0": byP,
				"/held": "GatewayClassConfig/gatewright-system/q constraint/c",
			},
		},
		"what an inactive block names does not decide the order": {
			blueprint: "default: {tags: [b]}", q: "default: {tags: [a]}\nmerge: {default: {when: 'false'}}", p: "default: {tags: [c, a]}",
			want: "{tags: [b, c, a]}", origins: map[string]string{"/tags/0": byBlueprint, "/tags/1": byP, "/tags/2": byP},
			found: found{Inactive: []string{"GatewayClassConfig/gatewright-system/q default: WhenFalse"}},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			policies := []*Policy{at(t, LevelGateway, "p", 0, c.p)}
			if c.q != "" {
				policies = append(policies, at(t, LevelClassGlobal, "q", 0, c.q))
			}
			e := Compute(blueprintWith(t, c.blueprint, fakeSchema{marks: marked()}), policies, gatewayTarget())
			c.found.Tree = tree(t, c.want)
			if diff := cmp.Diff(c.found, summary(e)); diff != "" {
				t.Errorf("values (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.origins, origins(e)); diff != "" {
				t.Errorf("origins (-want +got)\n%s", diff)
			}
			for _, o := range e.Origins {
				if _, ok := Lookup(e.Tree, o.Path); !ok {
					t.Errorf("there is nothing at %s", o.Path)
				}
			}
		})
	}
}

// TestShadowedItemsAreNamed: what is not in the result has no index there.
func TestShadowedItemsAreNamed(t *testing.T) {
	p := at(t, LevelGateway, "p", 0, "default: {listeners: [{name: a, port: 1}], tags: [x], ports: [{port: 1}]}")
	q := at(t, LevelClassGlobal, "q", 0, "override: {listeners: [{name: a, port: 2}], tags: 5, ports: 5}")
	e := Compute(blueprintWith(t, "{}", fakeSchema{marks: marked()}), []*Policy{p, q}, gatewayTarget())
	by := Setter{"GatewayClassConfig/gatewright-system/q", BlockOverride, LevelClassGlobal}
	want := []Shadow{
		{Path: "/listeners/0/name", Block: BlockDefault, By: by}, {Path: "/listeners/0/port", Block: BlockDefault, By: by},
		{Path: "/ports/port=1,protocol=TCP/port", Block: BlockDefault, By: by}, {Path: "/tags/x", Block: BlockDefault, By: by},
	}
	if diff := cmp.Diff(want, e.Contributions[2].Shadowed); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNamesTellItemsApart(t *testing.T) {
	m := &Marks{Merge: MergeByKey, Keys: []Key{{Name: "a"}, {Name: "b"}}}
	items := []any{
		Tree{"a": "x", "b": "y"}, Tree{"a": `x,b=y`, "b": ""}, Tree{"a": "1", "b": "y"}, Tree{"a": int64(1), "b": "y"}, Tree{"a": true, "b": "y"},
		Tree{"a": "true", "b": "y"}, Tree{"a": `"x"`, "b": "y"}, Tree{"a": "", "b": "y"}, Tree{"a": 1.5, "b": "y"}, Tree{"a": "null", "b": "y"},
	}
	want := []string{
		"a=x,b=y", `a="x,b=y",b=""`, `a="1",b=y`, "a=1,b=y", "a=true,b=y",
		`a="true",b=y`, `a="\"x\"",b=y`, `a="",b=y`, "a=1.5,b=y", `a="null",b=y`,
	}
	got, ok := m.names(items)
	if diff := cmp.Diff(want, got); diff != "" || !ok {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, item := range []any{nil, "x", Tree{"a": "x"}, Tree{"a": "x", "b": nil}, Tree{"a": "x", "b": Tree{}}, Tree{"a": "x", "b": []any{}}} {
		if name, ok := m.name(item); ok {
			t.Errorf("%v has the name %s", item, name)
		}
	}
}
