package cli

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/gatewright/gatewright/internal/intake"
	"github.com/gatewright/gatewright/internal/manifest"
)

// maxProblems is how many problems of the input are told at once.
const maxProblems = 10

// document is an object and where it stands.
type document struct {
	manifest.Document
	text text
}

func (d document) place() string { return fmt.Sprintf("%s:%d", d.text.name, d.Line) }

// loader takes the documents of files in.
type loader struct {
	world    *world
	strict   bool
	problems []error
	// places are where objects stand that were taken in.
	places map[string]string
	// passedOver counts objects of kinds that play no part.
	passedOver map[schema.GroupVersionKind]int
	scopes     scopes
}

// readFiles makes a world of what -f names.
func (o *inputOptions) readFiles(streams Streams) (*world, error) {
	documents, err := readDocuments(o.files, o.recursive, streams)
	if err != nil {
		return nil, err
	}
	namespace := o.namespace
	if namespace == "" {
		namespace = corev1.NamespaceDefault
	}
	l := &loader{
		world:  &world{namespace: namespace},
		strict: o.validate == validateStrict, places: map[string]string{},
		passedOver: map[schema.GroupVersionKind]int{}, scopes: scopes{},
	}
	for _, d := range documents {
		l.take(d)
	}
	if len(l.problems) > 0 {
		return nil, joined(l.problems)
	}
	l.notePassedOver()
	l.world.clusterScoped, l.world.live = l.scopes.clusterScoped, fromFiles{}
	return l.world, nil
}

// readObserved reads what --observed names, in place of what is live.
func (o *inputOptions) readObserved(w *world, streams Streams) error {
	documents, err := readDocuments(o.observed, o.recursive, streams)
	if err != nil {
		return err
	}
	var live fromFiles
	for _, d := range documents {
		live = append(live, d.Unstructured)
	}
	w.live = live
	return nil
}

// readDocuments reads all objects of files, with the items of lists in the place of the lists.
func readDocuments(paths []string, recursive bool, streams Streams) ([]document, error) {
	texts, err := readTexts(paths, recursive, streams.In)
	if err != nil {
		return nil, err
	}
	var documents []document
	var problems []error
	for _, t := range texts {
		found, err := manifest.Decode(t.content)
		if err == nil {
			found, err = manifest.Flatten(found)
		}
		if err != nil {
			problems = append(problems, textError(t, err))
			continue
		}
		for _, doc := range found {
			documents = append(documents, document{doc, t})
		}
	}
	return documents, joined(problems)
}

// textError says where in a file something is wrong, in the way that editors understand.
func textError(t text, err error) error {
	var at *manifest.Error
	if !errors.As(err, &at) {
		return fmt.Errorf("%s: %w", t.name, err)
	}
	place, message := t.name, at.Message
	if at.Line > 0 {
		place = fmt.Sprintf("%s:%d", place, at.Line)
	}
	if at.Path != "" {
		message = at.Path + ": " + message
	}
	return fmt.Errorf("%s: %s", place, message)
}

// take takes one object in, or notes why not.
func (l *loader) take(d document) {
	// What an object of a file says of its state is of another time.
	delete(d.Object, "status")
	l.scopes.learn(d.Unstructured)
	unknown, err := intake.Add(&l.world.objects, d.Unstructured, l.world.namespace)
	if errors.Is(err, intake.ErrNoPart) {
		l.passedOver[d.GroupVersionKind()]++
		return
	}
	if err != nil {
		l.problem(d, err)
		return
	}
	for _, field := range unknown {
		if l.strict {
			l.problem(d, field)
		} else {
			l.world.notes = append(l.world.notes, problemAt(d, field).Error())
		}
	}
	name := l.nameOf(d)
	if before, twice := l.places[name]; twice {
		l.problems = append(l.problems, fmt.Errorf("%s: %s stands in %s already; remove one of them", d.place(), name, before))
	}
	l.places[name] = d.place()
}

// nameOf tells an object from all others, its version aside.
func (l *loader) nameOf(d document) string {
	namespace := d.GetNamespace()
	if namespace == "" {
		namespace = l.world.namespace
	}
	for _, kind := range intake.Kinds() {
		if kind.GroupKind == d.GroupVersionKind().GroupKind() && !kind.Namespaced {
			return d.GetKind() + " " + d.GetName()
		}
	}
	return d.GetKind() + " " + namespace + "/" + d.GetName()
}

func (l *loader) problem(d document, err error) {
	l.problems = append(l.problems, problemAt(d, err))
}

// problemAt says where in a file the object, or better the field, stands that something is wrong with.
func problemAt(d document, err error) error {
	place := d.place()
	if problem, ok := errors.AsType[*intake.Problem](err); ok {
		if line := lineOf(d, problem.Path); line > 0 {
			place = fmt.Sprintf("%s:%d", d.text.name, line)
		}
	}
	return fmt.Errorf("%s: %s %s: %w", place, d.GetKind(), d.GetName(), err)
}

// notePassedOver says which kinds play no part, lest somebody wait for their effect.
func (l *loader) notePassedOver() {
	kinds := slices.SortedFunc(maps.Keys(l.passedOver), func(a, b schema.GroupVersionKind) int {
		return strings.Compare(a.String(), b.String())
	})
	for _, kind := range kinds {
		l.world.notes = append(l.world.notes,
			fmt.Sprintf("%s %s: passed over (%d): the kind plays no part here", kind.GroupVersion(), kind.Kind, l.passedOver[kind]))
	}
}

// joined makes one error of several, bounded; nil if there are none.
func joined(problems []error) error {
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(slices.Clone(problems[:maxProblems]), fmt.Errorf("and %d more", more))
	}
	return errors.Join(problems...)
}
