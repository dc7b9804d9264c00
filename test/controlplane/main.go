package main

import (
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/gatewright/gatewright/test/controlplane/internal/assets"
)

// The pins travel inside the command, so that it builds the same binaries from
// whatever directory it runs in.
var (
	//go:embed go.mod
	goMod []byte
	//go:embed go.sum
	goSum []byte
)

const usage = `controlplane builds and runs a real Kubernetes control plane.

  controlplane build                build what is missing, print the directory of the binaries
  controlplane start [flags]        run it until interrupted
  controlplane exec [flags] -- CMD  run CMD against it, stop it, exit as CMD did

"controlplane start -h" and "controlplane exec -h" list the flags.
`

// A usageError means that the command line was wrong: exit code 2, as flag does.
type usageError struct{ error }

// An exitError carries the exit code of the command that exec ran.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("the command ended with exit code %d", int(e)) }

func main() {
	endWithGoRun()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(exitCode(err, os.Stderr))
}

// exitCode tells err to people, unless the command that exec ran has already
// said what there is to say.
func exitCode(err error, stderr io.Writer) int {
	var ended exitError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &ended):
		return int(ended)
	}
	fmt.Fprintf(stderr, "controlplane: %v\n", err)
	if _, wrong := errors.AsType[usageError](err); wrong {
		return 2
	}
	return 1
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usageError{errors.New("say build, start or exec; -h explains them")}
	}
	command, args := args[0], args[1:]
	switch command {
	case "build":
		return build(ctx, args, stdout, stderr)
	case "start":
		return start(ctx, args, stdout, stderr)
	case "exec":
		return execute(ctx, args, stdout, stderr)
	case "help", "-h", "-help", "--help":
		fmt.Fprint(stdout, usage)
		return nil
	}
	return usageError{fmt.Errorf("there is no command %q: say build, start or exec", command)}
}

func build(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("build takes no arguments, found %q", args)}
	}
	dir, err := ensureAssets(ctx, stderr)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, dir)
	return err
}

// ensureAssets returns the directory of the binaries, building what is missing.
func ensureAssets(ctx context.Context, log io.Writer) (string, error) {
	recipe, err := assets.NewRecipe(goMod, goSum)
	if err != nil {
		return "", err
	}
	opts := assets.Options{
		Given:  os.Getenv("KUBEBUILDER_ASSETS"),
		GOOS:   runtime.GOOS,
		GOARCH: runtime.GOARCH,
		Build:  assets.GoBuild(recipe, runtime.GOOS, runtime.GOARCH),
		Log:    log,
	}
	if opts.Given == "" {
		if opts.CacheRoot, err = cacheRoot(); err != nil {
			return "", err
		}
	}
	return assets.Ensure(ctx, recipe, opts)
}

func cacheRoot() (string, error) {
	if dir := os.Getenv("GATEWRIGHT_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("finding a cache directory (set GATEWRIGHT_CACHE to choose one): %w", err)
	}
	return filepath.Join(dir, "gatewright"), nil
}
