package plane

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// workingEtcd does what the start waits for, and then as etcd does: it runs
// until it is ended.
const workingEtcd = `touch etcd:0; exec tail -f /dev/null`

// fakeAssets is a directory of shell scripts in place of the binaries.
func fakeAssets(t *testing.T, scripts map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		text := "#!/bin/sh\nPATH=/bin:/usr/bin\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestStartTellsWhatFailedAndLeavesNothing(t *testing.T) {
	cases := map[string]struct {
		scripts map[string]string
		want    string
	}{
		"a binary that cannot run is named": {
			scripts: map[string]string{},
			want:    "starting etcd: fork/exec ASSETS/etcd: no such file or directory",
		},
		"a component that ends is shown with its exit code and the end of its log": {
			scripts: map[string]string{"etcd": `echo "the data is corrupt" >&2; exit 3`},
			want:    "etcd ended by itself (exit status 3); the end of its log:\nthe data is corrupt",
		},
		"a component that ends silently is shown to have done so": {
			scripts: map[string]string{"etcd": `exit 0`},
			want:    "etcd ended by itself (exit status 0); it logged nothing",
		},
		"a later component takes those before it down with it": {
			scripts: map[string]string{"etcd": workingEtcd, "kube-apiserver": `echo "unknown flag: --x"; exit 1`},
			want:    "kube-apiserver ended by itself (exit status 1); the end of its log:\nunknown flag: --x",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			pids := filepath.Join(t.TempDir(), "pids")
			for binary, script := range c.scripts {
				c.scripts[binary] = "echo $$ >>" + pids + "\n" + script
			}
			dir := fakeAssets(t, c.scripts)
			_, err := Start(t.Context(), Config{Assets: dir, Log: io.Discard})
			if err == nil {
				t.Fatal("it started")
			}
			if diff := cmp.Diff(c.want, strings.ReplaceAll(err.Error(), dir, "ASSETS")); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			mustBeGone(t, pids)
			if left, _ := os.ReadDir(temporary); len(left) > 0 {
				t.Errorf("temporary files are left: %v", left)
			}
		})
	}
}

// mustBeGone fails for each process whose id is in the file and that still runs.
func mustBeGone(t *testing.T, pids string) {
	t.Helper()
	text, err := os.ReadFile(pids)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for word := range strings.FieldsSeq(string(text)) {
		pid, err := strconv.Atoi(word)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is left (%v)", pid, err)
		}
	}
}

func TestStartTriesAnotherPortWhenTheFirstWasTaken(t *testing.T) {
	ports := filepath.Join(t.TempDir(), "ports")
	apiServer := `for flag; do case $flag in --secure-port=*) echo ${flag#*=} >>` + ports + `;; esac; done
echo "failed to create listener: bind: address already in use"; exit 1`
	dir := fakeAssets(t, map[string]string{"etcd": workingEtcd, "kube-apiserver": apiServer})
	var log bytes.Buffer
	_, err := Start(t.Context(), Config{Assets: dir, Log: &log})

	want := "kube-apiserver ended by itself (exit status 1); the end of its log:\nfailed to create listener: bind: address already in use"
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(ports)
	if err != nil {
		t.Fatal(err)
	}
	tried := strings.Fields(string(text))
	if diff := cmp.Diff(portAttempts, len(tried)); diff != "" {
		t.Errorf("ports tried (-want +got):\n%s", diff)
	}
	var wantLog strings.Builder
	for _, port := range tried[:len(tried)-1] {
		fmt.Fprintf(&wantLog, "controlplane: port %s was taken before kube-apiserver could bind it, trying another\n", port)
	}
	if diff := cmp.Diff(wantLog.String(), log.String()); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

func TestStartEndsWithItsContext(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errors.New("interrupted"))
	dir := fakeAssets(t, map[string]string{"etcd": `exec tail -f /dev/null`})
	_, err := Start(ctx, Config{Assets: dir, Log: io.Discard})
	if diff := cmp.Diff("stopped while waiting for etcd: interrupted", fmt.Sprint(err)); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
}

