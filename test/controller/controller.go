package controller

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/gatewright/gatewright/test/kube"
)

// A Controller is a running controller.
type Controller struct {
	process *exec.Cmd
	log     *log
}

// Build builds the command into a directory and returns the path of the binary. What there is to say of it goes to progress.
func Build(dir string, progress io.Writer) (binary string, err error) {
	return BuildFrom(kube.RepoRoot(), dir, progress)
}

// BuildFrom is Build for another copy of the source, such as that of an earlier version.
func BuildFrom(source, dir string, progress io.Writer) (binary string, err error) {
	binary = filepath.Join(dir, "gatewright-controller")
	// Nobody asks what commit it is of, and git may refuse to tell.
	build := exec.Command("go", "build", "-buildvcs=false", "-o", binary, "./cmd/gatewright-controller")
	build.Dir, build.Stdout, build.Stderr = source, progress, progress
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("building the controller: %w", err)
	}
	return binary, nil
}

// Start runs a binary. To its flags it adds the cluster that is meant, and addresses: those of the flags are a Pod's, but here
// they are the machine's, where any port that is free will do.
func Start(binary, kubeconfig string, args ...string) (*Controller, error) {
	c := &Controller{log: &log{}}
	c.process = exec.Command(binary, append(args, "--kubeconfig="+kubeconfig,
		"--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0")...)
	c.process.Stdout, c.process.Stderr = c.log, c.log
	c.process.SysProcAttr = kube.EndWithUs()
	if err := c.process.Start(); err != nil {
		return nil, fmt.Errorf("starting the controller: %w", err)
	}
	return c, nil
}

// Stop asks the controller to end and waits for it. The error tells how it ended, unless as asked.
func (c *Controller) Stop() error {
	_ = c.process.Process.Signal(syscall.SIGTERM)
	if err := c.process.Wait(); err != nil {
		return fmt.Errorf("the controller ended with %w", err)
	}
	return nil
}

// Log returns what the controller has logged so far.
func (c *Controller) Log() string {
	c.log.Lock()
	defer c.log.Unlock()
	return c.log.text.String()
}

// WriteLog writes what the controller has logged so far into a file.
func (c *Controller) WriteLog(file string) error {
	return os.WriteFile(file, []byte(c.Log()), 0o600)
}

// A log may be read while a process writes to it.
type log struct {
	sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(text []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.text.Write(text)
}
