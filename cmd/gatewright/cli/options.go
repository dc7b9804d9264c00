package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// How unknown fields are met, in the words of kubectl.
const (
	validateStrict = "strict"
	validateWarn   = "warn"
)

// inputOptions say where a command's input comes from.
type inputOptions struct {
	files     []string
	recursive bool
	observed  []string
	validate  string

	kubeconfig, kubeContext string

	namespace           string
	controllerNamespace string
}

func (o *inputOptions) addTo(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVarP(&o.files, "filename", "f", nil,
		"files or directories with manifests of any kinds; - is standard input. Without it, a cluster is read")
	f.BoolVarP(&o.recursive, "recursive", "R", false, "read the directories in directories given with -f, too")
	f.StringVar(&o.validate, "validate", validateStrict, "what a field is that its kind does not have: an error (strict) or a warning (warn)")
	f.StringVarP(&o.namespace, "namespace", "n", "", "namespace of what names none; else that of the kubeconfig, or default for files")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig of the cluster")
	f.StringVar(&o.kubeContext, "context", "", "context of the kubeconfig to use")
	f.StringVar(&o.controllerNamespace, "controller-namespace", v1alpha1.DefaultControllerNamespace,
		"namespace whose GatewayClassConfigs reach all Gateways of a class")
	complete(c, "validate", validateStrict, validateWarn)
}

// world reads what the options name.
func (o *inputOptions) world(ctx context.Context, streams Streams) (*world, error) {
	if !slices.Contains([]string{validateStrict, validateWarn}, o.validate) {
		return nil, misused("--validate must be %s or %s", validateStrict, validateWarn)
	}
	var w *world
	var err error
	if len(o.files) > 0 {
		w, err = o.readFiles(streams)
	} else {
		w, err = o.readCluster(ctx)
	}
	if err != nil {
		return nil, err
	}
	w.objects.ControllerNamespace = o.controllerNamespace
	w.dropDeleted()
	if len(o.observed) > 0 {
		return w, o.readObserved(w, streams)
	}
	return w, nil
}

// open reads what the options name, and tells what people should know of it.
func (o *inputOptions) open(ctx context.Context, streams Streams) (*session, *report, error) {
	w, err := o.world(ctx, streams)
	if err != nil {
		return nil, nil, err
	}
	r := newReport(streams.Err)
	r.notes(w.notes)
	return newSession(w), r, nil
}

// outputOption is the format of what is printed.
type outputOption struct {
	output  string
	formats []string
}

// addTo adds -o with its formats, the first of which is the default.
func (o *outputOption) addTo(c *cobra.Command, formats ...string) {
	o.formats = formats
	c.Flags().StringVarP(&o.output, "output", "o", formats[0], "one of "+strings.Join(formats, ", "))
	complete(c, "output", formats...)
}

func (o *outputOption) check() error {
	if slices.Contains(o.formats, o.output) {
		return nil
	}
	return misused("there is no output format %q; -o takes one of %s", o.output, strings.Join(o.formats, ", "))
}

// run is what a command does with its arguments.
type run func(ctx context.Context, streams Streams, args []string) error

// newReader makes a command that reads files or a cluster, and prints in one of some formats.
func newReader(c *cobra.Command, input *inputOptions, output *outputOption, do run, streams Streams, formats ...string) *cobra.Command {
	c.DisableFlagsInUseLine = true
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := output.check(); err != nil {
			return err
		}
		return do(c.Context(), streams, args)
	}
	input.addTo(c)
	output.addTo(c, formats...)
	return c
}

// complete offers values of a flag to shells.
func complete(c *cobra.Command, flag string, choices ...string) {
	// The only error is that there is no such flag.
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// nameOf reads NAMESPACE/NAME, or NAME in the default namespace.
func nameOf(flag, value, namespace string) (types.NamespacedName, error) {
	parts := strings.Split(value, "/")
	if len(parts) == 1 {
		parts = []string{namespace, value}
	}
	if len(parts) != 2 || parts[0] == "" || parts[1] == "" {
		return types.NamespacedName{}, misused("--%s must be NAMESPACE/NAME, and is %q", flag, value)
	}
	return types.NamespacedName{Namespace: parts[0], Name: parts[1]}, nil
}
