package plane

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/gatewright/gatewright/test/controlplane/internal/assets"
)

// readyWithin bounds each wait of the start: on the smallest machine that runs
// the tests the whole of it takes a few seconds.
const readyWithin = 2 * time.Minute

// Config says what to start.
type Config struct {
	// Assets is the directory of the binaries.
	Assets string
	// Data is where the control plane keeps its state; it is made if need be
	// and kept at the end. Empty means a temporary directory, removed at the end.
	Data string
	// CRDs are files or directories of CustomResourceDefinitions to install
	// before the controller manager starts. Its garbage collector looks for new
	// kinds every 30 seconds only; those that exist when it starts it knows at once.
	CRDs []string
	// Log takes what is worth telling while starting, a line at a time.
	Log io.Writer
}

// Plane is a running control plane. Start makes one; whoever started it must call Stop.
type Plane struct {
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string
	// AuditLog is the path of the API server's audit log: a JSON event a line,
	// one for every request that was answered.
	AuditLog string

	cfg       Config
	data      string
	lock      *os.File
	started   []*process
	unplanned chan error

	// apiServer, its keys and the address that clients know are kept for RestartAPIServer.
	apiServer *process
	keys      *keys
	port      int
}

// Start runs a control plane and returns once its API server is ready to
// serve. When it fails, nothing is left running, and the error ends with the
// last log lines of whatever failed.
func Start(ctx context.Context, cfg Config) (*Plane, error) {
	p := &Plane{cfg: cfg, unplanned: make(chan error, 1)}
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

func (p *Plane) start(ctx context.Context) error {
	if err := p.claimData(); err != nil {
		return err
	}
	var err error
	if p.keys, err = writeKeys(p.data); err != nil {
		return fmt.Errorf("making certificates: %w", err)
	}
	if err := p.startEtcd(ctx); err != nil {
		return err
	}
	if err := p.startAPIServer(ctx); err != nil {
		return err
	}
	if err := p.installCRDs(ctx); err != nil {
		return err
	}
	return p.startControllerManager()
}

// claimData makes the data directory and locks it, so that a second control
// plane on the same directory is refused rather than let loose on the first.
func (p *Plane) claimData() (err error) {
	if p.cfg.Data == "" {
		p.data, err = os.MkdirTemp("", "gatewright-controlplane-")
	} else if p.data, err = filepath.Abs(p.cfg.Data); err == nil {
		err = os.MkdirAll(p.data, 0o700)
	}
	if err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	if p.lock, err = os.OpenFile(p.path("lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return fmt.Errorf("locking the data directory: %w", err)
	}
	if err := syscall.Flock(int(p.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("the data directory %s is in use by another control plane: stop that one or choose another directory", p.data)
	}
	p.Kubeconfig = p.path(adminKubeconfig)
	p.AuditLog = p.path("audit.log")
	return nil
}

// RestartAPIServer kills the API server, as a power cut would, and returns once
// a new one serves what etcd holds, at the same address.
func (p *Plane) RestartAPIServer(ctx context.Context) error {
	p.apiServer.stop(false)
	p.started = slices.DeleteFunc(p.started, func(proc *process) bool { return proc == p.apiServer })
	var err error
	if p.apiServer, err = p.launch(assets.APIServer, p.apiServerArgs(p.port)...); err != nil {
		return err
	}
	if err := waitUntil(ctx, p.apiServer, p.keys.probe(address(p.port))); err != nil {
		return err
	}
	p.watch(p.apiServer)
	return nil
}

// Failed yields an error when a component ends although nobody stopped it.
func (p *Plane) Failed() <-chan error { return p.unplanned }

// Stop ends every component, the last one started first, and removes the data
// directory if it was temporary. In that case they are simply killed: a gentle
// end takes more than a second, and there is nothing to save.
func (p *Plane) Stop() error {
	kept := p.cfg.Data != ""
	for _, started := range slices.Backward(p.started) {
		started.stop(kept)
	}
	p.started = nil
	if p.lock != nil {
		p.lock.Close()
	}
	if kept || p.data == "" {
		return nil
	}
	if err := os.RemoveAll(p.data); err != nil {
		return fmt.Errorf("removing the data directory: %w", err)
	}
	return nil
}

func (p *Plane) path(name string) string { return filepath.Join(p.data, name) }

// launch starts a component in the data directory.
func (p *Plane) launch(name string, args ...string) (*process, error) {
	proc, err := startProcess(filepath.Join(p.cfg.Assets, name), p.data, args)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p.started = append(p.started, proc)
	return proc, nil
}

// watch reports the end of proc as a failure, unless it is being stopped.
func (p *Plane) watch(proc *process) {
	go func() {
		<-proc.done
		p.reportEnd(proc)
	}()
}

func (p *Plane) reportEnd(proc *process) {
	if proc.stopping.Load() {
		return
	}
	select {
	case p.unplanned <- proc.failure():
	default: // One failure is enough: the others follow from it.
	}
}

func (p *Plane) installCRDs(ctx context.Context) error {
	if len(p.cfg.CRDs) == 0 {
		return nil
	}
	apply := []string{"apply", "--server-side"}
	for _, path := range p.cfg.CRDs {
		apply = append(apply, "--filename", path)
	}
	if err := p.kubectl(ctx, apply...); err != nil {
		return err
	}
	return p.kubectl(ctx, "wait", "--for=condition=Established", "customresourcedefinitions", "--all", "--timeout="+readyWithin.String())
}

func (p *Plane) kubectl(ctx context.Context, args ...string) error {
	return runQuietly(ctx, filepath.Join(p.cfg.Assets, assets.Kubectl), p.data, append([]string{"--kubeconfig", p.Kubeconfig}, args...))
}