func TestStartRefusesADataDirectoryInUse(t *testing.T) {
	first := &Plane{cfg: Config{Data: t.TempDir()}}
	if err := first.claimData(); err != nil {
		t.Fatal(err)
	}
	second := &Plane{cfg: first.cfg}
	want := "the data directory " + first.data + " is in use by another control plane: stop that one or choose another directory"
	if diff := cmp.Diff(want, fmt.Sprint(second.claimData())); diff != "" {
		t.Errorf("error while the first runs (-want +got):\n%s", diff)
	}
	if err := errors.Join(first.Stop(), second.Stop()); err != nil {
		t.Fatal(err)
	}
	third := &Plane{cfg: first.cfg}
	if err := third.claimData(); err != nil {
		t.Errorf("after the first has stopped: %v", err)
	}
	if err := third.Stop(); err != nil {
		t.Fatal(err)
	}
}

func TestFailedTellsOfAnUnexpectedEndOnly(t *testing.T) {
	dir := fakeAssets(t, map[string]string{
		"crashing": `echo "panic: out of luck"; exit 2`,
		"running":  `exec tail -f /dev/null`,
	})
	p := &Plane{cfg: Config{Assets: dir, Data: t.TempDir()}, unplanned: make(chan error, 1)}
	if err := p.claimData(); err != nil {
		t.Fatal(err)
	}
	running, err := p.launch("running")
	if err != nil {
		t.Fatal(err)
	}
	crashing, err := p.launch("crashing")
	if err != nil {
		t.Fatal(err)
	}
	p.watch(crashing)
	want := "crashing ended by itself (exit status 2); the end of its log:\npanic: out of luck"
	if diff := cmp.Diff(want, fmt.Sprint(<-p.Failed())); diff != "" {
		t.Errorf("failure (-want +got):\n%s", diff)
	}
	if err := p.Stop(); err != nil {
		t.Fatal(err)
	}
	p.reportEnd(running)
	select {
	case err := <-p.Failed():
		t.Errorf("a component that was stopped is reported: %v", err)
	default:
	}
}

func TestLogTailIsCutToWholeLines(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte("the beginning\n"+strings.Repeat(line, 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	got := (&process{logFile: file}).tail()
	want := "; the end of its log:\n" + strings.TrimRight(strings.Repeat(line, tailBytes/len(line)), "\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tail (-want +got):\n%s", diff)
	}
}

func TestKeysProveWhoIsWho(t *testing.T) {
	k, err := writeKeys(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(k.ca)
	cases := map[string]struct {
		who           *identity
		usage         x509.ExtKeyUsage
		host          string
		user          string
		organizations []string
	}{
		"the server is who clients on this machine ask for": {
			who: k.serving, usage: x509.ExtKeyUsageServerAuth, host: "127.0.0.1", user: "kube-apiserver",
		},
		"the administrator is in the group that may do everything": {
			who: k.admin, usage: x509.ExtKeyUsageClientAuth, user: "admin", organizations: []string{"system:masters"},
		},
		"the controller manager has the name that clusters give it": {
			who: k.manager, usage: x509.ExtKeyUsageClientAuth, user: "system:kube-controller-manager", organizations: []string{"system:masters"},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			certificate := c.who.certificate
			_, err := certificate.Verify(x509.VerifyOptions{Roots: roots, DNSName: c.host, KeyUsages: []x509.ExtKeyUsage{c.usage}})
			if err != nil {
				t.Error(err)
			}
			got := append([]string{certificate.Subject.CommonName}, certificate.Subject.Organization...)
			if diff := cmp.Diff(append([]string{c.user}, c.organizations...), got); diff != "" {
				t.Errorf("subject (-want +got):\n%s", diff)
			}
		})
	}
}

func TestKeysAreReadableByTheirOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	k, err := writeKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.writeKubeconfigs("https://127.0.0.1:6443"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			t.Fatal(err)
		}
		got[entry.Name()] = info.Mode().String()
	}
	const private = "-rw-------"
	want := map[string]string{
		"admin.kubeconfig":                   private,
		"ca.crt":                             private,
		"kube-apiserver.crt":                 private,
		"kube-apiserver.key":                 private,
		"kube-controller-manager.kubeconfig": private,
		"service-account.key":                private,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
