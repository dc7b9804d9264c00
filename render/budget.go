package render

import (
	"reflect"
)

// The bounds of a rendering. text/template cannot be cancelled, so what runs is counted: every iteration, function call and
// field is a step, and what is large costs more of them. A step takes about a microsecond. The bounds are far above what any
// blueprint needs, also with a thousand listeners, and far below what would hurt a neighbour.
const (
	maxTemplates = 64        // templates in a blueprint
	maxObjects   = 200       // objects of a Run
	maxSource    = 256 << 10 // bytes of a template text
	maxDefines   = 256       // define blocks of a text
	maxOutput    = 1 << 20   // bytes that a template prints, and of any one string on the way
	maxBound     = 4 << 20   // bytes of all strings of the objects of a template
	maxMemory    = 64 << 20  // bytes, roughly, of all results of function calls of an execution
	maxResult    = 16 << 20  // bytes, roughly, of one of them
	maxArguments = 2 << 20   // bytes, roughly, of all arguments of a function call
	maxItems     = 50_000    // items of a list that a function is given, or makes from a number
	maxSteps     = 250_000   // steps of an execution
	maxDepth     = 32        // nesting of include and tpl
	maxNesting   = 200       // nesting of a tree that is printed
	maxIndent    = 256       // spaces of an indentation
	maxWidth     = 1024      // width or precision in a format
	maxPattern   = 1024      // bytes of a regular expression
	maxProgram   = 5000      // instructions of one, roughly
	maxVersion   = 256       // bytes of a version, and of what versions are to be

	bytesPerStep       = 256 // bytes of strings that a function is given
	bytesWalkedPerStep = 512 // bytes, roughly, of a tree that a function walks, besides a step for each entry of a map
	bytesParsedPerStep = 4   // bytes that a function parses, or takes apart letter by letter
	itemsPerStep       = 16  // items of a list that a function goes through, or entries of a map that it copies
	bytesPerNode       = 16  // what a node of a tree counts, besides its strings

	itemsSortedPerStep   = 4  // items of a list that is sorted
	nodesComparedPerStep = 16 // nodes of trees that are compared
	stepsPerText         = 32 // steps that it takes to make a template of a text
	minProgram           = 8  // steps that it takes to understand any regular expression
	instructionsPerStep  = 8  // instructions of a regular expression that is understood
	matchedPerStep       = 64 // letters times instructions when it is matched
)

// budget is what is left to an execution.
type budget struct {
	steps, memory, output, bound int
}

func fullBudget() budget {
	return budget{steps: maxSteps, memory: maxMemory, output: maxOutput, bound: maxBound}
}

// spend takes steps.
func (b *budget) spend(steps int) error {
	if b.steps -= steps; b.steps < 0 {
		return broken("the template takes more than %d steps; look for a loop that a value makes too long", maxSteps)
	}
	return nil
}

// print takes bytes of output.
func (b *budget) print(bytes int) error {
	if b.output -= bytes; b.output < 0 {
		return broken("the template prints more than %d bytes", maxOutput)
	}
	return nil
}

// take takes bytes for strings in objects.
func (b *budget) take(bytes int) error {
	if b.bound -= bytes; b.bound < 0 {
		return broken("the objects of the template hold more than %d bytes", maxBound)
	}
	return nil
}

// keep takes memory for the result of a function.
func (b *budget) keep(bytes int) error {
	if bytes > maxResult {
		return broken("the result is too large")
	}
	if b.memory -= bytes; b.memory < 0 {
		return broken("the template needs more than %d bytes of memory; look for a loop that a value makes too long", maxMemory)
	}
	return nil
}

// shallowSize estimates what a result occupies, apart from what it only refers to.
func shallowSize(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case text:
		return len(v)
	case nil, bool, int, int64, float64:
		return 0
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Slice, reflect.Array:
		return 32 * r.Len()
	case reflect.Map:
		return 64 * r.Len()
	}
	return 0
}

// extent is how large a tree is: nodes and string bytes, roughly, how many entries its maps have, and how many nodes there are.
type extent struct {
	bytes, entries, nodes int
}

// measure tells how large a tree is, and gives up at a limit of bytes. A template can make a small graph that is a huge tree (a
// list that holds a list twice, and so on), so whatever walks a tree measures it first.
func measure(v any, limit int) extent {
	var e extent
	e.add(v, limit)
	return e
}

func (e *extent) add(v any, limit int) {
	e.bytes += bytesPerNode
	e.nodes++
	switch v := v.(type) {
	case nil, bool, int, int64, float64:
	case string:
		e.bytes += len(v)
	case text:
		e.bytes += len(v)
	case map[string]any:
		for key, child := range v {
			if e.bytes > limit {
				return
			}
			e.entry(key, child, limit)
		}
	case []any:
		for _, child := range v {
			if e.bytes > limit {
				return
			}
			e.add(child, limit)
		}
	default:
		e.addOther(reflect.ValueOf(v), limit)
	}
}

func (e *extent) entry(key string, child any, limit int) {
	e.bytes += len(key)
	e.entries++
	e.add(child, limit)
}

func (e *extent) addOther(r reflect.Value, limit int) {
	switch r.Kind() {
	case reflect.Slice, reflect.Array:
		for i := 0; i < r.Len() && e.bytes <= limit; i++ {
			e.add(r.Index(i).Interface(), limit)
		}
	case reflect.Map:
		for entries := r.MapRange(); e.bytes <= limit && entries.Next(); {
			e.entry(entries.Key().String(), entries.Value().Interface(), limit)
		}
	}
}
