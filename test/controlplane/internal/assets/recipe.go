package assets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
)

// The file names of the binaries, as every tool that reads KUBEBUILDER_ASSETS
// expects them.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Kubectl           = "kubectl"
)

const (
	kubernetesModule = "k8s.io/kubernetes"
	etcdModule       = "go.etcd.io/etcd/server/v3"
)

// Binary is one program of the control plane.
type Binary struct {
	// Name is its file name in the assets directory.
	Name string
	// Package is the import path that it is built from.
	Package string
	// Version is that of the package's module, with the leading v.
	Version string
}

// Recipe is everything that decides what the binaries are. Its zero value is
// not usable; NewRecipe makes one.
type Recipe struct {
	// GoMod and GoSum pin every module of the build.
	GoMod, GoSum []byte
	// Binaries are in build order: the smallest first, so that a broken set-up
	// shows itself early.
	Binaries []Binary
	// LDFlags are the linker flags of every binary.
	LDFlags string
}

// NewRecipe reads the versions out of goMod, so that they are pinned in one
// place only. It fails when goMod does not require Kubernetes or etcd.
func NewRecipe(goMod, goSum []byte) (Recipe, error) {
	kubernetes, err := requiredVersion(goMod, kubernetesModule)
	if err != nil {
		return Recipe{}, err
	}
	etcd, err := requiredVersion(goMod, etcdModule)
	if err != nil {
		return Recipe{}, err
	}
	command := func(name string) Binary {
		return Binary{Name: name, Package: kubernetesModule + "/cmd/" + name, Version: kubernetes}
	}
	return Recipe{
		GoMod: goMod,
		GoSum: goSum,
		Binaries: []Binary{
			{Name: Etcd, Package: etcdModule, Version: etcd},
			command(Kubectl),
			command(ControllerManager),
			command(APIServer),
		},
		LDFlags: ldFlags(kubernetes),
	}, nil
}

// Key names the directory of one build: whatever could make the binaries
// differ makes the key differ, so that a changed pin is never served from an
// older cache. The Go release is left out on purpose: a patch release of the
// compiler is no reason for everybody to wait again.
func (r Recipe) Key(goos, goarch string) string {
	sum := sha256.New()
	// Each part is preceded by its length: no two recipes can run together
	// into the same stream of bytes.
	part := func(text string) { fmt.Fprintf(sum, "%d:%s", len(text), text) }
	part(goos)
	part(goarch)
	part(r.LDFlags)
	for _, b := range r.Binaries {
		part(b.Name)
		part(b.Package)
		part(b.Version)
	}
	part(string(r.GoMod))
	part(string(r.GoSum))
	return hex.EncodeToString(sum.Sum(nil))[:16]
}

// String lists the binaries and their versions, for messages.
func (r Recipe) String() string {
	words := make([]string, len(r.Binaries))
	for i, b := range r.Binaries {
		words[i] = b.Name + " " + b.Version
	}
	return strings.Join(words, ", ")
}

func requiredVersion(goMod []byte, module string) (string, error) {
	line := regexp.MustCompile(`(?m)^\s*(?:require\s+)?` + regexp.QuoteMeta(module) + `\s+(v\S+)`)
	match := line.FindSubmatch(goMod)
	if match == nil {
		return "", fmt.Errorf("go.mod requires no version of %s: add it with `go get -tool`", module)
	}
	return string(match[1]), nil
}

// ldFlags strip the binaries and tell them their version: without it the API
// server would call itself v0.0.0 and clients would refuse its features.
func ldFlags(kubernetes string) string {
	flags := []string{"-s", "-w"}
	major, minor := majorMinor(kubernetes)
	for _, pkg := range []string{"k8s.io/client-go/pkg/version", "k8s.io/component-base/version"} {
		flags = append(flags,
			"-X", pkg+".gitVersion="+kubernetes,
			"-X", pkg+".gitMajor="+major,
			"-X", pkg+".gitMinor="+minor,
		)
	}
	return strings.Join(flags, " ")
}

func majorMinor(version string) (major, minor string) {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ = strings.Cut(rest, ".")
	return major, minor
}
