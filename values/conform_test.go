package values

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// filling is a schema that fills in defaults for keys of the root, and for what is missing in maps.
func filling(marks *Marks, defaults Tree) fakeSchema {
	var fill func(tree, defaults Tree)
	fill = func(tree, defaults Tree) {
		for key, value := range copied(defaults) {
			present, ok := tree[key]
			if !ok {
				tree[key] = value
			} else if below, isMap := present.(Tree); isMap {
				fill(below, value.(Tree))
			}
		}
	}
	return fakeSchema{marks: marks, defaults: func(tree Tree) { fill(tree, defaults) }}
}

func TestDefaultsComeFromTheSchema(t *testing.T) {
	cases := map[string]struct {
		defaults, blueprint, p string
		want                   string
		origins                map[string]string
		// sets are the leaves that the blueprint and p set.
		sets []int
	}{
		"what nobody set is the schema's": {
			"{a: 1, b: {c: 2}}", "default: {d: 3}", "default: {b: {e: 4}}", "{a: 1, b: {c: 2, e: 4}, d: 3}",
			map[string]string{"/a": bySchema, "/b/c": bySchema, "/b/e": byP, "/d": byBlueprint}, []int{3, 1},
		},
		"what somebody set stays": {
			"{a: 1}", "{}", "default: {a: 0}", "{a: 0}", map[string]string{"/a": byP}, []int{0, 1},
		},
		"an empty map that is filled up is no leaf any more": {
			"{a: {b: 1}}", "{}", "default: {a: {}}", "{a: {b: 1}}", map[string]string{"/a/b": bySchema}, []int{1, 0},
		},
		"what was removed comes back as the schema says": {
			"{a: 1}", "default: {a: 2}", "remove: [a]", "{a: 1}", map[string]string{"/a": bySchema}, []int{1, 0},
		},
		"a whole list of items has their leaves": {
			"{listeners: [{name: a, tls: {x: 1}}], tags: [t], atomic: {b: 1}}", "{}", "", "{listeners: [{name: a, tls: {x: 1}}], tags: [t], atomic: {b: 1}}",
			map[string]string{"/atomic": bySchema, "/listeners/0/name": bySchema, "/listeners/0/tls": bySchema, "/tags/0": bySchema}, []int{4, 0},
		},
		"a map that is one leaf keeps its origin when it is filled up": {
			"{atomic: {b: 1}}", "{}", "default: {atomic: {a: 1}}", "{atomic: {a: 1, b: 1}}", map[string]string{"/atomic": byP}, []int{0, 1},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bp := blueprintWith(t, c.blueprint, filling(marked(), tree(t, c.defaults)))
			e := Compute(bp, []*Policy{at(t, LevelGateway, "p", 0, c.p)}, gatewayTarget())
			if diff := cmp.Diff(tree(t, c.want), e.Tree); diff != "" {
				t.Errorf("values (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.origins, origins(e)); diff != "" {
				t.Errorf("origins (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.sets, []int{e.Contributions[0].Sets, e.Contributions[1].Sets}); diff != "" {
				t.Errorf("sets (-want +got)\n%s", diff)
			}
		})
	}
}

// complaining is a schema that finds something wrong at paths.
func complaining(marks *Marks, paths ...string) fakeSchema {
	return fakeSchema{marks: marks, validate: func(Tree) []Problem {
		var found []Problem
		for _, path := range paths {
			found = append(found, Problem{Path: path, Message: "is wrong"})
		}
		return found
	}}
}

func TestViolationsAreTheirsWhoSetTheValue(t *testing.T) {
	const blueprint = "default: {a: {x: 1, w: 1}, list: [{b: 1}], atomic: {c: 1}, gone: {d: 1, e: 1}, made: {f: 1}, listeners: [{name: l, port: 1}]}"
	const q = "override: {a: {w: 2}}\ndefault: {theirs: {g: 1}}"
	const p = "default: {a: {z: 3}, theirs: {h: 1}, made: {i: 1}, listeners: [{name: l, host: x}, {name: m, host: x}]}\nremove: [gone.d]"
	pBlock := Setter{"GatewayConfig/team/p", BlockDefault, LevelGateway}
	qDefault := Setter{"GatewayClassConfig/gatewright-system/q", BlockDefault, LevelClassGlobal}
	qOverride := Setter{"GatewayClassConfig/gatewright-system/q", BlockOverride, LevelClassGlobal}
	bpDefault := Setter{"GatewayClassBlueprint/bp", BlockDefault, LevelBlueprint}
	bpSchema := Setter{"GatewayClassBlueprint/bp", BlockSchema, LevelBlueprint}
	cases := map[string]struct {
		path string
		want []Setter
	}{
		"a leaf is its setter's":                                   {"/a/x", []Setter{bpDefault}},
		"a leaf is that of the override that won":                  {"/a/w", []Setter{qOverride}},
		"a map is theirs who set what is below it":                 {"/a", []Setter{bpDefault, qOverride, pBlock}},
		"what is in a leaf is the leaf's setter's":                 {"/list/0/b", []Setter{bpDefault}},
		"what is missing in a leaf is the leaf's setter's":         {"/atomic/missing", []Setter{bpDefault}},
		"what was removed is the remover's":                        {"/gone/d", []Setter{{"GatewayConfig/team/p", BlockRemove, LevelGateway}}},
		"what nobody set is the blueprint's":                       {"/nowhere", []Setter{bpSchema}},
		"what is missing in a map of the blueprint is its":         {"/made/missing", []Setter{bpSchema}},
		"what is missing in a map of others is theirs":             {"/theirs/missing", []Setter{qDefault, pBlock}},
		"an item is theirs who set its fields":                     {"/listeners/0", []Setter{bpDefault, pBlock}},
		"what is missing in an item is theirs who brought it in":   {"/listeners/1/port", []Setter{pBlock}},
		"what is missing in an item of the blueprint is its":       {"/listeners/0/missing", []Setter{bpSchema}},
		"what is missing below what is missing is the blueprint's": {"/nowhere/missing", []Setter{bpSchema}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bp := blueprintWith(t, blueprint, complaining(marked(), c.path))
			e := Compute(bp, []*Policy{at(t, LevelGateway, "p", 0, p), at(t, LevelClassGlobal, "q", 0, q)}, gatewayTarget())
			want := []Violation{{Path: c.path, Message: "is wrong", SetBy: c.want}}
			if diff := cmp.Diff(want, e.Violations); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			for _, contribution := range e.Contributions {
				blamed := false
				for _, s := range c.want {
					blamed = blamed || s.SetBy == contribution.Source
				}
				if blamed != (len(contribution.Violations) == 1) {
					t.Errorf("%s has %d of the violations", contribution.Source, len(contribution.Violations))
				}
			}
		})
	}
}

