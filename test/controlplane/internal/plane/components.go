package plane

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/gatewright/gatewright/test/controlplane/internal/assets"
)

const (
	// etcdSocket is the file, in the data directory, through which the API
	// server reaches etcd. A socket needs no port and lets no other user in.
	// etcd wants its addresses to look like host:port, hence the name; it is
	// used relative to the working directory because the length of a socket's
	// path is limited to about a hundred bytes.
	etcdSocket     = "etcd:0"
	etcdPeerSocket = "etcd-peer:0"
	// etcdPeer is the only member's name for itself. Nothing listens there.
	etcdPeer = "http://127.0.0.1:2380"

	// portAttempts bounds how often another port is tried when somebody else
	// was faster in taking the one that the system had called free.
	portAttempts = 5
	portTaken    = "address already in use"

	// serviceCIDR is where Services get their addresses. Nothing listens there.
	serviceCIDR = "10.0.0.0/24"
)

// auditPolicy has one event a request, when it is answered, with its user and
// user agent but no bodies: enough to count writes by.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
`

func (p *Plane) startEtcd(ctx context.Context) error {
	for _, socket := range []string{etcdSocket, etcdPeerSocket} {
		// One may be left from an earlier run; its being there must mean that
		// this etcd listens.
		if err := os.Remove(p.path(socket)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing the socket of an earlier etcd: %w", err)
		}
	}
	etcd, err := p.launch(assets.Etcd,
		"--name=controlplane",
		"--data-dir="+p.path("etcd"),
		"--listen-client-urls=unix://"+etcdSocket,
		"--advertise-client-urls=unix://"+etcdSocket,
		"--listen-peer-urls=unix://"+etcdPeerSocket,
		"--initial-advertise-peer-urls="+etcdPeer,
		"--initial-cluster=controlplane="+etcdPeer,
		// What is stored need not survive the machine.
		"--unsafe-no-fsync",
		"--log-level=warn",
	)
	if err != nil {
		return err
	}
	err = waitUntil(ctx, etcd, func(context.Context) error {
		_, err := os.Stat(p.path(etcdSocket))
		return err
	})
	if err != nil {
		return err
	}
	p.watch(etcd)
	return nil
}

// startAPIServer starts the API server and waits until it serves. The API
// server takes no "any port" and tells nobody, so the system is asked for a
// free one first, and again if it is gone by the time the API server binds it.
func (p *Plane) startAPIServer(ctx context.Context) (err error) {
	if err := os.WriteFile(p.path("audit-policy.yaml"), []byte(auditPolicy), 0o600); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		if p.port, err = freePort(); err != nil {
			return fmt.Errorf("finding a free port for kube-apiserver: %w", err)
		}
		server := address(p.port)
		if err := p.keys.writeKubeconfigs(server); err != nil {
			return fmt.Errorf("writing kubeconfigs: %w", err)
		}
		if p.apiServer, err = p.launch(assets.APIServer, p.apiServerArgs(p.port)...); err != nil {
			return err
		}
		err = waitUntil(ctx, p.apiServer, p.keys.probe(server))
		if err == nil {
			p.watch(p.apiServer)
			return nil
		}
		if attempt == portAttempts || !p.apiServer.logged(portTaken) {
			return err
		}
		fmt.Fprintf(p.cfg.Log, "controlplane: port %d was taken before kube-apiserver could bind it, trying another\n", p.port)
	}
}

func address(port int) string {
	return "https://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

func (p *Plane) apiServerArgs(port int) []string {
	keys := p.keys
	return []string{
		"--etcd-servers=unix://" + etcdSocket,
		"--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(port),
		// Otherwise it looks for a default route, which a sandbox may lack.
		"--advertise-address=127.0.0.1",
		// A loopback address is not allowed in the endpoints of the Service
		// "kubernetes", so none are kept.
		"--endpoint-reconciler-type=none",
		"--service-cluster-ip-range=" + serviceCIDR,
		"--allow-privileged=true",

		"--authorization-mode=RBAC",
		"--client-ca-file=" + keys.caFile,
		"--tls-cert-file=" + keys.serving.certFile,
		"--tls-private-key-file=" + keys.serving.keyFile,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + keys.serviceAccountFile,
		"--service-account-signing-key-file=" + keys.serviceAccountFile,
		// No controller makes default service accounts here, without which
		// this plugin would let no Pod be created.
		"--disable-admission-plugins=ServiceAccount",
		// Some clusters let only those refer to an owner who may set its
		// finalizers, or delete what refers to it.
		"--enable-admission-plugins=OwnerReferencesPermissionEnforcement",

		"--audit-policy-file=" + p.path("audit-policy.yaml"),
		"--audit-log-path=" + p.AuditLog,
		// Never rotated: who counts events wants all of them in one file.
		"--audit-log-maxsize=0",
	}
}

// startControllerManager does not wait: nothing tells from outside when its
// controllers have begun, and what they do comes later than the request that
// asks for it in any cluster.
func (p *Plane) startControllerManager() error {
	manager, err := p.launch(assets.ControllerManager,
		"--kubeconfig="+p.path(managerKubeconfig),
		// Deletion, and ClusterRoles that gather others: what tests cannot do
		// without. No more, so that nothing else writes while they count.
		"--controllers=namespace-controller,garbage-collector-controller,clusterrole-aggregation-controller",
		"--use-service-account-credentials=false",
		"--leader-elect=false",
		"--secure-port=0",
		// Its default of 20 requests a second would make the end of a large
		// test wait for it.
		"--kube-api-qps=200",
		"--kube-api-burst=400",
	)
	if err != nil {
		return err
	}
	p.watch(manager)
	return nil
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}
