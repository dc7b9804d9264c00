package certificate

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// caKey is the key of a ConfigMap or Secret that holds certificates of authorities (FrontendTLSValidation.CACertificateRefs).
const caKey = "ca.crt"

// KeyPair says what is wrong with a Secret that is to hold a certificate and its key; empty if it can be used. It must be of
// type kubernetes.io/tls, and its tls.crt and tls.key must be PEM text of a chain and of the key of its first certificate
// (ListenerTLSConfig.CertificateRefs). Whether a certificate has expired is not asked: the answer would depend on the clock.
func KeyPair(secret *corev1.Secret) string {
	if secret.Type != corev1.SecretTypeTLS {
		return fmt.Sprintf("its type is not %s; create it anew with that type", corev1.SecretTypeTLS)
	}
	chain, key := data(secret, corev1.TLSCertKey), data(secret, corev1.TLSPrivateKeyKey)
	switch {
	case len(chain) == 0:
		return missing(corev1.TLSCertKey)
	case len(key) == 0:
		return missing(corev1.TLSPrivateKeyKey)
	}
	if problem := certificates(corev1.TLSCertKey, chain); problem != "" {
		return problem
	}
	// The error is not passed on: it may quote the type of a block.
	if _, err := tls.X509KeyPair(chain, key); err != nil {
		return fmt.Sprintf("its %s is not the private key, as PEM text, of the first certificate in %s", corev1.TLSPrivateKeyKey, corev1.TLSCertKey)
	}
	return ""
}

// Authorities says what is wrong with a Secret that is to hold certificates of authorities; empty if it can be used.
func Authorities(secret *corev1.Secret) string {
	return authorities(data(secret, caKey))
}

// AuthoritiesOf is Authorities for a ConfigMap, which may hold text or bytes.
func AuthoritiesOf(config *corev1.ConfigMap) string {
	if text, ok := config.Data[caKey]; ok {
		return authorities([]byte(text))
	}
	return authorities(config.BinaryData[caKey])
}

// data is what a Secret holds under a key. What is written down as stringData stands before data, as the API server takes it.
func data(secret *corev1.Secret, key string) []byte {
	if text, ok := secret.StringData[key]; ok {
		return []byte(text)
	}
	return secret.Data[key]
}

func authorities(text []byte) string {
	if len(text) == 0 {
		return missing(caKey)
	}
	return certificates(caKey, text)
}

func missing(key string) string {
	return fmt.Sprintf("it has no data under the key %s", key)
}

// certificates judges PEM text: it must hold a certificate, and all that it holds must be readable. Blocks of other types do no
// harm.
func certificates(key string, text []byte) string {
	found := false
	for rest := text; ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Sprintf("its %s holds a certificate that cannot be read", key)
		}
		found = true
	}
	if !found {
		return fmt.Sprintf("its %s is not PEM text with a certificate", key)
	}
	return ""
}
