package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime/debug"

	"go.uber.org/zap/zapcore"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/gatewright/gatewright/api/v1alpha1"
	"github.com/gatewright/gatewright/controllers"
)

// version is set at build time.
var version = "dev"

type flags struct {
	metricsAddress string
	probeAddress   string
	leaderElect    bool
	controllers    controllers.Options
	logging        zap.Options
}

func main() {
	f := parse()
	// JSON, without stack traces of errors that are not bugs.
	f.logging.StacktraceLevel = zapcore.PanicLevel
	if f.logging.Level != nil && f.logging.Level.Enabled(mostVerbose-1) {
		f.logging.Level = mostVerbose
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&f.logging)))
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if err := run(ctrl.SetupSignalHandler(), f); err != nil {
		ctrl.Log.Error(err, "the manager ends")
		os.Exit(1)
	}
}

// gcPercent is by how much memory may grow before it is collected, unless GOGC says another. Most of what the controller holds stays
// for as long as the objects do, so that the usual 100 would keep as much again for little: docs/performance.md has the figures.
const gcPercent = 50

// mostVerbose is the most that --zap-log-level can ask for. From 8 on, clients of the API server log the bodies of requests and
// answers, and so Secrets and the values of tenants.
const mostVerbose = zapcore.Level(-7)

func parse() flags {
	var f flags
	flag.StringVar(&f.metricsAddress, "metrics-bind-address", ":8080", "where metrics are served; 0 switches them off")
	flag.StringVar(&f.probeAddress, "health-probe-bind-address", ":8081", "where /healthz and /readyz are served; 0 switches them off")
	flag.BoolVar(&f.leaderElect, "leader-elect", true, "let one of several replicas work at a time")
	flag.StringVar(&f.controllers.ControllerNamespace, "controller-namespace", v1alpha1.DefaultControllerNamespace,
		"the namespace whose GatewayClassConfigs reach all Gateways of a class; the leader's lease is there too")
	flag.IntVar(&f.controllers.MaxConcurrentReconciles, "max-concurrent-reconciles", 8, "how many objects of a kind are worked on at once")
	f.logging.BindFlags(flag.CommandLine)
	flag.Parse()
	return f
}

func run(ctx context.Context, f flags) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("finding the cluster: %w; outside of a cluster set --kubeconfig or KUBECONFIG", err)
	}
	config.UserAgent = "gatewright-controller/" + version
	mgr, err := controllers.NewManager(config, f.controllers, func(o *ctrl.Options) {
		o.Metrics = metricsserver.Options{BindAddress: f.metricsAddress}
		o.HealthProbeBindAddress = f.probeAddress
		o.LeaderElection = f.leaderElect
		o.LeaderElectionID = "gatewright-controller"
		o.LeaderElectionNamespace = f.controllers.ControllerNamespace
		o.LeaderElectionReleaseOnCancel = true
	})
	if err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the health check: %w", err)
	}
	if err := mgr.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return fmt.Errorf("adding the readiness check: %w", err)
	}
	ctrl.Log.Info("starting", "version", version)
	return mgr.Start(ctx)
}
