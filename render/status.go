package render

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/internal/manifest"
)

// Status renders the status template, which yields a map with `addresses`, a list as in Gateway.status.addresses.
func (r *Run) Status(observed Observed) Status {
	u := r.set.status
	if u == nil {
		return Status{}
	}
	cache := &observations{observed: observed, seen: map[string]liveObjects{}, missing: map[string]bool{}}
	root, pending := r.root(u, cache)
	if pending != nil {
		return Status{Pending: pending}
	}
	var tree any
	_, line, f := u.execute(root, func(printed []byte, bind manifest.Bind) (err error) {
		tree, err = manifest.DecodeTree(printed, knownKeys(bind))
		return err
	})
	if f != nil {
		pending, failed := r.judge(u, line, f)
		return Status{Pending: pending, Failed: failed}
	}
	addresses, f := addressesOf(tree)
	if f != nil {
		return Status{Failed: r.failed(u, 0, f)}
	}
	return Status{Addresses: addresses}
}

// knownKeys refuses keys that are made of values, since errors name the keys of a status that are wrong.
func knownKeys(bind manifest.Bind) manifest.Bind {
	return func(s manifest.Scalar) (any, bool, error) {
		value, ok, err := bind(s)
		if _, unnamed := value.(manifest.Unnamed); unnamed && err == nil {
			return nil, false, broken("a key of the status template must be written out")
		}
		return value, ok, err
	}
}

func addressesOf(tree any) ([]gatewayv1.GatewayStatusAddress, *fault) {
	if tree == nil {
		return nil, nil
	}
	m, ok := tree.(map[string]any)
	if !ok {
		return nil, broken("the status template must yield a map with addresses, and yields %s", describe(tree))
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key != "addresses" {
			return nil, broken("the status template must yield nothing but addresses, and yields %q", key)
		}
	}
	if m["addresses"] == nil {
		return nil, nil
	}
	list, ok := m["addresses"].([]any)
	if !ok {
		return nil, broken("addresses must be a list, and is %s", describe(m["addresses"]))
	}
	// Gateway.status.addresses holds at most 16 items.
	const most = 16
	if len(list) > most {
		return nil, broken("there are %d addresses, and a Gateway has at most %d", len(list), most)
	}
	var addresses []gatewayv1.GatewayStatusAddress
	for i, item := range list {
		address, f := addressOf(i, item)
		if f != nil {
			return nil, f
		}
		addresses = append(addresses, address)
	}
	return addresses, nil
}

func addressOf(i int, item any) (address gatewayv1.GatewayStatusAddress, f *fault) {
	m, ok := item.(map[string]any)
	if !ok {
		return address, broken("addresses[%d] must be a map with type and value, and is %s", i, describe(item))
	}
	for _, key := range slices.Sorted(maps.Keys(m)) {
		s, ok := m[key].(string)
		if !ok || s == "" {
			return address, broken("addresses[%d].%s must be a string that is not empty, and is %s", i, key, describe(m[key]))
		}
		switch key {
		case "type":
			kind := gatewayv1.AddressType(s)
			address.Type = &kind
		case "value":
			address.Value = s
		default:
			return address, broken("addresses[%d]: there is no field %q; an address has type and value", i, key)
		}
	}
	if address.Value == "" {
		return address, broken("addresses[%d] has no value", i)
	}
	return address, validAddress(i, address)
}

// validAddress holds an address to what the API accepts of a Gateway's status. One that it refuses would keep all of the
// status from being written. A missing type means IPAddress.
func validAddress(i int, a gatewayv1.GatewayStatusAddress) *fault {
	kind := gatewayv1.IPAddressType
	if a.Type != nil {
		kind = *a.Type
	}
	switch kind {
	case gatewayv1.IPAddressType:
		if len(validation.IsValidIP(field.NewPath("value"), a.Value)) > 0 {
			return broken("addresses[%d].value is no IP address; name what it is in type: %s, or mend it", i, gatewayv1.HostnameAddressType)
		}
	case gatewayv1.HostnameAddressType:
		if len(validation.IsDNS1123Subdomain(strings.TrimPrefix(a.Value, "*."))) > 0 {
			return broken("addresses[%d].value is no hostname; it must be lowercase labels of letters, digits and '-', joined by '.'", i)
		}
	case gatewayv1.NamedAddressType:
	default:
		if len(validation.IsQualifiedName(string(kind))) > 0 || !strings.Contains(string(kind), "/") {
			return broken("addresses[%d].type must be %s, %s or a name with a domain such as example.com/type",
				i, gatewayv1.IPAddressType, gatewayv1.HostnameAddressType)
		}
	}
	return nil
}
