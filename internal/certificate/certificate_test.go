package certificate_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/gatewright/gatewright/internal/certificate"
)

// planted is in everything that is judged, and must not be in what is said of it.
const planted = "canary-7f3a"

// pair returns a certificate and its key as PEM text.
func pair(t *testing.T) (chain, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: planted}, DNSNames: []string{planted + ".example.com"},
		NotBefore: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return block("CERTIFICATE", certificate), block("PRIVATE KEY", bytes)
}

func block(kind string, bytes []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes})
}

func join(texts ...[]byte) []byte {
	var all []byte
	for _, text := range texts {
		all = append(all, text...)
	}
	return all
}

func TestKeyPair(t *testing.T) {
	chain, key := pair(t)
	other, otherKey := pair(t)
	const tlsType = corev1.SecretTypeTLS
	for name, c := range map[string]struct {
		kind       corev1.SecretType
		chain, key []byte
		want       string
	}{
		"a certificate and its key are good, even once they have expired": {tlsType, chain, key, ""},
		"a chain is good":                          {tlsType, join(chain, other), key, ""},
		"parameters before a key are good":         {tlsType, chain, join(block("EC PARAMETERS", []byte{1}), key), ""},
		"text between the blocks is passed over":   {tlsType, join([]byte("subject: x\n"), chain), key, ""},
		"another type of Secret is named":          {corev1.SecretTypeOpaque, chain, key, "its type is not kubernetes.io/tls; create it anew with that type"},
		"a missing certificate is named":           {tlsType, nil, key, "it has no data under the key tls.crt"},
		"a missing key is named":                   {tlsType, chain, nil, "it has no data under the key tls.key"},
		"text that is no PEM is named":             {tlsType, []byte(planted), key, "its tls.crt is not PEM text with a certificate"},
		"a certificate that is cut off is named":   {tlsType, block("CERTIFICATE", []byte(planted)), key, "its tls.crt holds a certificate that cannot be read"},
		"a key in place of a certificate is named": {tlsType, key, key, "its tls.crt is not PEM text with a certificate"},
		"the key of another certificate is named": {tlsType, chain, otherKey,
			"its tls.key is not the private key, as PEM text, of the first certificate in tls.crt"},
		"a key that is no PEM is named": {tlsType, chain, []byte(planted),
			"its tls.key is not the private key, as PEM text, of the first certificate in tls.crt"},
		"the key of a certificate further down is named": {tlsType, join(other, chain), key,
			"its tls.key is not the private key, as PEM text, of the first certificate in tls.crt"},
	} {
		t.Run(name, func(t *testing.T) {
			secret := &corev1.Secret{Type: c.kind, Data: map[string][]byte{}}
			if c.chain != nil {
				secret.Data["tls.crt"] = c.chain
			}
			if c.key != nil {
				secret.Data["tls.key"] = c.key
			}
			got := certificate.KeyPair(secret)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("problem (-want +got):\n%s", diff)
			}
			if strings.Contains(got, planted) {
				t.Errorf("problem repeats content: %s", got)
			}
		})
	}
}

func TestAuthorities(t *testing.T) {
	chain, key := pair(t)
	other, _ := pair(t)
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"a certificate is good":         {chain, ""},
		"several certificates are good": {join(chain, other), ""},
		"nothing is named":              {nil, "it has no data under the key ca.crt"},
		"text that is no PEM is named":  {[]byte(planted), "its ca.crt is not PEM text with a certificate"},
		"a key alone is named":          {key, "its ca.crt is not PEM text with a certificate"},
		"a second certificate that is cut off is named": {join(chain, block("CERTIFICATE", []byte(planted))),
			"its ca.crt holds a certificate that cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]string{
				"Secret":              certificate.Authorities(&corev1.Secret{Data: map[string][]byte{"ca.crt": c.text}}),
				"Secret, as text":     certificate.Authorities(&corev1.Secret{StringData: map[string]string{"ca.crt": string(c.text)}}),
				"ConfigMap":           certificate.AuthoritiesOf(&corev1.ConfigMap{Data: map[string]string{"ca.crt": string(c.text)}}),
				"ConfigMap, as bytes": certificate.AuthoritiesOf(&corev1.ConfigMap{BinaryData: map[string][]byte{"ca.crt": c.text}}),
			}
			want := map[string]string{"Secret": c.want, "Secret, as text": c.want, "ConfigMap": c.want, "ConfigMap, as bytes": c.want}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}
