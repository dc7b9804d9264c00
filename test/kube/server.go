package kube

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// The environment variables by which test/controlplane tells where its API server is, and `make test` shares one.
const (
	envKubeconfig = "GATEWRIGHT_TEST_KUBECONFIG"
	envAuditLog   = "GATEWRIGHT_TEST_AUDIT_LOG"
	envAssets     = "KUBEBUILDER_ASSETS"
)

// A Server is an API server that tests may do with as they please, save that it is perhaps shared: whoever makes
// cluster-scoped objects gives them names that nobody else has, and removes them.
type Server struct {
	// Kubeconfig is the path of a kubeconfig with all rights.
	Kubeconfig string
	// AuditLog is the path of the API server's audit log, one JSON event a line; empty if a shared server has none.
	AuditLog string
	// Assets is the directory of the binaries, kubectl among them; empty if a shared server did not name it.
	Assets string

	process *exec.Cmd // nil when the server is shared, and so not ours to stop
	dir     string
}

// Start returns the shared server if GATEWRIGHT_TEST_KUBECONFIG names one; else it starts one, which may first have to be
// built: what is going on then is told to progress.
func Start(progress io.Writer) (*Server, error) {
	if shared := os.Getenv(envKubeconfig); shared != "" {
		return &Server{Kubeconfig: shared, AuditLog: os.Getenv(envAuditLog), Assets: os.Getenv(envAssets)}, nil
	}
	dir, err := os.MkdirTemp("", "gatewright-kube-")
	if err != nil {
		return nil, fmt.Errorf("starting an API server: %w", err)
	}
	server := &Server{dir: dir}
	if err := server.start(progress); err != nil {
		return nil, errors.Join(fmt.Errorf("starting an API server: %w", err), server.Stop())
	}
	return server, nil
}

// start builds the command rather than calling `go run`, which would hand on no signals.
func (s *Server) start(progress io.Writer) error {
	command := filepath.Join(s.dir, "controlplane")
	source := filepath.Join(RepoRoot(), "test", "controlplane")
	// Nobody asks what commit it is of, and git may refuse to tell.
	build := exec.Command("go", "-C", source, "build", "-buildvcs=false", "-o", command, ".")
	build.Stdout, build.Stderr = progress, progress
	if err := build.Run(); err != nil {
		return fmt.Errorf("building test/controlplane: %w", err)
	}

	// Kinds that are known when the control plane starts are garbage collected at once, later ones after up to 45 s.
	process := exec.Command(command, "start", "--crds", GatewayAPICRDs(), "--crds", OwnCRDs(), "--crds", ForeignCRDs())
	process.Stderr = progress
	process.SysProcAttr = EndWithUs()
	stdout, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	s.process = process
	return s.readEnvironment(stdout)
}

// readEnvironment reads the lines `export NAME=VALUE` that the control plane prints when it is ready. That its output
// ends before they are complete means that it failed, and has said why on its standard error.
func (s *Server) readEnvironment(stdout io.Reader) error {
	wanted := map[string]*string{envKubeconfig: &s.Kubeconfig, envAuditLog: &s.AuditLog, envAssets: &s.Assets}
	lines := bufio.NewScanner(stdout)
	for len(wanted) > 0 && lines.Scan() {
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		if field, ok := wanted[name]; ok {
			*field = value
			delete(wanted, name)
		}
	}
	if len(wanted) > 0 {
		return errors.New("the control plane ended before it was ready; its own output above says why")
	}
	return nil
}

// Stop ends the server and removes what it left, unless it is shared. It may be called more than once.
func (s *Server) Stop() error {
	var err error
	if s.process != nil {
		_ = s.process.Process.Signal(syscall.SIGTERM)
		err = s.process.Wait()
		s.process = nil
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// RestartAPIServer has the API server killed, as a power cut would, and returns when a new process is started over what etcd
// holds. That one serves a second or two later, at the same address. A shared server is not ours to kill.
func (s *Server) RestartAPIServer(ctx context.Context) error {
	if s.process == nil {
		return errors.New("restarting the API server: it is shared with others")
	}
	pidFile := filepath.Join(filepath.Dir(s.Kubeconfig), "kube-apiserver.pid")
	before, err := os.ReadFile(pidFile)
	if err != nil {
		return fmt.Errorf("restarting the API server: %w", err)
	}
	if err := s.process.Process.Signal(syscall.SIGUSR1); err != nil {
		return fmt.Errorf("restarting the API server: %w", err)
	}
	return wait.PollUntilContextCancel(ctx, restartGlance, true, func(context.Context) (bool, error) {
		now, err := os.ReadFile(pidFile)
		return len(now) > 0 && !bytes.Equal(now, before), err
	})
}

// PauseEtcd stops etcd where it is, as a disk does that does not answer; ResumeEtcd lets it go on. A shared server is not ours to stop.
func (s *Server) PauseEtcd() error { return s.signalEtcd(syscall.SIGSTOP) }

// ResumeEtcd lets etcd go on after PauseEtcd.
func (s *Server) ResumeEtcd() error { return s.signalEtcd(syscall.SIGCONT) }

func (s *Server) signalEtcd(signal syscall.Signal) error {
	if s.process == nil {
		return errors.New("pausing etcd: it is shared with others")
	}
	text, err := os.ReadFile(filepath.Join(filepath.Dir(s.Kubeconfig), "etcd.pid"))
	if err != nil {
		return fmt.Errorf("pausing etcd: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return fmt.Errorf("pausing etcd: %w", err)
	}
	if err := syscall.Kill(pid, signal); err != nil {
		return fmt.Errorf("pausing etcd: %w", err)
	}
	return nil
}

// restartGlance is how often it is looked whether the API server has another process.
const restartGlance = 20 * time.Millisecond

// Config returns a new configuration for clients, with all rights and without a client-side limit of rates, which would
// only make tests slow.
func (s *Server) Config() (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", s.Kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig of the API server: %w", err)
	}
	config.QPS = -1
	return config, nil
}
