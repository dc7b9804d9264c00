package plane

import (
	"encoding/base64"
	"errors"
	"fmt"
)

const (
	adminKubeconfig   = "admin.kubeconfig"
	managerKubeconfig = "kube-controller-manager.kubeconfig"
)

// writeKubeconfigs writes the kubeconfigs of the administrator and of the
// controller manager for the API server at the URL.
func (k *keys) writeKubeconfigs(server string) error {
	_, adminErr := k.write(adminKubeconfig, k.kubeconfig(server, "admin", k.admin))
	_, managerErr := k.write(managerKubeconfig, k.kubeconfig(server, "kube-controller-manager", k.manager))
	return errors.Join(adminErr, managerErr)
}

func (k *keys) kubeconfig(server, user string, who *identity) []byte {
	encode := base64.StdEncoding.EncodeToString
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: gatewright-controlplane
clusters:
- name: gatewright-controlplane
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: %s
  user:
    client-certificate-data: %s
    client-key-data: %s
contexts:
- name: gatewright-controlplane
  context: {cluster: gatewright-controlplane, user: %[3]s}
`, server, encode(certificatePEM(k.ca)), user, encode(who.certPEM), encode(who.keyPEM))
}
