package apply

import (
	"context"
	"fmt"
	"slices"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/gatewright/gatewright/controllers/internal/plan"
)

// Directory tells about ServiceAccounts.
type Directory interface {
	// ServiceAccount returns a ServiceAccount, or nil if there is none.
	ServiceAccount(ctx context.Context, name types.NamespacedName) (*metav1.PartialObjectMetadata, error)
	// RecordedServiceAccounts returns those as which blueprints record that their objects were applied.
	RecordedServiceAccounts(ctx context.Context) ([]types.NamespacedName, error)
}

// Clients are the clients that write rendered objects: the controller's own, and one for each ServiceAccount that a blueprint names.
// The latter impersonate it, so that the API server permits what the ServiceAccount may do and no more.
type Clients struct {
	own       client.Client
	config    *rest.Config
	options   client.Options
	directory Directory

	mu           sync.Mutex
	impersonated map[types.NamespacedName]client.Client
}

// NewClients returns clients that reach the API server as a configuration and options say, and that refuse fields which a kind does not
// have: such a field is a mistake in a template, and must be heard of instead of being dropped.
func NewClients(own client.Client, config *rest.Config, options client.Options, directory Directory) *Clients {
	return &Clients{
		own: strict(own), config: config, options: options, directory: directory,
		impersonated: map[types.NamespacedName]client.Client{},
	}
}

func strict(c client.Client) client.Client {
	return client.WithFieldValidation(c, metav1.FieldValidationStrict)
}

// As returns the client of a ServiceAccount, and the controller's own for none. The error is an *IdentityError if there is no such
// ServiceAccount: the API server would let us impersonate one that is not there.
func (c *Clients) As(ctx context.Context, account types.NamespacedName) (client.Client, error) {
	if account == (types.NamespacedName{}) {
		return c.own, nil
	}
	found, err := c.directory.ServiceAccount(ctx, account)
	switch {
	case err != nil:
		return nil, err
	case found == nil:
		return nil, missing(account)
	case found.DeletionTimestamp != nil:
		return nil, leaving(account)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.impersonated[account]; known != nil {
		return known, nil
	}
	// Connections are shared: the transport is chosen by address and credentials, which are the controller's own.
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: serviceaccount.MakeUsername(account.Namespace, account.Name)}
	made, err := client.New(config, c.options)
	if err != nil {
		return nil, fmt.Errorf("making a client for ServiceAccount %s: %w", account, err)
	}
	c.impersonated[account] = strict(made)
	return c.impersonated[account], nil
}

// Of returns the client that may delete a live object, that of the identity as which it was applied, and which that is. The object's word
// alone is not enough, since others can write to it: a blueprint must have recorded the ServiceAccount, and nobody may have changed what
// says which it is, unless no blueprint has ever named one. The error is an *IdentityError if that cannot be told.
func (c *Clients) Of(ctx context.Context, live *unstructured.Unstructured) (client.Client, types.NamespacedName, error) {
	account, known := plan.AppliedAs(live)
	if known && account == (types.NamespacedName{}) {
		return c.own, account, nil
	}
	recorded, err := c.directory.RecordedServiceAccounts(ctx)
	switch {
	case err != nil:
		return nil, account, err
	case !known && len(recorded) == 0:
		return c.own, types.NamespacedName{}, nil
	case !known:
		return nil, account, untold()
	case !slices.Contains(recorded, account):
		return nil, account, unrecorded(account)
	}
	as, err := c.As(ctx, account)
	return as, account, err
}

// IdentityError says that an object is not written since it is not known as whom it may be, or since there is no such ServiceAccount. It
// is never written as the controller instead.
type IdentityError struct {
	// ServiceAccount in question; empty if it is not known.
	ServiceAccount types.NamespacedName
	problem        string
}

func (e *IdentityError) Error() string { return e.problem }

func missing(account types.NamespacedName) *IdentityError {
	return &IdentityError{account, fmt.Sprintf(
		"is written as ServiceAccount %s only, which does not exist; create it, or mend spec.serviceAccountRef of the blueprint", account)}
}

func leaving(account types.NamespacedName) *IdentityError {
	return &IdentityError{account, fmt.Sprintf(
		"is written as ServiceAccount %s only, which is being deleted; create it anew, or mend spec.serviceAccountRef of the blueprint", account)}
}

func unrecorded(account types.NamespacedName) *IdentityError {
	return &IdentityError{account, fmt.Sprintf(
		"was applied as ServiceAccount %s, which no blueprint names any more; "+
			"name it in spec.serviceAccountRef of a blueprint, or delete the object yourself", account)}
}

func untold() *IdentityError {
	return &IdentityError{types.NamespacedName{}, "somebody changed its annotation gatewright.dev/rendered, " +
		"which says as whom it was applied; delete the object yourself"}
}
