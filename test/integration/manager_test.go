package integration_test

import (
	"context"
	"fmt"
	"sync/atomic"

	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/gatewright/gatewright/controllers"
)

// concurrency is that of the manager's flag.
const concurrency = 8

// manager is a running manager.
type manager struct {
	// userAgent is this manager's alone, so that the audit log tells its requests from those of all others.
	userAgent string

	cancel context.CancelFunc
	ended  chan error
}

var managers atomic.Int32

// startManager runs a manager as the command does, save for what concerns its process: no ports, and no lease, since it is
// the only one. adjust may change more. It returns once the caches hold what there is.
func startManager(adjust ...func(*ctrl.Options)) (*manager, error) {
	config, err := shared.server.Config()
	if err != nil {
		return nil, err
	}
	config.UserAgent = fmt.Sprintf("manager-under-test-%d", managers.Add(1))
	options := controllers.Options{ControllerNamespace: systemNamespace, MaxConcurrentReconciles: concurrency}
	mgr, err := controllers.NewManager(config, options, func(o *ctrl.Options) {
		o.Metrics = metricsserver.Options{BindAddress: "0"}
		o.HealthProbeBindAddress = "0"
		// A second manager of this process has controllers of the same names.
		skip := true
		o.Controller.SkipNameValidation = &skip
		for _, change := range adjust {
			change(o)
		}
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &manager{userAgent: config.UserAgent, cancel: cancel, ended: make(chan error, 1)}
	go func() { m.ended <- mgr.Start(ctx) }()
	select {
	case <-mgr.Elected():
		return m, nil
	case err := <-m.ended:
		cancel()
		return nil, fmt.Errorf("starting the manager: %w", err)
	}
}

// stop ends the manager and waits for it. It may be called more than once.
func (m *manager) stop() error {
	m.cancel()
	err := <-m.ended
	m.ended <- nil
	return err
}
