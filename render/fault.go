package render

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"text/template"
)

// fault is why an execution ended. Every error that our own functions return is one, so that "not yet" and "broken" are told
// apart by type, not by the words of text/template, and so that no value gets into a message: the words come from us and from
// the author's text only.
type fault struct {
	// pending says that what is missing belongs to a live object, and may come.
	pending bool
	message string
	// waits names the siblings that a pending fault waits for; empty if that is not known.
	waits []string
	// within names the helper, and its line, in which it happened; "" in the template itself.
	within string
}

func (f *fault) Error() string {
	if f.within != "" {
		return f.within + ": " + f.message
	}
	return f.message
}

func broken(format string, args ...any) *fault {
	return &fault{message: fmt.Sprintf(format, args...)}
}

var (
	location    = regexp.MustCompile(`^template: .*?:(\d+)(?::(\d+))?: `)
	wrongNumber = regexp.MustCompile(`wrong number of args for [A-Za-z]+: want (?:at least )?\d+ got \d+`)
	notSet      = regexp.MustCompile(`invalid value; expected|nil data|nil pointer`)
)

// faultOf finds the fault in an error of text/template. Faults of text/template itself are rare, since fields, functions and
// ranges are ours; of those only the words are kept that cannot quote a value.
func faultOf(err error) *fault {
	if f, ok := errors.AsType[*fault](err); ok {
		return f
	}
	message := err.Error()
	switch {
	case wrongNumber.MatchString(message):
		return broken("%s", wrongNumber.FindString(message))
	case notSet.MatchString(message):
		return broken("a value that is needed here is not set")
	}
	return broken("this cannot be evaluated with the values that it was given")
}

// lineOf reads the line, and the byte column, of an error of text/template; 0 if it names none.
func lineOf(err error) (line, column int) {
	exec, ok := errors.AsType[template.ExecError](err)
	if !ok {
		return 0, 0
	}
	match := location.FindStringSubmatch(exec.Error())
	if match == nil {
		return 0, 0
	}
	line, _ = strconv.Atoi(match[1])
	column, _ = strconv.Atoi(match[2])
	return line, column
}

// actionAt finds the action of a text that spans a line and byte column, in the author's spelling, for an error to quote.
func actionAt(text string, line, column int) string {
	if line == 0 {
		return ""
	}
	start := 0
	for range line - 1 {
		next := strings.IndexByte(text[start:], '\n')
		if next < 0 {
			return ""
		}
		start += next + 1
	}
	at := min(start+column, len(text))
	from := strings.LastIndex(text[:at], "{{")
	if from < 0 {
		return ""
	}
	to := strings.Index(text[from:], "}}")
	if to < 0 {
		return ""
	}
	return shorten(text[from : from+to+2])
}

// shorten bounds what an error quotes of the author's text.
func shorten(text string) string {
	const most = 80
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return text
}
