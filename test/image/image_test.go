package image

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gatewright/gatewright/test/kube"
)

const version = "v9.8.7-test"

// buildLine matches the step of the Dockerfile that compiles, from the variables that say for which platform onwards.
var buildLine = regexp.MustCompile(`(?m)^RUN .*(GOOS=\$\{TARGETOS\} GOARCH=\$\{TARGETARCH\} make build VERSION=\$\{VERSION\})$`)

func TestTheImagesBinaryIsStaticAndKnowsItsVersion(t *testing.T) {
	dockerfile := read(t, "Dockerfile")
	command := buildLine.FindStringSubmatch(dockerfile)
	if command == nil {
		t.Fatalf("the Dockerfile has no line that matches %s", buildLine)
	}
	dir := buildContext(t)
	build := exec.Command("bash", "-c", command[1])
	build.Dir = dir
	build.Env = append(os.Environ(), "TARGETOS=linux", "TARGETARCH=amd64", "VERSION="+version)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command[1], err, out)
	}

	binary := filepath.Join(dir, "bin", "gatewright-controller")
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, program := range file.Progs {
		if program.Type == elf.PT_INTERP || program.Type == elf.PT_DYNAMIC {
			t.Errorf("the binary has a segment %v: an empty image holds nothing to link it with", program.Type)
		}
	}
	text, err := os.ReadFile(binary)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(version)) {
		t.Errorf("the binary does not hold the version %s that it was built with", version)
	}
}

// buildContext copies what .dockerignore lets through into a new directory: all that the build may need.
func buildContext(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for line := range strings.Lines(read(t, ".dockerignore")) {
		name, kept := strings.CutPrefix(strings.TrimSpace(line), "!")
		if !kept {
			continue
		}
		from, to := filepath.Join(kube.RepoRoot(), name), filepath.Join(dir, name)
		info, err := os.Stat(from)
		if err != nil {
			t.Fatalf(".dockerignore: %v", err)
		}
		if info.IsDir() {
			err = os.CopyFS(to, os.DirFS(from))
		} else {
			err = os.WriteFile(to, []byte(read(t, name)), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTheImageRunsTheControllerAsTheChartsUser(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(read(t, "Dockerfile")), "\n")
	want := []string{"USER 65532:65532", `ENTRYPOINT ["/gatewright-controller"]`}
	if diff := cmp.Diff(want, lines[len(lines)-2:]); diff != "" {
		t.Errorf("end of the Dockerfile (-want +got):\n%s", diff)
	}
	chart := read(t, filepath.Join("charts", "gatewright", "values.yaml"))
	for _, line := range []string{"  runAsUser: 65532\n", "  runAsGroup: 65532\n"} {
		if !strings.Contains(chart, line) {
			t.Errorf("the chart's values do not say %q", strings.TrimSpace(line))
		}
	}
}

// read returns the text of a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(kube.RepoRoot(), name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
