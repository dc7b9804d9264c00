package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/gatewright/gatewright/test/controlplane/internal/plane"
)

// commandGrace is how long the command may take to end when the control plane
// has failed under it.
const commandGrace = 10 * time.Second

// execute runs a command against a control plane of its own.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	var cfg plane.Config
	var dir string
	flags := newFlags("exec", &cfg, stderr)
	flags.StringVar(&dir, "dir", "", "run the command in this `directory`")
	if err := parse(flags, args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return usageError{errors.New("exec needs a command: controlplane exec -- CMD ARGS...")}
	}
	running, err := startPlane(ctx, cfg, stderr)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, running.Stop()) }()

	command := exec.Command(flags.Arg(0), flags.Args()[1:]...)
	command.Dir = dir
	command.Stdin, command.Stdout, command.Stderr = os.Stdin, stdout, stderr
	command.Env = append(os.Environ(), running.environment()...)
	// Its kubectl shall be the one that belongs to the control plane.
	command.Env = append(command.Env, "PATH="+running.assets+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return supervise(command, running.Failed())
}

// supervise runs the command to its end, hands signals on to it, and ends it
// when failed yields an error. The error is an exitError when the command ended
// with a code other than 0.
func supervise(command *exec.Cmd, failed <-chan error) error {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)

	terminal := hasTerminal()
	command.SysProcAttr = commandAttr(terminal)
	if err := command.Start(); err != nil {
		return fmt.Errorf("running the command: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()

	var failure error
	var overdue <-chan time.Time
	for {
		select {
		case err := <-ended:
			if !terminal {
				// What it left running belongs to it and ends with it.
				_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
			}
			if failure != nil {
				return failure
			}
			return commandResult(err)
		case sig := <-signals:
			if !terminal || sig == syscall.SIGTERM {
				_ = command.Process.Signal(sig)
			}
		case failure = <-failed:
			_ = command.Process.Signal(syscall.SIGTERM)
			overdue = time.After(commandGrace)
		case <-overdue:
			_ = command.Process.Kill()
		}
	}
}

// hasTerminal tells whether a terminal controls us. If so, the command stays in
// our process group: it can read from the terminal, and the terminal itself
// sends Ctrl-C to it, which must then not be handed on a second time.
func hasTerminal() bool {
	terminal, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	terminal.Close()
	return true
}

// commandResult turns the end of a command into our own: its exit code, or, as
// shells do, 128 plus the number of the signal that ended it.
func commandResult(err error) error {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return err
	}
	if status, ok := ended.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitError(128 + int(status.Signal()))
	}
	return exitError(ended.ExitCode())
}
