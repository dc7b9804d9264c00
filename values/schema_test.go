package values

// fakeSchema is one of which the tests say what it does. What they leave out it does not do.
type fakeSchema struct {
	marks    *Marks
	defaults func(Tree)
	validate func(Tree) []Problem
}

func (f fakeSchema) Marks() *Marks { return f.marks }

func (f fakeSchema) Default(tree Tree) {
	if f.defaults != nil {
		f.defaults(tree)
	}
}

func (f fakeSchema) Validate(tree Tree) []Problem {
	if f.validate == nil {
		return nil
	}
	return f.validate(tree)
}
