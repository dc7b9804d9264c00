package fetch

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gatewright/gatewright/gateway"
)

func TestOfASecretNothingIsKeptButWhatIsThoughtOfIt(t *testing.T) {
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web", UID: "1", ResourceVersion: "2",
			Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": "the key again"},
		},
		Type: corev1.SecretTypeTLS,
		Data: map[string][]byte{corev1.TLSCertKey: []byte("a certificate"), corev1.TLSPrivateKeyKey: []byte("the key")},
	}
	thought := gateway.CertificateOf(secret)
	if thought.KeyPair == "" || thought.Authorities == "" {
		t.Fatal("the Secret is to be of no use, so that there is something to keep")
	}
	kept, err := judgeSecret(secret)
	if err != nil {
		t.Fatal(err)
	}
	want := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1", ResourceVersion: "2"}, Type: corev1.SecretTypeTLS,
		StringData: map[string]string{keyPairProblem: thought.KeyPair, authoritiesProblem: thought.Authorities},
	}
	if diff := cmp.Diff(any(want), kept); diff != "" {
		t.Errorf("judgeSecret(): -want +got:\n%s", diff)
	}
	if diff := cmp.Diff(thought, CertificateOf(kept.(*corev1.Secret))); diff != "" {
		t.Errorf("CertificateOf(): -want +got:\n%s", diff)
	}
	again, err := judgeSecret(kept)
	if diff := cmp.Diff(kept, again); diff != "" || err != nil {
		t.Errorf("judging what was judged: error %v, -before +after:\n%s", err, diff)
	}
}

func TestOfServicesAndConfigMapsNothingIsKeptButTheirNames(t *testing.T) {
	given := Partial("ConfigMap")
	given.ObjectMeta = metav1.ObjectMeta{
		Namespace: "shop", Name: "web", UID: "1", ResourceVersion: "2", Labels: map[string]string{"a": "b"},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "somebody"}},
	}
	want := Partial("ConfigMap")
	want.ObjectMeta = metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "1", ResourceVersion: "2"}
	kept, err := nameAlone(given)
	if diff := cmp.Diff(any(want), kept); diff != "" || err != nil {
		t.Errorf("nameAlone(): error %v, -want +got:\n%s", err, diff)
	}
	if _, err := nameAlone(&corev1.ConfigMap{}); err == nil {
		t.Error("a whole ConfigMap was let in")
	}
}
