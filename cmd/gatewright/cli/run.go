package cli

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// How the tool exits.
const (
	exitDone = 0
	// exitFailed means that something could not be read or is wrong, or that what was printed is not all.
	exitFailed = 1
	// exitUsage means that the command line cannot be understood.
	exitUsage = 2
)

// Streams are where a command reads from and prints to.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// usageError is about the command line.
type usageError struct{ error }

func misused(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Run runs the command line, whose first item is the name of the program, and returns the exit code.
func Run(args []string, version string, streams Streams) int {
	root := newRoot(displayName(args[0]), version, streams)
	root.SetArgs(args[1:])
	command, err := root.ExecuteC()
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(streams.Err, "Error: %v\n", err)
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintf(streams.Err, "See '%s --help' for usage.\n", command.CommandPath())
		return exitUsage
	}
	return exitFailed
}

// displayName is what a person types: kubectl runs kubectl-gatewright for `kubectl gatewright`.
func displayName(program string) string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if plugin, ok := strings.CutPrefix(name, "kubectl-"); ok {
		return "kubectl " + plugin
	}
	return name
}

func newRoot(name, version string, streams Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   strings.ReplaceAll(name, " ", "-"),
		Short: "Show what is made of Gateways: the objects, the values, and who set them",
		Long: `Shows what the Gatewright controller makes of Gateways: what it renders, from which values, set by whom.
With -f everything is read from files and no cluster is needed; without, from the cluster of the current kubeconfig.
Nothing is ever written. What one may not read of a cluster is told on standard error, and taken to be there where something
refers to it. Secrets are read only where a Gateway or a ListenerSet names them, and their data is never printed.

Exit codes: 0 done; 1 something is wrong, or what was printed is not all; 2 the command line is wrong.`,
		Annotations:   map[string]string{cobra.CommandDisplayNameAnnotation: name},
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          noArguments,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.AddCommand(newRender(name, streams), newValues(name, streams), newReach(name, streams), newVersion(name, version, streams))
	return root
}

// noArguments refuses arguments; cobra's own check is no usageError.
func noArguments(c *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case c.HasSubCommands():
		return misused("there is no command %q", args[0])
	}
	return misused("%s takes flags only, and %q is none; files are given with -f", c.Name(), args[0])
}

func newVersion(name, version string, streams Streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArguments,
		Run: func(*cobra.Command, []string) {
			fmt.Fprintf(streams.Out, "%s %s\n", name, version)
		},
	}
}

// examples are shown by --help, under the name that the tool goes by.
func examples(name, text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		lines[i] = "  " + strings.ReplaceAll(line, "gatewright ", name+" ")
	}
	return strings.Join(lines, "\n")
}
