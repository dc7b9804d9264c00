package assets

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// tailLines is how much of the compiler's output a failure shows.
const tailLines = 20

// GoBuild returns a BuildFunc that runs `go build` in a temporary module made
// of the recipe's own go.mod and go.sum. The build therefore needs no source
// tree, works from any directory, and can use no version that is not pinned.
func GoBuild(recipe Recipe, goos, goarch string) BuildFunc {
	return func(ctx context.Context, b Binary, out string, note func(string)) error {
		module, err := os.MkdirTemp("", "gatewright-controlplane-build-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(module)
		if err := writeModule(module, recipe); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", recipe.LDFlags, "-o", out, b.Package)
		cmd.Dir = module
		cmd.Env = append(os.Environ(),
			"CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch,
			// The caller's workspace and flags must not change what is built.
			"GOWORK=off", "GOFLAGS=-mod=readonly",
		)
		// An interrupt lets the go command stop its compilers itself.
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		cmd.WaitDelay = 10 * time.Second
		err = runNoting(cmd, note)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return err
	}
}

func writeModule(dir string, recipe Recipe) error {
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "go.mod"), recipe.GoMod, 0o644),
		os.WriteFile(filepath.Join(dir, "go.sum"), recipe.GoSum, 0o644),
	)
}

// runNoting runs cmd, notes each line of its output (the go command tells
// there which module it downloads) and adds the last lines to an error.
func runNoting(cmd *exec.Cmd, note func(string)) error {
	reader, writer := io.Pipe()
	cmd.Stdout, cmd.Stderr = writer, writer
	tail := make(chan []string)
	go func() {
		var last []string
		lines := bufio.NewReader(reader)
		for {
			line, err := lines.ReadString('\n')
			if line = strings.TrimRight(line, "\n"); line != "" {
				note(line)
				last = append(last, line)
				last = last[max(0, len(last)-tailLines):]
			}
			if err != nil {
				tail <- last
				return
			}
		}
	}()
	err := cmd.Run()
	writer.Close()
	last := <-tail
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args[:2], " "), err, strings.Join(last, "\n"))
	}
	return nil
}
