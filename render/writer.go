package render

import "bytes"

// writer collects what a template prints, within the budget, and remembers which output came from which piece of its text.
type writer struct {
	budget *budget
	buffer bytes.Buffer
	// lines knows the pieces of text of the template by their first byte, and on which line each starts; nil for a helper.
	lines map[*byte]int
	marks []mark
}

// mark says that output from offset on is a piece of the template's own text, length bytes long, that starts on line.
type mark struct {
	offset, length, line int
}

// Write implements io.Writer.
func (w *writer) Write(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if err := w.budget.print(len(p)); err != nil {
		return 0, err
	}
	// text/template writes the text of a parse node as it is, so its address identifies it.
	if line, ok := w.lines[&p[0]]; ok {
		w.marks = append(w.marks, mark{offset: w.buffer.Len(), length: len(p), line: line})
	}
	return w.buffer.Write(p)
}

// sourceLine says which line of the template a line of the output comes from; 0 if it cannot be known.
func (w *writer) sourceLine(outputLine int) int {
	out, offset := w.buffer.Bytes(), 0
	for range outputLine - 1 {
		next := bytes.IndexByte(out[offset:], '\n')
		if next < 0 {
			return 0
		}
		offset += next + 1
	}
	// The place within the line is not known; its end is past the indentation, which may belong to the piece before.
	if end := bytes.IndexByte(out[offset:], '\n'); end >= 0 {
		offset += end
	}
	line := 0
	for _, m := range w.marks {
		if m.offset > offset {
			break
		}
		line = m.line + bytes.Count(out[m.offset:min(offset, m.offset+m.length)], []byte("\n"))
	}
	return line
}

// lastLine is the line of the template that was printed last; 0 if none was.
func (w *writer) lastLine() int {
	if len(w.marks) == 0 {
		return 0
	}
	return w.marks[len(w.marks)-1].line
}
