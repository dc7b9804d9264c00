package safety

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/gateway"
	"github.com/gatewright/gatewright/internal/desired"
	"github.com/gatewright/gatewright/internal/intake"
	"github.com/gatewright/gatewright/internal/manifest"
	"github.com/gatewright/gatewright/test/kube"
	"github.com/gatewright/gatewright/values"
)

// scene is a case of a shipped blueprint: all that is read before it is rendered.
type scene struct {
	name      string
	blueprint *unstructured.Unstructured
	compiled  *desired.Compiled
	// objects are those of users and providers, live those that the blueprint has made.
	objects, live []*unstructured.Unstructured
}

// scenes are the cases of all shipped blueprints. Blueprints are compiled once.
func scenes(t testing.TB) []scene {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(kube.RepoRoot(), "blueprints", "*", "cases", "*", "input.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cases of shipped blueprints: %v", err)
	}
	compiled := map[string]*desired.Compiled{}
	var all []scene
	for _, path := range paths {
		folder := filepath.Dir(path)
		blueprint := filepath.Dir(filepath.Dir(folder))
		s := scene{
			name:      filepath.Base(blueprint) + "/" + filepath.Base(folder),
			blueprint: decode(t, filepath.Join(blueprint, "blueprint.yaml"))[0],
			objects:   decode(t, path),
		}
		if observed := filepath.Join(folder, "observed.yaml"); exists(observed) {
			s.live = decode(t, observed)
		}
		if compiled[blueprint] == nil {
			compiled[blueprint] = compile(t, s.blueprint)
		}
		s.compiled = compiled[blueprint]
		all = append(all, s)
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return !errors.Is(err, os.ErrNotExist)
}

func decode(t testing.TB, path string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	docs, err := manifest.Decode(text)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	var objects []*unstructured.Unstructured
	for _, doc := range docs {
		objects = append(objects, doc.Unstructured)
	}
	return objects
}

func compile(t testing.TB, blueprint *unstructured.Unstructured) *desired.Compiled {
	t.Helper()
	var o gateway.Objects
	if _, err := intake.Add(&o, blueprint, ""); err != nil {
		t.Fatal(err)
	}
	compiled, v := desired.Compile(o.Blueprints[0])
	if !v.OK {
		t.Fatal(v.Message)
	}
	return compiled
}

// outcome is what became of a scene.
type outcome struct {
	objects []made
	// problems say why something was not rendered. invalid says of policies what is wrong with them, to those who wrote them.
	problems, invalid []string
}

// made is a rendered object, by what must not depend on strings: kind, namespace, name, and the keys that it has.
type made struct {
	of, template, kind, namespace, name string
	// paths lead to all leaves, and say of which type they are.
	paths []string
}

// render takes a scene the way that the controller and the tool go. An object that is not even one of its kind is a problem.
func (s scene) render() outcome {
	o, err := s.read()
	if err != nil {
		return outcome{problems: []string{err.Error()}}
	}
	var out outcome
	policies := map[v1alpha1.Policy]*values.Policy{}
	parse := func(p v1alpha1.Policy) {
		parsed, v := values.Parse(p)
		if policies[p] = parsed; !v.OK {
			out.invalid = append(out.invalid, v.Message)
		}
	}
	for _, p := range o.ClassConfigs {
		parse(p)
	}
	for _, p := range o.Configs {
		parse(p)
	}
	for _, gw := range o.Gateways {
		snapshot, err := o.Snapshot(types.NamespacedName{Namespace: gw.Namespace, Name: gw.Name})
		if err != nil {
			out.problems = append(out.problems, err.Error())
			continue
		}
		in := desired.Inputs{
			Snapshot: snapshot, Merged: gateway.Merge(snapshot), Program: s.compiled.Program, Blueprint: s.compiled.Values,
			ControllerNamespace: v1alpha1.DefaultControllerNamespace,
		}
		for _, p := range snapshot.Policies {
			if parsed := policies[p]; parsed != nil {
				in.Policies = append(in.Policies, parsed)
			}
		}
		claims := desired.Claims{}
		for _, parent := range append([]*desired.Parent{desired.Gateway(in)}, desired.Routes(in)...) {
			out.add(parent, claims, s.live)
		}
	}
	return out
}

func (s scene) read() (gateway.Objects, error) {
	var o gateway.Objects
	for _, object := range append([]*unstructured.Unstructured{s.blueprint}, s.objects...) {
		if _, err := intake.Add(&o, object, ""); err != nil && !errors.Is(err, intake.ErrNoPart) {
			return o, fmt.Errorf("%s: %w", object.GetKind(), err)
		}
	}
	return o, nil
}

// add renders for one parent.
func (o *outcome) add(parent *desired.Parent, claims desired.Claims, live []*unstructured.Unstructured) {
	if held := parent.Held(); held != nil {
		o.problems = append(o.problems, held.Message)
		return
	}
	observed := desired.ObservedIn(live, v1alpha1.LabelTemplate)
	for objects := parent.Advance(observed); len(objects) > 0; objects = parent.Advance(observed) {
		if refused := claims.Claim(parent, objects); refused != nil {
			o.problems = append(o.problems, refused.Message)
		}
		for _, object := range objects {
			o.objects = append(o.objects, made{
				of: parent.Owner.Kind, template: object.Template, kind: object.GroupVersionKind().String(),
				namespace: object.GetNamespace(), name: object.GetName(), paths: paths(object.Object),
			})
		}
	}
	for _, failed := range parent.Result().Failed {
		o.problems = append(o.problems, failed.Error())
	}
	for _, pending := range parent.Result().Pending {
		o.problems = append(o.problems, pending.Template+": "+pending.Message)
	}
	status := parent.Status(observed)
	if status.Failed != nil {
		o.problems = append(o.problems, status.Failed.Error())
	}
	if status.Pending != nil {
		o.problems = append(o.problems, status.Pending.Message)
	}
}

// paths are the ways to all leaves of a tree, with their types.
func paths(tree any) []string {
	var all []string
	walk(tree, nil, func(path []any, leaf any) {
		all = append(all, fmt.Sprintf("%s: %s", spell(path), manifest.Describe(leaf)))
	})
	return all
}

func spell(path []any) string {
	var out strings.Builder
	for _, key := range path {
		fmt.Fprintf(&out, "/%v", key)
	}
	return out.String()
}

// walk visits the leaves of a tree, the keys of maps in order. The path is the visitor's to keep.
func walk(tree any, path []any, visit func(path []any, leaf any)) {
	switch node := tree.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(node)) {
			walk(node[key], append(slices.Clone(path), key), visit)
		}
	case []any:
		for i, item := range node {
			walk(item, append(slices.Clone(path), i), visit)
		}
	default:
		visit(path, tree)
	}
}
