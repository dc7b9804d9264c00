package apply

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gatewright/gatewright/test/kube"
)

// directory is one that somebody has written down.
type directory struct {
	accounts []*metav1.PartialObjectMetadata
	recorded []types.NamespacedName
}

func (d directory) ServiceAccount(_ context.Context, name types.NamespacedName) (*metav1.PartialObjectMetadata, error) {
	for _, account := range d.accounts {
		if client.ObjectKeyFromObject(account) == name {
			return account, nil
		}
	}
	return nil, nil
}

func (d directory) RecordedServiceAccounts(context.Context) ([]types.NamespacedName, error) {
	return d.recorded, nil
}

// account is the metadata of a ServiceAccount in the namespace "team".
func account(name string) *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
}

func TestNobodyIsImpersonatedWithoutTheRightTo(t *testing.T) {
	w := newWorld(t)
	deployer := account("deployer")
	deployer.Namespace = w.namespace
	key := client.ObjectKeyFromObject(deployer)
	w.clients = NewClients(w.client, w.withoutRights(t), client.Options{Mapper: w.client.RESTMapper()}, directory{accounts: []*metav1.PartialObjectMetadata{deployer}})
	o := order(w.configMap("h1 as "+key.String(), "one"), nil, owner)
	o.As = key
	_, _, err := w.Apply(t.Context(), o)
	want := "the controller may not act as ServiceAccount " + key.String() + ": list it under impersonation.serviceAccounts of the chart, " +
		"or grant the controller the verb impersonate on it"
	if err == nil || err.Error() != want || !WorthRetrying(err) {
		t.Errorf("want an error that is worth another try, %q, got %v", want, err)
	}
	if err := w.client.Get(t.Context(), client.ObjectKeyFromObject(o.Rendered), &corev1.ConfigMap{}); !apierrors.IsNotFound(err) {
		t.Errorf("want nothing to be there, got error %v", err)
	}
}

// withoutRights is the configuration of somebody whom the API server knows, and who may do nothing.
func (w world) withoutRights(t *testing.T) *rest.Config {
	t.Helper()
	somebody := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: w.namespace, Name: "somebody"}}
	if err := w.client.Create(t.Context(), somebody); err != nil {
		t.Fatal(err)
	}
	token := &authenticationv1.TokenRequest{}
	if err := w.client.SubResource("token").Create(t.Context(), somebody, token); err != nil {
		t.Fatal(err)
	}
	config := rest.AnonymousClientConfig(kube.Config(t))
	config.BearerToken = token.Status.Token
	return config
}

func TestWhoIsNotThereIsNotImpersonated(t *testing.T) {
	leaver := account("leaver")
	now := metav1.Now()
	leaver.DeletionTimestamp = &now
	clients := NewClients(nil, &rest.Config{}, client.Options{}, directory{accounts: []*metav1.PartialObjectMetadata{leaver}})
	for name, want := range map[string]string{
		"nobody": "is written as ServiceAccount team/nobody only, which does not exist; create it, or mend spec.serviceAccountRef of the blueprint",
		"leaver": "is written as ServiceAccount team/leaver only, which is being deleted; create it anew, or mend spec.serviceAccountRef of the blueprint",
	} {
		_, err := clients.As(t.Context(), types.NamespacedName{Namespace: "team", Name: name})
		if err == nil || err.Error() != want || !WorthRetrying(err) {
			t.Errorf("%s: want an error that is worth another try, %q, got %v", name, want, err)
		}
	}
}

func TestRefusedErrorSaysWhatToGrantToWhom(t *testing.T) {
	forbidden := func(resource, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Reason: metav1.StatusReasonForbidden, Code: 403, Message: resource + ` "x" is forbidden: ` + message}}
	}
	const user = `User "system:serviceaccount:team:deployer" `
	as := types.NamespacedName{Namespace: "team", Name: "deployer"}
	cases := map[string]struct {
		namespace string
		cause     error
		want      string
	}{
		"a right in a namespace": {"shop", forbidden("services", user+`cannot patch resource "services" in API group "" in the namespace "shop"`),
			"ServiceAccount team/deployer may not patch services: grant it create, patch and delete on them by a Role in namespace shop"},
		"a right in a group, at cluster scope": {"", forbidden("x", user+`cannot delete resource "priorityclasses" in API group "scheduling.k8s.io" at the cluster scope`),
			"ServiceAccount team/deployer may not delete priorityclasses.scheduling.k8s.io: grant it create, patch and delete on them by a ClusterRole"},
		"the right to be it": {"shop", forbidden("serviceaccounts", `User "a" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "team"`),
			"the controller may not act as ServiceAccount team/deployer: list it under impersonation.serviceAccounts of the chart, or grant the controller the verb impersonate on it"},
		"no right that is missing": {"shop", forbidden("services", "exceeded quota: canary, cannot be"),
			"the API server forbids it to ServiceAccount team/deployer: look for a quota or an admission policy"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := &RefusedError{As: as, Cause: c.cause}
			e.Namespace = c.namespace
			if diff := cmp.Diff(c.want, e.Error()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
