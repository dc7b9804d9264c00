package bench

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/test/kube"
)

// BenchmarkW8 measures the memory of the command itself, with a fleet of Gateways of ten objects each.
func BenchmarkW8(b *testing.B) {
	n := size(1000, 100)
	for b.Loop() {
		p := newPlane(b, bigBlueprint())
		p.stop()
		process := startCommand(b)
		namespace := p.namespace()
		parallel(b, n, func(i int) error { return p.client.Create(b.Context(), newGateway(namespace, p.class, i)) })
		for deadline := time.Now().Add(patience); p.reported(namespace) < n; time.Sleep(time.Second) {
			if time.Now().After(deadline) {
				b.Fatal("the Gateways are not all reported on")
			}
		}
		// Whatever the burst has left behind is collected by then.
		time.Sleep(20 * time.Second)
		now, most := memory(b, process.Process.Pid, "VmRSS"), memory(b, process.Process.Pid, "VmHWM")
		if err := process.Process.Signal(os.Interrupt); err != nil {
			b.Fatal(err)
		}
		if err := process.Wait(); err != nil {
			b.Fatal(err)
		}
		spent := process.ProcessState.UserTime() + process.ProcessState.SystemTime()
		results.add(row{workload: fmt.Sprintf("W8 memory with %d Gateways of 10 objects", n), target: "<= 256 MiB at 1000",
			measured: fmt.Sprintf("%d MiB, %d MiB at most, %.1f s of a processor", now, most, spent.Seconds()), cost: float64(now)})
		p.stop = nil
		p.restart()
		p.end()
	}
}

// startCommand builds the manager's command and starts it.
func startCommand(b *testing.B) *exec.Cmd {
	b.Helper()
	binary := filepath.Join(b.TempDir(), "gatewright-controller")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "./cmd/gatewright-controller")
	build.Dir, build.Stderr = kube.RepoRoot(), os.Stderr
	if err := build.Run(); err != nil {
		b.Fatal(err)
	}
	process := exec.Command(binary, "--kubeconfig", kube.Shared(b).Kubeconfig, "--leader-elect=false",
		"--metrics-bind-address=0", "--health-probe-bind-address=0")
	if err := process.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		// It has ended long ago unless the benchmark failed.
		_ = process.Process.Kill()
	})
	return process
}

// reported is how many Gateways of a namespace have a Rendering.
func (p *plane) reported(namespace string) int {
	p.Helper()
	list := &v1alpha1.RenderingList{}
	if err := p.client.List(p.Context(), list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		p.Fatal(err)
	}
	count := len(list.Items)
	if list.RemainingItemCount != nil {
		count += int(*list.RemainingItemCount)
	}
	return count
}

// memory is a figure of a process in MiB, as Linux gives it.
func memory(b *testing.B, pid int, field string) int {
	b.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Skip("the memory of a process is read from /proc")
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			if err != nil {
				b.Fatal(err)
			}
			return kib >> 10
		}
	}
	b.Fatalf("/proc names no %s", field)
	return 0
}
