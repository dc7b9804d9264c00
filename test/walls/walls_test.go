package walls

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/test/kube"
)

const module = "github.com/gatewright/gatewright"

// A wall keeps some packages of the module from importing others.
type wall struct {
	// within are the packages that the wall is for.
	within func(path string) bool
	// banned is what they must not import.
	banned func(path string) bool
	// through are packages of others that may reach what is banned all the same; nil means none.
	through func(path string) bool
	// direct limits the wall to what a package itself imports. It is for what the libraries that we do use import in
	// turn, and so for most of the standard library.
	direct bool
	// tests extends the wall to what tests import directly.
	tests  bool
	reason string
}

// pure are the rooms where Gatewright thinks: values in, values out.
var pure = under(
	module+"/gateway", module+"/values", module+"/render", module+"/internal", module+"/controllers/internal/plan",
)

// schemas are the rooms that reach the API server's libraries for schemas: the one that reads schemas, the one that hands them
// to the others, and the one that knows the objects that come of it.
var schemas = exactly(module+"/values/schema", module+"/internal/desired", module+"/controllers/internal/plan")

var walls = []wall{
	{
		within: pure, tests: true,
		banned: under("k8s.io/client-go", "sigs.k8s.io/controller-runtime"),
		reason: "what is thought must not depend on how a cluster is read: the tool runs the same code on files",
	},
	{
		within: under(module + "/api"), tests: true,
		banned: under("k8s.io/client-go", "sigs.k8s.io/controller-runtime"),
		reason: "clients of the API must not have to take our versions of these along",
	},
	{
		within: pure,
		banned: under("go.uber.org/zap", "google.golang.org/grpc", module+"/controllers", module+"/cmd"),
		reason: "a pure room reports by what it returns",
	},
	{
		within: without(pure, schemas),
		banned: under("github.com/prometheus", "go.opentelemetry.io", "k8s.io/component-base"),
		reason: "a pure room is measured from outside",
	},
	{
		// Structural schemas count what they do in component-base's registries. That is theirs, and none of it is served.
		within: schemas, through: under("k8s.io/component-base"),
		banned: under("github.com/prometheus", "go.opentelemetry.io"),
		reason: "a pure room is measured from outside",
	},
	{
		within: exactly(module + "/values"), tests: true,
		banned: under(module + "/values/schema"),
		reason: "values merge alike whoever says what is valid, and without the libraries that it takes to say it",
	},
	{
		within: pure, direct: true,
		banned: under("log", "k8s.io/klog", "github.com/go-logr", "k8s.io/component-base"),
		reason: "a pure room does not log: values of tenants would end up there",
	},
	{
		// net/netip, net/url and the like only parse.
		within: pure, direct: true,
		banned: exactly("net", "net/http", "net/http/httptest", "net/rpc", "net/smtp", "syscall", "plugin", "unsafe"),
		reason: "a pure room does not reach out: what it may know is handed in",
	},
	{
		within: pure, direct: true,
		banned: under("os", "io/ioutil", "golang.org/x/sys"),
		reason: "a pure room knows no environment and no files: what it may know is handed in",
	},
	{
		within: pure, direct: true,
		banned: under("math/rand", "crypto/rand"),
		reason: "the same input must give the same output, or nothing ever converges",
	},
	{
		within: under(module + "/gateway"),
		banned: under(module+"/values", module+"/render"),
		reason: "data flows one way: what a Gateway is does not depend on values or templates",
	},
	{
		within: under(module + "/values"),
		banned: under(module+"/gateway", module+"/render"),
		reason: "values are merged alike for whatever they are attached to",
	},
	{
		within: under(module + "/render"),
		banned: under(module+"/gateway", module+"/values"),
		reason: "a template reads a plain tree and cannot tell where it came from",
	},
	{
		within: func(path string) bool {
			return !under(module+"/controllers", module+"/cmd", module+"/test")(path)
		},
		banned: under(module + "/controllers"),
		reason: "the shell is the outermost layer: only commands and tests stand outside of it",
	},
	{
		within: under(module + "/cmd"),
		banned: under("sigs.k8s.io/kustomize/kyaml/openapi"),
		reason: "it brings along the schemas of all of Kubernetes, which would stay in memory and which nobody asks for",
	},
	{
		within: func(path string) bool { return !under(module + "/test")(path) },
		banned: under(module + "/test"),
		reason: "what only tests need must not be shipped",
	},
	{
		within: under(module), direct: true, tests: true,
		banned: under("github.com/stretchr/testify", "github.com/onsi/gomega", "github.com/onsi/ginkgo"),
		reason: "tests are plain Go with go-cmp: one way to write them, and whole values compared",
	},
}

// without matches what one matches and the other does not.
func without(one, other func(path string) bool) func(path string) bool {
	return func(path string) bool { return one(path) && !other(path) }
}

