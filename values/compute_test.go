package values

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestComputeNamesTheSetterOfEachLeaf(t *testing.T) {
	bp := blueprint(t, "default: {size: 1, labels: {a: x}, list: [1, 2]}\noverride: {locked: true}")
	policies := []*Policy{
		at(t, LevelGateway, "gw", 0, "default: {size: 3, locked: false, labels: {b: y}}"),
		at(t, LevelClassGlobal, "global", 0, "default: {size: 2}\noverride: {cap: 10}"),
		at(t, LevelNamespace, "older", 1, "default: {size: 20}"),
		at(t, LevelNamespace, "newer", 2, "default: {size: 21, list: []}"),
	}
	set := func(by, block string, level Level) Setter { return Setter{by, block, level} }
	blue := set("GatewayClassBlueprint/bp", BlockDefault, LevelBlueprint)
	global := set("GatewayClassConfig/gatewright-system/global", BlockDefault, LevelClassGlobal)
	older := set("GatewayConfig/team/older", BlockDefault, LevelNamespace)
	newer := set("GatewayConfig/team/newer", BlockDefault, LevelNamespace)
	gw := set("GatewayConfig/team/gw", BlockDefault, LevelGateway)
	blueOverride := set(blue.SetBy, BlockOverride, LevelBlueprint)
	want := Effective{
		Tree: tree(t, "{size: 3, labels: {a: x, b: y}, list: [], locked: true, cap: 10}"),
		Origins: []Origin{
			{"/cap", set(global.SetBy, BlockOverride, LevelClassGlobal), []Setter{}},
			{"/labels/a", blue, []Setter{}},
			{"/labels/b", gw, []Setter{}},
			{"/list", newer, []Setter{blue}},
			{"/locked", blueOverride, []Setter{gw}},
			{"/size", gw, []Setter{older, newer, global, blue}},
		},
		Contributions: []Contribution{
			{Source: blue.SetBy, Level: LevelBlueprint, Sets: 2, Shadowed: []Shadow{{Path: "/list", Block: BlockDefault, By: newer}, {Path: "/size", Block: BlockDefault, By: gw}}},
			{Source: global.SetBy, Level: LevelClassGlobal, Refs: []int{0}, Sets: 1, Shadowed: []Shadow{{Path: "/size", Block: BlockDefault, By: gw}}},
			{Source: older.SetBy, Level: LevelNamespace, Refs: []int{0}, Shadowed: []Shadow{{Path: "/size", Block: BlockDefault, By: gw}}},
			{Source: newer.SetBy, Level: LevelNamespace, Refs: []int{0}, Sets: 1, Shadowed: []Shadow{{Path: "/size", Block: BlockDefault, By: gw}}},
			{Source: gw.SetBy, Level: LevelGateway, Refs: []int{0}, Sets: 2, Shadowed: []Shadow{{Path: "/locked", Block: BlockDefault, By: blueOverride}}},
		},
	}
	if diff := cmp.Diff(want, Compute(bp, policies, gatewayTarget())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
