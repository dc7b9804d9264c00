package render

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template/parse"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// written are the kinds, and the apiVersions, that a template writes literally.
type written struct {
	kinds    map[schema.GroupVersionKind]bool
	versions map[schema.GroupVersion]bool
	// excess says that there are more kinds than are counted.
	excess bool
}

// maxKinds are those that a template may write. It bounds the combinations that count.
const maxKinds = 1000

var (
	headLine   = regexp.MustCompile(`^( *)["']?(apiVersion|kind)["']?\s*:\s*["']?([A-Za-z][A-Za-z0-9./-]*)["']?,?\s*(?:#.*)?$`)
	keyLine    = regexp.MustCompile(`^( *)["']?[A-Za-z][A-Za-z0-9_./-]*["']?\s*:`)
	markerLine = regexp.MustCompile(`^---(\s|$)`)
)

// actionMark stands for an action in the literal text of a template. It is no letter, so what it touches is not literal.
const actionMark = '\x00'

// writtenKinds finds the kinds that a template writes literally: apiVersion and kind at the top level of its documents. Where
// control structures leave a choice within one document, every combination counts.
func writtenKinds(trees map[string]*parse.Tree) written {
	w := written{kinds: map[schema.GroupVersionKind]bool{}, versions: map[schema.GroupVersion]bool{}}
	var literal strings.Builder
	flatten(&literal, trees, trees[mainTemplate].Root, 0)
	versions, kinds, indent := map[string]bool{}, map[string]bool{}, -1
	finish := func() {
		if len(w.kinds)+len(versions)*len(kinds) > maxKinds {
			w.excess = true
			clear(versions)
		}
		for version := range versions {
			gv, err := schema.ParseGroupVersion(version)
			if err != nil {
				continue
			}
			w.versions[gv] = true
			for kind := range kinds {
				w.kinds[gv.WithKind(kind)] = true
			}
		}
		versions, kinds, indent = map[string]bool{}, map[string]bool{}, -1
	}
	for line := range strings.Lines(literal.String()) {
		line = strings.TrimRight(line, "\r\n ")
		if markerLine.MatchString(line) {
			finish()
			line = strings.TrimPrefix(strings.TrimPrefix(line, "---"), " ")
		}
		// The first key of a document says how far its top level is indented.
		if key := keyLine.FindStringSubmatch(line); key != nil && indent < 0 {
			indent = len(key[1])
		}
		head := headLine.FindStringSubmatch(line)
		switch {
		case head == nil || len(head[1]) != indent:
		case head[2] == "apiVersion":
			versions[head[3]] = true
		default:
			kinds[head[3]] = true
		}
	}
	finish()
	return w
}

// flatten writes the literal text of a tree, with the branches of control structures one after the other, helpers that are
// included by name in their place, and a mark for every other action.
func flatten(out *strings.Builder, trees map[string]*parse.Tree, list *parse.ListNode, depth int) {
	if list == nil || depth > 4 || out.Len() > 4*maxSource {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.TextNode:
			out.Write(n.Text)
		case *parse.IfNode:
			flatten(out, trees, n.List, depth)
			flatten(out, trees, n.ElseList, depth)
		case *parse.WithNode:
			flatten(out, trees, n.List, depth)
			flatten(out, trees, n.ElseList, depth)
		case *parse.RangeNode:
			flatten(out, trees, n.List, depth)
			flatten(out, trees, n.ElseList, depth)
		case *parse.TemplateNode:
			flattenHelper(out, trees, n.Name, depth)
		case *parse.ActionNode:
			if len(n.Pipe.Decl) == 0 {
				flattenHelper(out, trees, plainInclude(n.Pipe), depth)
			}
		}
	}
}

func flattenHelper(out *strings.Builder, trees map[string]*parse.Tree, name string, depth int) {
	if helper, ok := trees[name]; ok && name != mainTemplate {
		flatten(out, trees, helper.Root, depth+1)
		return
	}
	out.WriteByte(actionMark)
}

// plainInclude gives the name of a helper that an action includes as it is, "" if it does something else.
func plainInclude(p *parse.PipeNode) string {
	if len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 3 || p.Cmds[0].Args[0].String() != "include" {
		return ""
	}
	name, ok := p.Cmds[0].Args[1].(*parse.StringNode)
	if !ok {
		return ""
	}
	return name.Text
}

// sortKinds puts kinds in their one order.
func sortKinds(kinds map[schema.GroupVersionKind]bool) []schema.GroupVersionKind {
	return slices.SortedFunc(maps.Keys(kinds), func(a, b schema.GroupVersionKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Version, b.Version))
	})
}
