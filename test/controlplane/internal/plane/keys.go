package plane

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// certificateLife is longer than any control plane of ours runs.
const certificateLife = 365 * 24 * time.Hour

// keys are the identities of one control plane, made anew for each.
type keys struct {
	dir    string
	ca     *x509.Certificate
	caKey  *ecdsa.PrivateKey // Never written: nobody can make identities later.
	caFile string

	serving            *identity // The API server's, towards clients.
	admin              *identity // Whoever uses the kubeconfig.
	manager            *identity // kube-controller-manager's.
	serviceAccountFile string    // The key that signs service account tokens.
}

// identity is a certificate of our authority and its key.
type identity struct {
	certificate       *x509.Certificate
	key               *ecdsa.PrivateKey
	certPEM, keyPEM   []byte
	certFile, keyFile string // Empty unless written.
}

// writeKeys makes every key and certificate and writes to dir those that the
// API server reads.
func writeKeys(dir string) (_ *keys, err error) {
	k := &keys{dir: dir}
	if err := k.makeAuthority(); err != nil {
		return nil, err
	}
	if err := k.makeServing(); err != nil {
		return nil, err
	}
	if k.admin, err = k.issue(master("admin")); err != nil {
		return nil, err
	}
	// All its controllers act as itself, so it needs the rights of all of
	// them: no predefined role has those.
	if k.manager, err = k.issue(master("system:kube-controller-manager")); err != nil {
		return nil, err
	}
	if err := k.makeServiceAccountKey(); err != nil {
		return nil, err
	}
	return k, nil
}

func (k *keys) makeAuthority() (err error) {
	if k.caKey, err = newKey(); err != nil {
		return err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "gatewright-controlplane"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	if k.ca, err = sign(template, template, k.caKey.Public(), k.caKey); err != nil {
		return err
	}
	k.caFile, err = k.write("ca.crt", certificatePEM(k.ca))
	return err
}

func (k *keys) makeServing() (err error) {
	k.serving, err = k.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	})
	if err != nil {
		return err
	}
	if k.serving.certFile, err = k.write("kube-apiserver.crt", k.serving.certPEM); err != nil {
		return err
	}
	k.serving.keyFile, err = k.write("kube-apiserver.key", k.serving.keyPEM)
	return err
}

func (k *keys) makeServiceAccountKey() error {
	key, err := newKey()
	if err != nil {
		return err
	}
	text, err := keyPEM(key)
	if err != nil {
		return err
	}
	k.serviceAccountFile, err = k.write("service-account.key", text)
	return err
}

// master is a user in the group that may do everything, whatever RBAC says.
func master(user string) *x509.Certificate {
	return &x509.Certificate{
		Subject:     pkix.Name{CommonName: user, Organization: []string{"system:masters"}},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
}

// issue makes a key and a certificate for it after the template.
func (k *keys) issue(template *x509.Certificate) (*identity, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	certificate, err := sign(template, k.ca, key.Public(), k.caKey)
	if err != nil {
		return nil, err
	}
	text, err := keyPEM(key)
	if err != nil {
		return nil, err
	}
	return &identity{certificate: certificate, key: key, certPEM: certificatePEM(certificate), keyPEM: text}, nil
}

func (i *identity) tls() tls.Certificate {
	return tls.Certificate{Certificate: [][]byte{i.certificate.Raw}, PrivateKey: i.key}
}

func (k *keys) write(name string, text []byte) (string, error) {
	path := filepath.Join(k.dir, name)
	return path, os.WriteFile(path, text, 0o600)
}

func newKey() (*ecdsa.PrivateKey, error) {
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// sign completes the template with what all our certificates share.
func sign(template, parent *x509.Certificate, public crypto.PublicKey, key *ecdsa.PrivateKey) (*x509.Certificate, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	// Somewhat earlier than now, in case the clock is set back meanwhile.
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(certificateLife)
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

func certificatePEM(certificate *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})
}

// keyPEM writes the form that the API server reads a service account key from.
func keyPEM(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}