// exactly matches the packages with these import paths and nothing below them.
func exactly(paths ...string) func(path string) bool {
	return func(path string) bool { return slices.Contains(paths, path) }
}

// breaches returns a sentence for each package of the module that a wall does not hold back.
func breaches(g graph, walls []wall) []string {
	var found []string
	for _, wall := range walls {
		for _, path := range g.own() {
			if !wall.within(path) {
				continue
			}
			if chain := wall.breach(g, path); chain != nil {
				found = append(found, fmt.Sprintf("%s: %s", strings.Join(chain, " imports "), wall.reason))
			}
		}
	}
	return found
}

// breach returns the chain of imports by which a package gets past the wall, or nil.
func (w wall) breach(g graph, path string) []string {
	direct := []string{}
	if w.direct {
		direct = append(direct, g[path].Imports...)
	}
	if w.tests {
		direct = append(direct, slices.Concat(g[path].TestImports, g[path].XTestImports)...)
	}
	if i := slices.IndexFunc(direct, w.banned); i >= 0 {
		return []string{path, direct[i]}
	}
	if w.direct {
		return nil
	}
	through := w.through
	if through == nil {
		through = none
	}
	return g.chain(path, w.banned, through)
}

func TestNoPackageImportsWhatTheArchitectureKeepsFromIt(t *testing.T) {
	packages, err := load(kube.RepoRoot())
	if err != nil {
		t.Fatal(err)
	}
	for _, breach := range breaches(packages, walls) {
		t.Error(breach)
	}
}

func TestEveryWallGuardsPackagesThatExist(t *testing.T) {
	packages, err := load(kube.RepoRoot())
	if err != nil {
		t.Fatal(err)
	}
	for _, wall := range walls {
		if !slices.ContainsFunc(packages.own(), wall.within) {
			t.Errorf("no package stands behind the wall %q", wall.reason)
		}
	}
}

func TestBreaches(t *testing.T) {
	const room, library, banned = "room", "library", "banned/thing"
	imports := func(paths ...string) pkg { return pkg{Imports: paths} }
	dependency := func(paths ...string) pkg { return pkg{Imports: paths, DepOnly: true} }
	keep := func(change func(*wall)) wall {
		w := wall{within: exactly(room), banned: under("banned"), reason: "because"}
		change(&w)
		return w
	}

	for name, c := range map[string]struct {
		graph graph
		wall  wall
		want  []string
	}{
		"a banned import is found": {
			graph: graph{room: imports(banned), banned: dependency()},
			wall:  keep(func(*wall) {}),
			want:  []string{"room imports banned/thing: because"},
		},
		"a banned package is found behind a library, and the way to it told": {
			graph: graph{room: imports(library), library: dependency(banned), banned: dependency()},
			wall:  keep(func(*wall) {}),
			want:  []string{"room imports library imports banned/thing: because"},
		},
		"a library that is let through may reach what is banned": {
			graph: graph{room: imports(library), library: dependency(banned), banned: dependency()},
			wall:  keep(func(w *wall) { w.through = exactly(library) }),
		},
		"a library that is let through does not cover another one that is not": {
			graph: graph{
				room: imports(library, "other"), library: dependency(banned), "other": dependency(banned), banned: dependency(),
			},
			wall: keep(func(w *wall) { w.through = exactly(library) }),
			want: []string{"room imports other imports banned/thing: because"},
		},
		"a direct wall lets libraries import what they like": {
			graph: graph{room: imports(library), library: dependency(banned), banned: dependency()},
			wall:  keep(func(w *wall) { w.direct = true }),
		},
		"a direct wall stops the package itself": {
			graph: graph{room: imports(banned), banned: dependency()},
			wall:  keep(func(w *wall) { w.direct = true }),
			want:  []string{"room imports banned/thing: because"},
		},
		"tests may import what only the package itself may not": {
			graph: graph{room: pkg{TestImports: []string{banned}}},
			wall:  keep(func(w *wall) { w.direct = true }),
		},
		"a wall that covers tests stops those of another package name too": {
			graph: graph{room: pkg{XTestImports: []string{banned}}},
			wall:  keep(func(w *wall) { w.tests = true }),
			want:  []string{"room imports banned/thing: because"},
		},
		"packages that the wall is not for import what they like": {
			graph: graph{"elsewhere": imports(banned), banned: dependency()},
			wall:  keep(func(*wall) {}),
		},
	} {
		t.Run(name, func(t *testing.T) {
			for path, p := range c.graph {
				p.ImportPath = path
				c.graph[path] = p
			}
			if diff := cmp.Diff(c.want, breaches(c.graph, []wall{c.wall})); diff != "" {
				t.Errorf("breaches (-want +got):\n%s", diff)
			}
		})
	}
}
