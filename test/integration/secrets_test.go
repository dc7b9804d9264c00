package integration_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// pair makes a certificate and its key, as PEM.
func pair(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "example.com"}, DNSNames: []string{"*.example.com"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0), IsCA: true, BasicConstraintsValid: true,
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: signed}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
}

// newCertificate is a Secret with a certificate of its own.
func newCertificate(t *testing.T, name string) *corev1.Secret {
	t.Helper()
	certificate, key := pair(t)
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key},
	}
}

// httpsListener is a listener with a certificate, in the namespace given or, without one, in its own.
func httpsListener(name gatewayv1.SectionName, secret gatewayv1.ObjectName, namespace ...gatewayv1.Namespace) gatewayv1.Listener {
	ref := gatewayv1.SecretObjectReference{Name: secret}
	if len(namespace) > 0 {
		ref.Namespace = &namespace[0]
	}
	return gatewayv1.Listener{
		Name: name, Port: 443, Protocol: gatewayv1.HTTPSProtocolType, Hostname: new(gatewayv1.Hostname(name + ".example.com")),
		TLS: &gatewayv1.ListenerTLSConfig{CertificateRefs: []gatewayv1.SecretObjectReference{ref}},
	}
}

// listeningTo gives a Gateway more listeners.
func listeningTo(listeners ...gatewayv1.Listener) func(*gatewayv1.Gateway) {
	return func(gw *gatewayv1.Gateway) { gw.Spec.Listeners = append(gw.Spec.Listeners, listeners...) }
}

// listenerSays are the conditions of one of a Gateway's own listeners.
func (w *world) listenerSays(gateway string, listener gatewayv1.SectionName) func() ([]string, error) {
	return func() ([]string, error) {
		gw := &gatewayv1.Gateway{}
		if err := shared.client.Get(w.Context(), w.key(gateway), gw); err != nil {
			return nil, err
		}
		for _, l := range gw.Status.Listeners {
			if l.Name == listener {
				return told(l.Conditions, gw.Generation), nil
			}
		}
		return nil, nil
	}
}

func unresolved(reason string) []string {
	return []string{"Accepted=True/Accepted", "Programmed=False/Invalid", "ResolvedRefs=False/" + reason}
}

func TestACertificateIsLookedAtWheneverItChanges(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"names": namesTemplate})
	w.gateway("edge", listeningTo(httpsListener("shop", "shop")))
	without, all := map[string]string{"names": "own"}, map[string]string{"names": "own shop"}
	becomes(t, "a certificate that is missing", unresolved("InvalidCertificateRef"), w.listenerSays("edge", "shop"))
	becomes(t, "its listener is left out", without, w.data("edge"))

	secret := newCertificate(t, "shop")
	good := secret.Data
	w.create(secret)
	becomes(t, "it comes", listenerStands, w.listenerSays("edge", "shop"))
	becomes(t, "its listener is rendered", all, w.data("edge"))

	_, otherKey := pair(t)
	change(w, secret, func(s *corev1.Secret) {
		s.Data = map[string][]byte{corev1.TLSCertKey: good[corev1.TLSCertKey], corev1.TLSPrivateKeyKey: otherKey}
	})
	becomes(t, "its key is another's", unresolved("InvalidCertificateRef"), w.listenerSays("edge", "shop"))
	becomes(t, "its listener goes", without, w.data("edge"))

	change(w, secret, func(s *corev1.Secret) { s.Data = good })
	becomes(t, "it is mended", listenerStands, w.listenerSays("edge", "shop"))
	becomes(t, "its listener is back", all, w.data("edge"))

	w.delete(secret)
	becomes(t, "it goes", unresolved("InvalidCertificateRef"), w.listenerSays("edge", "shop"))
	becomes(t, "its listener goes with it", without, w.data("edge"))

	opaque := newCertificate(t, "shop")
	opaque.Type = corev1.SecretTypeOpaque
	w.create(opaque)
	gw := &gatewayv1.Gateway{ObjectMeta: metav1.ObjectMeta{Name: "edge"}}
	change(w, gw, func(gw *gatewayv1.Gateway) {
		gw.Spec.Listeners[1].Hostname = new(gatewayv1.Hostname("cart.example.com"))
	})
	becomes(t, "a Secret of another type is none", unresolved("InvalidCertificateRef"), w.listenerSays("edge", "shop"))
}

