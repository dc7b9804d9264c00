package assets

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const testGoMod = `module example.com/controlplane

go 1.26.0

require (
	go.etcd.io/etcd/server/v3 v3.6.8 // indirect
	k8s.io/kubernetes v1.36.3 // indirect
)
`

func testRecipe(t *testing.T) Recipe {
	t.Helper()
	recipe, err := NewRecipe([]byte(testGoMod), []byte("sums"))
	if err != nil {
		t.Fatal(err)
	}
	return recipe
}

func TestNewRecipeReadsThePins(t *testing.T) {
	want := Recipe{
		GoMod: []byte(testGoMod),
		GoSum: []byte("sums"),
		Binaries: []Binary{
			{Name: "etcd", Package: "go.etcd.io/etcd/server/v3", Version: "v3.6.8"},
			{Name: "kubectl", Package: "k8s.io/kubernetes/cmd/kubectl", Version: "v1.36.3"},
			{Name: "kube-controller-manager", Package: "k8s.io/kubernetes/cmd/kube-controller-manager", Version: "v1.36.3"},
			{Name: "kube-apiserver", Package: "k8s.io/kubernetes/cmd/kube-apiserver", Version: "v1.36.3"},
		},
		LDFlags: "-s -w" +
			" -X k8s.io/client-go/pkg/version.gitVersion=v1.36.3" +
			" -X k8s.io/client-go/pkg/version.gitMajor=1" +
			" -X k8s.io/client-go/pkg/version.gitMinor=36" +
			" -X k8s.io/component-base/version.gitVersion=v1.36.3" +
			" -X k8s.io/component-base/version.gitMajor=1" +
			" -X k8s.io/component-base/version.gitMinor=36",
	}
	if diff := cmp.Diff(want, testRecipe(t)); diff != "" {
		t.Errorf("recipe (-want +got):\n%s", diff)
	}
}

func TestNewRecipeNamesTheMissingPin(t *testing.T) {
	cases := map[string]struct{ goMod, want string }{
		"without Kubernetes": {
			goMod: "module m\n\nrequire go.etcd.io/etcd/server/v3 v3.6.8\n",
			want:  "go.mod requires no version of k8s.io/kubernetes: add it with `go get -tool`",
		},
		"without etcd, of which a module with a longer path is no substitute": {
			goMod: "module m\n\nrequire (\n\tk8s.io/kubernetes v1.36.3\n\tgo.etcd.io/etcd/server/v3/extra v1.0.0\n)\n",
			want:  "go.mod requires no version of go.etcd.io/etcd/server/v3: add it with `go get -tool`",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := NewRecipe([]byte(c.goMod), nil)
			if diff := cmp.Diff(c.want, message(err)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeyDiffersWithWhateverDecidesTheBinaries(t *testing.T) {
	original := testRecipe(t).Key("linux", "amd64")
	if again := testRecipe(t).Key("linux", "amd64"); again != original {
		t.Fatalf("the same recipe has the keys %s and %s", original, again)
	}
	cases := map[string]func(r *Recipe) (goos, goarch string){
		"another operating system": func(*Recipe) (string, string) { return "darwin", "amd64" },
		"another architecture":     func(*Recipe) (string, string) { return "linux", "arm64" },
		"other linker flags": func(r *Recipe) (string, string) {
			r.LDFlags = "-s"
			return "linux", "amd64"
		},
		"another replacement in go.mod": func(r *Recipe) (string, string) {
			r.GoMod = append(r.GoMod, "replace k8s.io/api => k8s.io/api v0.36.3\n"...)
			return "linux", "amd64"
		},
		"another checksum": func(r *Recipe) (string, string) {
			r.GoSum = []byte("other sums")
			return "linux", "amd64"
		},
		"a binary more": func(r *Recipe) (string, string) {
			r.Binaries = append(r.Binaries, Binary{Name: "kube-scheduler"})
			return "linux", "amd64"
		},
		"the same bytes divided otherwise between go.mod and go.sum": func(r *Recipe) (string, string) {
			r.GoMod, r.GoSum = append(r.GoMod, r.GoSum...), nil
			return "linux", "amd64"
		},
	}
	seen := map[string]string{original: "the original"}
	for name, change := range cases {
		recipe := testRecipe(t)
		goos, goarch := change(&recipe)
		key := recipe.Key(goos, goarch)
		if other, taken := seen[key]; taken {
			t.Errorf("%s has the same key as %s", name, other)
		}
		seen[key] = name
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
