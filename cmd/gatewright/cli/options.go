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

// outputFlag adds -o with its formats, the first of which is the default.
func outputFlag(c *cobra.Command, into *string, formats ...string) {
	c.Flags().StringVarP(into, "output", "o", formats[0], "one of "+strings.Join(formats, ", "))
	complete(c, "output", formats...)
}

func checkOutput(format string, formats ...string) error {
	if slices.Contains(formats, format) {
		return nil
	}
	return misused("there is no output format %q; -o takes one of %s", format, strings.Join(formats, ", "))
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