func TestAuthoritiesForClientsAreLookedAtWheneverTheyChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"names": namesTemplate}, func(spec *v1alpha1.GatewayClassBlueprintSpec) {
		spec.Supports = &v1alpha1.Supports{Features: []string{"GatewayFrontendClientCertificateValidation"}}
	})
	w.create(newCertificate(t, "shop"))
	w.gateway("edge", listeningTo(httpsListener("shop", "shop")), func(gw *gatewayv1.Gateway) {
		gw.Spec.TLS = &gatewayv1.GatewayTLSConfig{Frontend: &gatewayv1.FrontendTLSConfig{Default: gatewayv1.TLSConfig{
			Validation: &gatewayv1.FrontendTLSValidation{CACertificateRefs: []gatewayv1.ObjectReference{{Kind: "ConfigMap", Name: "clients"}}},
		}}}
	})
	hopeless := []string{"Accepted=False/NoValidCACertificate", "Programmed=False/Invalid", "ResolvedRefs=False/InvalidCACertificateRef"}
	becomes(t, "there is no such ConfigMap", hopeless, w.listenerSays("edge", "shop"))

	clients := configMap("clients")
	clients.Data = map[string]string{"ca.crt": "not a certificate"}
	w.create(clients)
	certificate, _ := pair(t)
	is(t, "without a certificate it is of no use", hopeless, w.listenerSays("edge", "shop"))
	change(w, clients, func(c *corev1.ConfigMap) { c.Data["ca.crt"] = string(certificate) })
	becomes(t, "it is mended", listenerStands, w.listenerSays("edge", "shop"))
	change(w, clients, func(c *corev1.ConfigMap) { delete(c.Data, "ca.crt") })
	becomes(t, "it is emptied", hopeless, w.listenerSays("edge", "shop"))
	change(w, clients, func(c *corev1.ConfigMap) { c.Data = map[string]string{"ca.crt": string(certificate)} })
	becomes(t, "it is mended again", listenerStands, w.listenerSays("edge", "shop"))
	w.delete(clients)
	becomes(t, "it goes", hopeless, w.listenerSays("edge", "shop"))
}

// alone waits until what other tests have left behind is gone. It is for tests that are not parallel.
func (w *world) alone() {
	w.Helper()
	eventually(w, "what other tests have left behind is gone", func() error {
		for _, list := range []client.ObjectList{&gatewayv1.GatewayList{}, &gatewayv1.ListenerSetList{}, &gatewayv1.HTTPRouteList{}} {
			if err := shared.client.List(w.Context(), list); err != nil {
				return err
			}
			err := meta.EachListItem(list, func(item runtime.Object) error {
				if o := item.(client.Object); o.GetNamespace() != w.namespace {
					return fmt.Errorf("%T %s is there still", o, client.ObjectKeyFromObject(o))
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// This test is not parallel: it counts.
func TestASecretWakesTheGatewaysThatNameItAndNobodyElse(t *testing.T) {
	w := newWorld(t)
	w.class(templates{"names": namesTemplate}, forAllRoutes)
	secret := newCertificate(t, "shop")
	w.create(secret)
	for _, name := range []string{"a", "b", "c", "d"} {
		w.gateway(name)
	}
	w.gateway("edge", listeningTo(httpsListener("shop", "shop")))
	w.route("home", toGateway("a"))
	becomes(t, "the listener stands", listenerStands, w.listenerSays("edge", "shop"))
	becomes(t, "the route stands", map[string][]string{"Gateway/a": routeStands}, w.routeReports("home"))
	w.counts(5)
	w.alone()
	idle(t)

	before := reconciles(t)
	certificate, key := pair(t)
	change(w, secret, func(s *corev1.Secret) {
		s.Data = map[string][]byte{corev1.TLSCertKey: certificate, corev1.TLSPrivateKeyKey: key}
	})
	w.create(newCertificate(t, "other"))
	w.create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "opaque"}})
	w.create(configMap("stray"))
	w.create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "stray"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}})
	w.create(newGrant("stray", "Gateway", w.namespace, "Secret"))
	idle(t)
	few(t, since(t, before))

	before = reconciles(t)
	w.delete(secret)
	becomes(t, "the listener misses it", unresolved("InvalidCertificateRef"), w.listenerSays("edge", "shop"))
	idle(t)
	few(t, since(t, before), "gateway")
}
