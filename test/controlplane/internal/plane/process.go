package plane

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// tailBytes is how much of a component's log an error shows, cut to whole lines.
	tailBytes = 4096
	// grace is how long a component may take to end before it is killed.
	grace = 10 * time.Second
)

// process is one running component.
type process struct {
	name     string
	logFile  string
	cmd      *exec.Cmd
	done     chan struct{} // Closed once it has ended; err is set by then.
	err      error
	stopping atomic.Bool
}

// startProcess runs the program in dir, with its output in dir/<name>.log and
// its process id in dir/<name>.pid.
func startProcess(program, dir string, args []string) (*process, error) {
	name := filepath.Base(program)
	p := &process{name: name, logFile: filepath.Join(dir, name+".log"), done: make(chan struct{})}
	log, err := os.Create(p.logFile)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p.cmd = exec.Command(program, args...)
	p.cmd.Dir = dir
	p.cmd.Env = environment(dir)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	// A group of its own: Ctrl-C in a terminal reaches us, and we decide in
	// which order the components end.
	p.cmd.SysProcAttr = dieWithParent(&syscall.SysProcAttr{Setpgid: true}, syscall.SIGKILL)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	pid := fmt.Appendln(nil, p.cmd.Process.Pid)
	if err := os.WriteFile(filepath.Join(dir, name+".pid"), pid, 0o600); err != nil {
		p.stop(false)
		return nil, err
	}
	return p, nil
}

// environment is all that a component sees of ours: etcd reads its settings
// from ETCD_* variables, and every one of them reads GODEBUG and proxies.
func environment(dir string) []string {
	return []string{"HOME=" + dir, "TMPDIR=" + os.TempDir()}
}

// stop ends the process and returns once it is gone; gently if it has state to
// put in order. Signals to a process that has already ended do no harm.
func (p *process) stop(gently bool) {
	p.stopping.Store(true)
	if !gently {
		_ = p.cmd.Process.Kill()
		<-p.done
		return
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.cmd.Process.Kill()
		<-p.done
	}
}

// failure describes the end of a process that should be running.
func (p *process) failure() error {
	how := "exit status 0"
	if p.err != nil {
		how = p.err.Error()
	}
	return fmt.Errorf("%s ended by itself (%s)%s", p.name, how, p.tail())
}

// tail returns the end of the log, introduced for an error message.
func (p *process) tail() string {
	text, err := os.ReadFile(p.logFile)
	if err != nil {
		return fmt.Sprintf("; its log cannot be read: %v", err)
	}
	if cut := len(text) - tailBytes; cut > 0 {
		text = text[cut:]
		text = text[bytes.IndexByte(text, '\n')+1:]
	}
	if len(text) == 0 {
		return "; it logged nothing"
	}
	return "; the end of its log:\n" + strings.TrimRight(string(text), "\n")
}

// logged tells whether the process has written text to its log.
func (p *process) logged(text string) bool {
	log, err := os.ReadFile(p.logFile)
	return err == nil && bytes.Contains(log, []byte(text))
}

// runQuietly runs a short program and shows its output only when it fails.
func runQuietly(ctx context.Context, program, home string, args []string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = environment(home)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(program), strings.Join(args, " "), err, bytes.TrimSpace(output))
	}
	return nil
}
