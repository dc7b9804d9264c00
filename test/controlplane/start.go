package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gatewright/gatewright/test/controlplane/internal/plane"
)

// kubeconfigMark begins each kubeconfig that start writes where it was told
// to, so that it overwrites and removes files of its own only.
const kubeconfigMark = "# Written by controlplane start; removed when it ends.\n"

// start runs a control plane until ctx ends or a component fails.
func start(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var cfg plane.Config
	var kubeconfig string
	flags := newFlags("start", &cfg, stderr)
	flags.StringVar(&kubeconfig, "kubeconfig", "", "write the administrator's kubeconfig to this `file` too, once the control plane is ready; it is removed at the end")
	if err := parse(flags, args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return usageError{fmt.Errorf("start takes only flags, found %q", flags.Args())}
	}
	if err := refuseForeign(kubeconfig); err != nil {
		return err
	}

	running, err := startPlane(ctx, cfg, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()
	if kubeconfig != "" {
		if err := publish(running.Kubeconfig, kubeconfig); err != nil {
			return fmt.Errorf("writing --kubeconfig %s: %w", kubeconfig, err)
		}
		defer os.Remove(kubeconfig)
	}
	for _, variable := range running.environment() {
		fmt.Fprintf(stdout, "export %s\n", variable)
	}
	return running.tend(ctx, stderr)
}

// tend keeps the control plane running until ctx ends or a component fails. A
// SIGUSR1 has the API server killed and started anew, which tests ask for.
func (r runningPlane) tend(ctx context.Context, stderr io.Writer) error {
	restarts := make(chan os.Signal, 1)
	signal.Notify(restarts, syscall.SIGUSR1)
	defer signal.Stop(restarts)
	for {
		select {
		case <-ctx.Done():
			fmt.Fprintln(stderr, "controlplane: stopping")
			return nil
		case err := <-r.Failed():
			return err
		case <-restarts:
			if err := r.RestartAPIServer(ctx); err != nil {
				return fmt.Errorf("restarting the API server: %w", err)
			}
		}
	}
}

// runningPlane is a control plane and the binaries that it was started from.
type runningPlane struct {
	*plane.Plane
	assets string
}

// environment is what clients of the control plane, and tests, need to know.
func (r runningPlane) environment() []string {
	return []string{
		"KUBECONFIG=" + r.Kubeconfig,
		"GATEWRIGHT_TEST_KUBECONFIG=" + r.Kubeconfig,
		"GATEWRIGHT_TEST_AUDIT_LOG=" + r.AuditLog,
		"KUBEBUILDER_ASSETS=" + r.assets,
	}
}

// startPlane makes sure of the binaries and starts them.
func startPlane(ctx context.Context, cfg plane.Config, stderr io.Writer) (runningPlane, error) {
	dir, err := ensureAssets(ctx, stderr)
	if err != nil {
		return runningPlane{}, err
	}
	cfg.Assets, cfg.Log = dir, stderr
	began := time.Now()
	running, err := plane.Start(ctx, cfg)
	if err != nil {
		return runningPlane{}, err
	}
	fmt.Fprintf(stderr, "controlplane: ready after %.1f s\n", time.Since(began).Seconds())
	return runningPlane{Plane: running, assets: dir}, nil
}

// newFlags makes the flags that start and exec share.
func newFlags(command string, cfg *plane.Config, stderr io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet(command, flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&cfg.Data, "data", "", "keep the state in this `directory` (default: a temporary one, removed at the end)")
	flags.Func("crds", "install the CustomResourceDefinitions in this `file or directory` before the garbage collector starts, so that it knows them at once rather than within 30 s (may be repeated)", func(path string) error {
		cfg.CRDs = append(cfg.CRDs, path)
		_, err := os.Stat(path)
		return err
	})
	return flags
}

// parse marks what flag has already explained as an error of usage.
func parse(flags *flag.FlagSet, args []string) error {
	err := flags.Parse(args)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return err
	}
	return usageError{err}
}

// refuseForeign fails when the file exists and is not one of ours.
func refuseForeign(kubeconfig string) error {
	if kubeconfig == "" {
		return nil
	}
	text, err := os.ReadFile(kubeconfig)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading --kubeconfig: %w", err)
	}
	if !bytes.HasPrefix(text, []byte(kubeconfigMark)) {
		return fmt.Errorf("--kubeconfig %s exists and was not written by controlplane: remove it or name another file", kubeconfig)
	}
	// Left over from a run that was killed: whoever waits for the file to
	// appear must not find this one.
	return os.Remove(kubeconfig)
}

// publish copies a kubeconfig so that it appears at once and whole: its being
// there tells that the control plane is ready.
func publish(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	unfinished, err := os.CreateTemp(filepath.Dir(to), ".kubeconfig-")
	if err != nil {
		return err
	}
	defer os.Remove(unfinished.Name())
	_, err = unfinished.Write(append([]byte(kubeconfigMark), text...))
	if err := errors.Join(err, unfinished.Close()); err != nil {
		return err
	}
	return os.Rename(unfinished.Name(), to)
}