func TestAViolationOfTheWholeIsEverybodys(t *testing.T) {
	bp := blueprintWith(t, "default: {a: 1}", complaining(nil, ""))
	e := Compute(bp, []*Policy{at(t, LevelGateway, "p", 0, "default: {b: 1}")}, gatewayTarget())
	want := []Violation{{Message: "is wrong", SetBy: []Setter{
		{"GatewayClassBlueprint/bp", BlockDefault, LevelBlueprint}, {"GatewayConfig/team/p", BlockDefault, LevelGateway},
	}}}
	if diff := cmp.Diff(want, e.Violations); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBlockedNamesSourcePathAndProblem(t *testing.T) {
	guard, v := Parse(object(t, "GatewayClassConfig", "gatewright-system", "guard", 0, "targetRefs: ["+refYAML("kind: GatewayClass, name: public")+"]\noverride: []"))
	if v.OK {
		t.Fatal("the guard is valid")
	}
	policies := []*Policy{guard}
	for _, name := range []string{"p", "q", "r"} {
		policies = append(policies, at(t, LevelGateway, name, 0, "default: {a: {"+name+": 1}, \"new\\nline\": 1}"))
	}
	bp := blueprintWith(t, "default: {a: {bp: 1}}", complaining(nil, "", "/a", "/a/p", "/new\nline"))
	want := []string{
		"GatewayClassConfig/gatewright-system/guard is invalid and carries overrides or constraints; mend it, its status says how",
		"the values as a whole is wrong (GatewayClassBlueprint/bp default, GatewayConfig/team/p default, GatewayConfig/team/q default and 1 more)",
		"/a is wrong (GatewayClassBlueprint/bp default, GatewayConfig/team/p default, GatewayConfig/team/q default and 1 more)",
		"/a/p is wrong (GatewayConfig/team/p default)",
		`"/new\nline" is wrong (GatewayConfig/team/p default)`,
	}
	if diff := cmp.Diff(want, Compute(bp, policies, gatewayTarget()).Blocked()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if why := Compute(blueprint(t, "{}"), policies[1:], gatewayTarget()).Blocked(); why != nil {
		t.Errorf("values with which nothing is wrong are blocked: %v", why)
	}
}

func TestSettableBy(t *testing.T) {
	provider, tenant := &Marks{SettableBy: PartyProvider}, &Marks{SettableBy: PartyTenant}
	marks := &Marks{Properties: map[string]*Marks{
		"service": {Properties: map[string]*Marks{"type": provider}},
		"limits":  {SettableBy: PartyProvider, Properties: map[string]*Marks{"own": tenant}},
		"any":     {Additional: &Marks{Properties: map[string]*Marks{"cost": provider}}},
		"routes": {Merge: MergeByKey, Keys: []Key{{Name: "name"}}, Items: &Marks{Properties: map[string]*Marks{
			"weight": provider, "host": tenant,
		}}},
		"plain": {Items: &Marks{Properties: map[string]*Marks{"weight": provider}}},
	}}
	const (
		set      = " may be set only by the blueprint and by a GatewayClassConfig; leave it out"
		covers   = " would take away what is below it and may be set only by the blueprint and by a GatewayClassConfig; set the rest key by key"
		takeaway = " is or holds what only the blueprint and a GatewayClassConfig may set; remove less, or nothing"
	)
	cases := map[string]struct {
		blocks string
		want   []string
	}{
		"what nobody keeps may be set":                  {"default: {a: 1, service: {annotations: {b: 1}}, any: {k: {price: 1}}}", nil},
		"a leaf of the provider's":                      {"default: {service: {type: LoadBalancer}}", []string{"default /service/type" + set}},
		"an override is no better":                      {"override: {service: {type: LoadBalancer}}", []string{"override /service/type" + set}},
		"nor is a null":                                 {"default: {service: {type: null}}", []string{"default /service/type" + set}},
		"nor a map":                                     {"default: {service: {type: {}}}", []string{"default /service/type" + set}},
		"nor a constraint, whether or not it holds":     {"constraints: [{name: c, when: 'false', override: {service: {type: x}}}]", []string{"constraint/c /service/type" + set}},
		"all below the provider's is so too":            {"default: {limits: {a: {b: 1}}}", []string{"default /limits" + "/a" + set}},
		"what is opened below it may be set":            {"default: {limits: {own: {c: 1}}}", nil},
		"but not taken away with the rest":              {"default: {limits: null}", []string{"default /limits" + set}},
		"a place under any key":                         {"default: {any: {k: {cost: 1}}}", []string{"default /any/k/cost" + set}},
		"a scalar over what holds the provider's":       {"default: {service: 5}", []string{"default /service" + covers}},
		"a null over what holds the provider's":         {"default: {any: null}", []string{"default /any" + covers}},
		"a list over what holds the provider's":         {"override: {service: []}", []string{"override /service" + covers}},
		"an empty map covers nothing":                   {"default: {service: {}, any: {k: {}}}", nil},
		"a field of an item":                            {"default: {routes: [{name: a, host: x}, {name: b, weight: 1}]}", []string{"default /routes/name=b/weight" + set}},
		"a null over items that stay":                   {"default: {routes: null}", []string{"default /routes" + covers}},
		"a field of an item of a list that is replaced": {"default: {plain: [{weight: 1}]}", []string{"default /plain/0/weight" + set}},
		"another list over one that is replaced":        {"default: {plain: [{name: x}]}", []string{"default /plain" + covers}},
		"no list over one that is replaced":             {"override: {plain: []}", []string{"override /plain" + covers}},
		"a null over a list that is replaced":           {"default: {plain: null}", []string{"default /plain" + covers}},
		"removing a list that is replaced":              {"remove: [plain]", []string{"remove /plain" + takeaway}},
		"no items leave those of others alone":          {"default: {routes: []}", nil},
		"an empty map over items that stay":             {"default: {routes: {}}", []string{"default /routes" + covers}},
		"a map over items that stay":                    {"override: {routes: {a: 1}}", []string{"override /routes" + covers}},
		"items without a key over items that stay":      {"default: {routes: [{host: x}]}", []string{"default /routes" + covers}},
		"items of one name over items that stay":        {"default: {routes: [{name: c}, {name: c}]}", []string{"default /routes" + covers}},
		"a constraint that comes over items":            {"constraints: [{name: c, when: 'false', override: {routes: {}}}]", []string{"constraint/c /routes" + covers}},
		"removing a leaf of the provider's":             {"remove: [service.type]", []string{"remove /service/type" + takeaway}},
		"removing what is below it":                     {"remove: [limits.a.b]", []string{"remove /limits/a/b" + takeaway}},
		"removing what holds it":                        {"remove: [service, any]", []string{"remove /any" + takeaway, "remove /service" + takeaway}},
		"removing an item that holds it":                {"remove: ['routes[\"name=a\"]', 'routes[\"name=a\"].host']", []string{"remove /routes/name=a" + takeaway}},
		"removing what is opened":                       {"remove: [limits.own, service.annotations]", nil},
		"all that is wrong is told":                     {"default: {service: {type: x}}\noverride: {limits: {a: 1}}", []string{"override /limits" + "/a" + set, "default /service/type" + set}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			bp := blueprintWith(t, "default: {kept: 1}", fakeSchema{marks: marks})
			e := Compute(bp, []*Policy{at(t, LevelGateway, "p", 0, c.blocks)}, gatewayTarget())
			var got []string
			for _, v := range e.Violations {
				got = append(got, v.SetBy[0].Block+" "+v.Path+" "+v.Message)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if c.want == nil {
				return
			}
			if diff := cmp.Diff(Tree{"kept": int64(1)}, e.Tree); diff != "" {
				t.Errorf("the policy contributes (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(Contribution{Source: "GatewayConfig/team/p", Level: LevelGateway, Refs: []int{0}, Violations: e.Violations}, e.Contributions[1]); diff != "" {
				t.Errorf("what is told of the policy (-want +got)\n%s", diff)
			}
			other := Compute(blueprintWith(t, "{}", fakeSchema{}), []*Policy{at(t, LevelGateway, "p", 0, c.blocks)}, gatewayTarget())
			if other.Violations != nil {
				t.Errorf("another blueprint does not allow it either: %v", other.Violations)
			}
		})
	}
	for name, p := range map[string]*Policy{
		"a GatewayClassConfig for all":   at(t, LevelClassGlobal, "p", 0, "default: {service: {type: x}, limits: {a: 1}}\nremove: [service]"),
		"a GatewayClassConfig for some":  at(t, LevelClassLocal, "p", 0, "override: {service: {type: x}}"),
		"a GatewayClassConfig of a team": at(t, LevelClassNamespace, "p", 0, "override: {service: {type: x}}"),
	} {
		t.Run(name+" is the provider's", func(t *testing.T) {
			e := Compute(blueprintWith(t, "{}", fakeSchema{marks: marks}), []*Policy{p}, gatewayTarget())
			if value, _ := Lookup(e.Tree, "/service/type"); value != "x" || e.Violations != nil {
				t.Errorf("got %v, %v", value, e.Violations)
			}
		})
	}
}

func TestSensitiveValuesAreRedacted(t *testing.T) {
	secret := &Marks{Sensitive: true}
	marks := &Marks{Properties: map[string]*Marks{
		"auth":  {Properties: map[string]*Marks{"password": secret, "keys": secret}},
		"users": {Items: &Marks{Properties: map[string]*Marks{"token": secret}}},
		"any":   {Additional: &Marks{Properties: map[string]*Marks{"pin": secret}}},
	}}
	unknown := fakeSchema{marks: marks, validate: func(tree Tree) []Problem {
		var found []Problem
		for _, path := range []string{"/auth/pasword", "/plain/pasword"} {
			if _, ok := Lookup(tree, path); ok {
				found = append(found, Problem{Path: path, Message: "is an unknown key", Unknown: true})
			}
		}
		return found
	}}
	cases := map[string]struct {
		values, want string
		sensitive    []string
	}{
		"nothing sensitive is there":              {"{a: 1, auth: {user: x}}", "{a: 1, auth: {user: x}}", nil},
		"a leaf":                                  {"{auth: {user: x, password: canary}}", "{auth: {user: x, password: (redacted)}}", []string{"/auth/password"}},
		"a map as a whole":                        {"{auth: {keys: {a: canary, b: [canary]}}}", "{auth: {keys: (redacted)}}", []string{"/auth/keys"}},
		"in items of a list":                      {"{users: [{name: x, token: canary}, {name: y}]}", "{users: [{name: x, token: (redacted)}, {name: y}]}", []string{"/users/0/token"}},
		"under any key":                           {"{any: {a/b: {pin: 1234}}}", "{any: {a/b: {pin: (redacted)}}}", []string{"/any/a~1b/pin"}},
		"a scalar where it would be below":        {"{auth: canary}", "{auth: (redacted)}", []string{"/auth"}},
		"a list where it would be below":          {"{auth: [{password: canary}]}", "{auth: (redacted)}", []string{"/auth"}},
		"a map where it would be in items":        {"{users: {token: canary}}", "{users: (redacted)}", []string{"/users"}},
		"a misspelt key beside a sensitive one":   {"{auth: {pasword: canary}}", "{auth: {pasword: (redacted)}}", []string{"/auth/pasword"}},
		"an unknown key beside nothing sensitive": {"{plain: {pasword: x}}", "{plain: {pasword: x}}", nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := Compute(blueprintWith(t, "default: "+c.values, unknown), nil, gatewayTarget())
			if diff := cmp.Diff(c.sensitive, e.Sensitive); diff != "" {
				t.Errorf("paths (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tree(t, c.want), e.Redacted()); diff != "" {
				t.Errorf("redacted (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(tree(t, c.values), e.Tree); diff != "" {
				t.Errorf("the values changed (-want +got)\n%s", diff)
			}
			text, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			var shown struct{ Values Tree }
			if err := json.Unmarshal(text, &shown); err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(e.Redacted())
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(shown.Values)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("JSON (-want +got)\n%s", diff)
			}
		})
	}
}

func TestValuesThatAreSensitiveAsAWholeAreNotShown(t *testing.T) {
	e := Compute(blueprintWith(t, "default: {a: 1}", fakeSchema{marks: &Marks{Sensitive: true}}), nil, gatewayTarget())
	if diff := cmp.Diff(Tree{}, e.Redacted()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSecretsAreHiddenInObjects(t *testing.T) {
	marks := &Marks{Properties: map[string]*Marks{"s": {Sensitive: true}}}
	first := Compute(blueprintWith(t, "default: {s: {a: hunter22, b: 12345, c: [true, ab, null], d: hunter22-and-more}, plain: visible}", fakeSchema{marks: marks}), nil, gatewayTarget())
	second := Compute(blueprintWith(t, "default: {s: other-secret}", fakeSchema{marks: marks}), nil, gatewayTarget())
	object := tree(t, `{
		exact: hunter22, within: "user:hunter22@host", longer: hunter22-and-more, number: 12345, other: 1234, base64: aHVudGVyMjI=,
		list: [hunter22, {deep: other-secret}], hunter22: key, short: ab, bool: true, plain: visible, none: null}`)
	before := copied(object)
	want := tree(t, `{
		exact: (redacted), within: "user:(redacted)@host", longer: (redacted), number: (redacted), other: 1234, base64: (redacted),
		list: [(redacted), {deep: (redacted)}], (redacted): key, short: ab, bool: true, plain: visible, none: null}`)
	if diff := cmp.Diff(want, SecretsOf(first, second).Hide(object)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(before, object); diff != "" {
		t.Errorf("the object changed (-before +after)\n%s", diff)
	}
	if diff := cmp.Diff(before, SecretsOf().Hide(object)); diff != "" {
		t.Errorf("without secrets (-before +after)\n%s", diff)
	}
}
