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
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/gatewright/gatewright/test/kube"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	interrupted := ctx.Err() != nil
	stop()
	if err != nil && !interrupted {
		fmt.Fprintln(os.Stderr, "\nThe demo ended early:", err)
		os.Exit(1)
	}
}

// demo is a cluster with a controller at work on it.
type demo struct {
	root       string
	dir        string
	kubeconfig string
	kubectl    string
}

func run(ctx context.Context) (err error) {
	d := &demo{root: kube.RepoRoot()}
	if d.dir, err = os.MkdirTemp("", "gatewright-demo-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.dir)) }()
	stop, err := d.cluster()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := d.install(ctx); err != nil {
		return err
	}
	end, err := d.controller(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := d.show(ctx); err != nil {
		return fmt.Errorf("%w; the controller's log ends with:\n%s", err, tail(d.log()))
	}
	d.next()
	if os.Getenv("DEMO_EXIT") == "" {
		<-ctx.Done()
	}
	return nil
}

// cluster starts an API server, or takes the one of the present kubeconfig if it is told to.
func (d *demo) cluster() (stop func() error, err error) {
	if os.Getenv("DEMO_CLUSTER") == "existing" {
		say("Using the cluster of your present kubeconfig")
		d.kubeconfig, d.kubectl = os.Getenv("KUBECONFIG"), "kubectl"
		if d.kubeconfig == "" {
			d.kubeconfig = clientcmd.RecommendedHomeFile
		}
		return func() error { return nil }, nil
	}
	say("Starting etcd, kube-apiserver and kube-controller-manager")
	server, err := kube.Start(os.Stderr)
	if err != nil {
		return nil, err
	}
	d.kubeconfig, d.kubectl = server.Kubeconfig, filepath.Join(server.Assets, "kubectl")
	return server.Stop, nil
}

// install installs the CRDs of Gateway API and Gatewright's own. On a cluster that has Gateway API already those stay as they are.
func (d *demo) install(ctx context.Context) error {
	say("Installing the CRDs of Gateway API and Gatewright")
	if _, err := d.output(ctx, "get", "crd", "gateways.gateway.networking.k8s.io", "listenersets.gateway.networking.k8s.io"); err != nil {
		if err := d.quietly(ctx, "apply", "--server-side", "-f", kube.GatewayAPICRDs()); err != nil {
			return err
		}
	}
	if err := d.quietly(ctx, "apply", "--server-side", "-f", kube.OwnCRDs()); err != nil {
		return err
	}
	return d.quietly(ctx, "wait", "--for=condition=Established", "--timeout=60s", "-f", kube.OwnCRDs())
}

// controller builds the manager and runs it outside of the cluster.
func (d *demo) controller(ctx context.Context) (end func(), err error) {
	say("Building and starting the controller")
	binary := filepath.Join(d.dir, "gatewright-controller")
	build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/gatewright-controller")
	build.Dir, build.Stdout, build.Stderr = d.root, os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building the controller: %w", err)
	}
	log, err := os.Create(d.log())
	if err != nil {
		return nil, err
	}
	controller := exec.Command(binary, "--kubeconfig", d.kubeconfig, "--leader-elect=false",
		"--metrics-bind-address=0", "--health-probe-bind-address=0")
	controller.Stdout, controller.Stderr = log, log
	if err := controller.Start(); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return func() {
		_ = controller.Process.Signal(syscall.SIGTERM)
		_ = controller.Wait()
		_ = log.Close()
	}, nil
}

func (d *demo) log() string { return filepath.Join(d.dir, "controller.log") }

// show applies the sample and shows what comes of it.
func (d *demo) show(ctx context.Context) error {
	say("Applying samples/quickstart: a blueprint, a GatewayClass, policies, a Gateway, two ListenerSets and an HTTPRoute")
	if err := d.kubectlShown(ctx, "apply", "-f", "samples/quickstart"); err != nil {
		return err
	}
	if err := d.kubectlShown(ctx, "wait", "--for=condition=Programmed", "--timeout=60s", "-n", "quickstart", "gateway/web"); err != nil {
		return err
	}
	for _, step := range []struct {
		title string
		args  []string
	}{
		{"The Gateway has an address, and its ListenerSets and route are accepted", []string{"get", "gateways,listenersets,httproutes", "-A"}},
		{"What was rendered for it, and stays under the controller's eyes", []string{"get", "configmaps,services,horizontalpodautoscalers,poddisruptionbudgets,ingresses", "-A", "-l", "gatewright.dev/owner-uid"}},
		{"The Gateway tells what it is", []string{"describe", "gateway", "web", "-n", "quickstart"}},
		{"The Rendering tells what was made of it, from which values, set by whom", []string{"describe", "rendering", "web", "-n", "quickstart"}},
	} {
		say(step.title)
		if err := d.kubectlShown(ctx, step.args...); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) next() {
	say("Now it is your turn")
	fmt.Printf(`In another terminal:

  export KUBECONFIG=%s
  alias kubectl=%s

  # Change a value as the tenant, and see it in the rendered object:
  kubectl patch gatewayconfig web-scaling -n quickstart --type merge -p '{"spec":{"default":{"scaling":{"minReplicas":4}}}}'
  kubectl get hpa -n quickstart

  # Delete something that was rendered. It comes back:
  kubectl delete service -n quickstart -l gatewright.dev/owner-uid
  kubectl get service -n quickstart

  # Who set which value, and who was overruled:
  kubectl describe rendering web -n quickstart
  go run ./cmd/gatewright values --gateway quickstart/web

  # Change the templates, and see every Gateway of the class follow:
  kubectl edit gatewayclassblueprint shadow

The controller's log is in %s.
`, d.kubeconfig, d.kubectl, d.log())
	if os.Getenv("DEMO_EXIT") == "" {
		fmt.Println("\nEverything stays up until Ctrl-C.")
	}
}

// kubectlShown runs kubectl as a person would, and shows the command with its output.
func (d *demo) kubectlShown(ctx context.Context, args ...string) error {
	fmt.Printf("$ kubectl %s\n", strings.Join(args, " "))
	return d.command(ctx, os.Stdout, args...).Run()
}

// quietly shows kubectl's output only if it fails.
func (d *demo) quietly(ctx context.Context, args ...string) error {
	out, err := d.output(ctx, args...)
	if err != nil {
		return fmt.Errorf("kubectl %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

func (d *demo) output(ctx context.Context, args ...string) (string, error) {
	var out strings.Builder
	command := d.command(ctx, &out, args...)
	command.Stderr = &out
	err := command.Run()
	return out.String(), err
}

func (d *demo) command(ctx context.Context, out io.Writer, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, d.kubectl, append([]string{"--kubeconfig", d.kubeconfig}, args...)...)
	command.Dir, command.Stdout, command.Stderr = d.root, out, os.Stderr
	return command
}

var started = time.Now()

func say(what string) {
	fmt.Printf("\n== %s (%.0f s)\n", what, time.Since(started).Seconds())
}

const tailLines = 20

func tail(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-tailLines):], "\n")
}
