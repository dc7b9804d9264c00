package render

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template/parse"
)

// mainTemplate names the text outside all define blocks. No author can name a block so.
const mainTemplate = "\x00"

// source is a template text.
type source struct {
	name, text string
}

// line of a position in the text, from 1.
func (s source) line(pos parse.Pos) int {
	return 1 + strings.Count(s.text[:min(int(pos), len(s.text))], "\n")
}

var parseError = regexp.MustCompile(`^template: .*?:(\d+):(?:\d+:)? (.*)$`)

// parse makes the trees of a text: those of its define blocks by name, and its own as mainTemplate. Whether functions exist is
// checked later, all at once and with suggestions.
func (s source) parse() (map[string]*parse.Tree, *problem) {
	if len(s.text) > maxSource {
		return nil, &problem{message: fmt.Sprintf("the text is longer than %d bytes", maxSource)}
	}
	trees := map[string]*parse.Tree{}
	tree := parse.New(s.name)
	tree.Mode = parse.SkipFuncCheck
	main, err := tree.Parse(s.text, "", "", trees)
	if err != nil {
		match := parseError.FindStringSubmatch(err.Error())
		if match == nil {
			return nil, &problem{message: "this is not a template: " + err.Error()}
		}
		line, _ := strconv.Atoi(match[1])
		return nil, &problem{line: line, message: match[2]}
	}
	// The parser adds the main tree under its own name only if it is not empty.
	for name, t := range trees {
		if t == main {
			delete(trees, name)
		}
	}
	if main.Root == nil {
		main.Root = &parse.ListNode{NodeType: parse.NodeList}
	}
	trees[mainTemplate] = main
	if len(trees)-1 > maxDefines {
		return nil, &problem{message: fmt.Sprintf("there are more than %d define blocks", maxDefines)}
	}
	return trees, nil
}

// within says where in a helper something happened.
func within(name, source string, line int) string {
	return fmt.Sprintf("in %q, line %d of %s", name, line, source)
}
