package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// actAsCommand makes the test binary be the command itself, so that the tests
// see what a shell sees: exit codes, signals and what is left afterwards.
const actAsCommand = "CONTROLPLANE_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(actAsCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// controlplane prepares a run of the command without a terminal, as in CI. Its
// temporary files go to a directory of their own, which it returns.
func controlplane(t *testing.T, args ...string) (command *exec.Cmd, temporary string) {
	t.Helper()
	temporary = t.TempDir()
	command = exec.Command(os.Args[0], args...)
	command.Env = append(os.Environ(), actAsCommand+"=1", "TMPDIR="+temporary)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return command, temporary
}

// result is how a run ended.
type result struct {
	Code   int
	Stdout string
	Stderr string
}

func runToEnd(t *testing.T, command *exec.Cmd) result {
	t.Helper()
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	err := command.Run()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return result{Code: command.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String()}
}

func mustBeEmpty(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) > 0 {
		t.Errorf("temporary files are left: %v", entries)
	}
}

func TestWrongCommandLinesAreExplained(t *testing.T) {
	foreign := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(foreign, []byte("apiVersion: v1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		args []string
		want result
	}{
		"no command": {
			want: result{Code: 2, Stderr: "controlplane: say build, start or exec; -h explains them\n"},
		},
		"an unknown command": {
			args: []string{"stop"},
			want: result{Code: 2, Stderr: "controlplane: there is no command \"stop\": say build, start or exec\n"},
		},
		"build with an argument": {
			args: []string{"build", "etcd"},
			want: result{Code: 2, Stderr: "controlplane: build takes no arguments, found [\"etcd\"]\n"},
		},
		"start with an argument": {
			args: []string{"start", "now"},
			want: result{Code: 2, Stderr: "controlplane: start takes only flags, found [\"now\"]\n"},
		},
		"exec without a command": {
			args: []string{"exec", "--"},
			want: result{Code: 2, Stderr: "controlplane: exec needs a command: controlplane exec -- CMD ARGS...\n"},
		},
		"a kubeconfig that is somebody else's, which is not overwritten": {
			args: []string{"start", "--kubeconfig", foreign},
			want: result{Code: 1, Stderr: "controlplane: --kubeconfig " + foreign + " exists and was not written by controlplane: remove it or name another file\n"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			command, _ := controlplane(t, c.args...)
			if diff := cmp.Diff(c.want, runToEnd(t, command)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHelpIsAskedForAndNoError(t *testing.T) {
	command, _ := controlplane(t, "-h")
	if diff := cmp.Diff(result{Stdout: usage}, runToEnd(t, command)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestBuildPrintsTheDirectoryAlone(t *testing.T) {
	given := t.TempDir()
	for _, name := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl"} {
		if err := os.WriteFile(filepath.Join(given, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	command, _ := controlplane(t, "build")
	command.Env = append(command.Env, "KUBEBUILDER_ASSETS="+given)
	if diff := cmp.Diff(result{Stdout: given + "\n"}, runToEnd(t, command)); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
}

// The command that exec runs here uses everything that it was promised, says
// which processes serve it, leaves one of its own behind and fails.
const userOfAControlPlane = `
set -eu
test "$KUBECONFIG" = "$GATEWRIGHT_TEST_KUBECONFIG"
test "$(command -v kubectl)" = "$KUBEBUILDER_ASSETS/kubectl"
kubectl create namespace seen-by-audit >&2
grep '"verb":"create"' "$GATEWRIGHT_TEST_AUDIT_LOG" | grep '"userAgent":"kubectl/' | grep -c seen-by-audit >&2
cat "$(dirname "$KUBECONFIG")"/*.pid
tail -f /dev/null &
exit 7
`

func TestExecEndsAsItsCommandDidAndLeavesNothing(t *testing.T) {
	command, temporary := controlplane(t, "exec", "--dir", t.TempDir(), "--", "sh", "-c", userOfAControlPlane)
	// A pipe without a goroutine behind it: it yields its end only when the
	// last process that inherited it is gone.
	output, inherited, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	var stderr bytes.Buffer
	command.Stdout, command.Stderr = inherited, &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	inherited.Close()
	pids, err := io.ReadAll(output)
	if err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // Its exit code is compared below.
	if diff := cmp.Diff(7, command.ProcessState.ExitCode()); diff != "" {
		t.Errorf("exit code (-want +got):\n%s\n%s", diff, stderr.String())
	}
	components := strings.Fields(string(pids))
	if diff := cmp.Diff(3, len(components)); diff != "" {
		t.Errorf("components (-want +got):\n%s", diff)
	}
	for _, word := range components {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is left (%v)", pid, err)
		}
	}
	mustBeEmpty(t, temporary)
}

func TestExecHandsSignalsOn(t *testing.T) {
	script := `trap 'kill $!; exit 5' TERM; tail -f /dev/null & echo up; wait`
	command, temporary := controlplane(t, "exec", "--", "sh", "-c", script)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(output, make([]byte, len("up\n"))); err != nil {
		t.Fatal(err)
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // Its exit code is compared below.
	if diff := cmp.Diff(5, command.ProcessState.ExitCode()); diff != "" {
		t.Errorf("exit code (-want +got):\n%s", diff)
	}
	mustBeEmpty(t, temporary)
}

func TestExecEndsItsCommandWhenTheControlPlaneFails(t *testing.T) {
	script := `kill -9 "$(cat "$(dirname "$KUBECONFIG")/etcd.pid")"; exec tail -f /dev/null`
	command, temporary := controlplane(t, "exec", "--", "sh", "-c", script)
	got := runToEnd(t, command)
	if diff := cmp.Diff(1, got.Code); diff != "" {
		t.Errorf("exit code (-want +got):\n%s", diff)
	}
	if want := "controlplane: etcd ended by itself (signal: killed)"; !strings.Contains(got.Stderr, want) {
		t.Errorf("standard error lacks %q:\n%s", want, got.Stderr)
	}
	mustBeEmpty(t, temporary)
}

func TestGarbageOfKindsInstalledAtTheStartIsCollected(t *testing.T) {
	command, _ := controlplane(t, "exec", "--crds", "testdata/crds", "--", "sh", "testdata/collect.sh")
	if got := runToEnd(t, command); got.Code != 0 {
		t.Errorf("exit code %d:\n%s%s", got.Code, got.Stdout, got.Stderr)
	}
}

func TestStartPublishesAKubeconfigAndKeepsItsData(t *testing.T) {
	data, kubeconfig := t.TempDir(), filepath.Join(t.TempDir(), "kubeconfig")
	// Such a file is left when an earlier start was killed.
	if err := os.WriteFile(kubeconfig, []byte(kubeconfigMark), 0o600); err != nil {
		t.Fatal(err)
	}
	command, temporary := controlplane(t, "start", "--data", data, "--kubeconfig", kubeconfig)
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	for lines := bufio.NewScanner(output); len(exports) < 4 && lines.Scan(); {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		exports[name] = value
	}
	assets := exports["KUBEBUILDER_ASSETS"]
	want := map[string]string{
		"KUBECONFIG":                 filepath.Join(data, "admin.kubeconfig"),
		"GATEWRIGHT_TEST_KUBECONFIG": filepath.Join(data, "admin.kubeconfig"),
		"GATEWRIGHT_TEST_AUDIT_LOG":  filepath.Join(data, "audit.log"),
		"KUBEBUILDER_ASSETS":         assets,
	}
	if diff := cmp.Diff(want, exports); diff != "" {
		t.Errorf("exports (-want +got):\n%s", diff)
	}
	create := exec.Command(filepath.Join(assets, "kubectl"), "--kubeconfig", kubeconfig, "create", "namespace", "kept")
	if output, err := create.CombinedOutput(); err != nil {
		t.Errorf("using the published kubeconfig: %v\n%s", err, output)
	}
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("an interrupted start ends with %v, want success", err)
	}
	if _, err := os.Stat(kubeconfig); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the kubeconfig of a control plane that has ended is left (%v)", err)
	}
	mustBeEmpty(t, temporary)

	again, _ := controlplane(t, "exec", "--data", data, "--", "kubectl", "get", "namespace", "kept", "-o", "name")
	if diff := cmp.Diff("namespace/kept\n", runToEnd(t, again).Stdout); diff != "" {
		t.Errorf("standard output of the second run (-want +got):\n%s", diff)
	}
}
