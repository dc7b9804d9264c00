package gateway

import (
	"fmt"
	"net/netip"
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/gateway-api/pkg/features"

	"github.com/gatewright/gatewright/internal/verdict"
)

// unsupportedAddress is the verdict on spec.addresses; nil if there is nothing against them. A blueprint that does not claim to
// put Gateways at given addresses supports no type of them; one that does supports those of Gateway API, IPAddress and Hostname.
// Asking for just any address of a type is a feature of its own.
func unsupportedAddress(gw *gatewayv1.Gateway, supported featureSet) *verdict.Verdict {
	for i, address := range gw.Spec.Addresses {
		path := fmt.Sprintf("spec.addresses[%d]", i)
		switch {
		case !knownType(address):
			return new(verdict.No(string(gatewayv1.GatewayReasonUnsupportedAddress),
				"%s.type is not supported; write %s or %s", path, gatewayv1.IPAddressType, gatewayv1.HostnameAddressType))
		case !assignable(address, supported):
			return new(verdict.No(string(gatewayv1.GatewayReasonUnsupportedAddress),
				"%s: the GatewayClass does not support given addresses; remove it", path))
		}
	}
	return nil
}

func knownType(a gatewayv1.GatewaySpecAddress) bool {
	kind := valueOr(a.Type, gatewayv1.IPAddressType)
	return kind == gatewayv1.IPAddressType || kind == gatewayv1.HostnameAddressType
}

func assignable(a gatewayv1.GatewaySpecAddress, supported featureSet) bool {
	return a.Value == "" || supported[features.SupportGatewayStaticAddresses]
}

// supportedAddresses are copies of those in spec.addresses that nothing is said against by unsupportedAddress.
func supportedAddresses(gw *gatewayv1.Gateway, supported featureSet) []gatewayv1.GatewaySpecAddress {
	var out []gatewayv1.GatewaySpecAddress
	for _, address := range gw.Spec.Addresses {
		if knownType(address) && assignable(address, supported) {
			out = append(out, *address.DeepCopy())
		}
	}
	return out
}

// addressable is the Gateway's condition Programmed as far as spec.addresses decides it before anything is rendered.
func addressable(gw *gatewayv1.Gateway, supported featureSet) verdict.Verdict {
	for i, address := range gw.Spec.Addresses {
		if address.Value == "" && !supported[features.SupportGatewayAddressEmpty] {
			return verdict.No(string(gatewayv1.GatewayReasonAddressNotAssigned),
				"spec.addresses[%d]: the GatewayClass does not assign addresses by type alone; write a value, or remove the address", i)
		}
		if address.Value != "" && valueOr(address.Type, gatewayv1.IPAddressType) == gatewayv1.IPAddressType {
			if _, err := netip.ParseAddr(address.Value); err != nil {
				return verdict.No(string(gatewayv1.GatewayReasonAddressNotUsable),
					"spec.addresses[%d].value is not an IP address; correct it, or write type: %s", i, gatewayv1.HostnameAddressType)
			}
		}
	}
	return gatewayProgrammed
}

// AddressesAssigned is the Gateway's condition Programmed as far as the addresses decide it that the data plane assigned, once
// what was rendered is ready: each value in spec.addresses must be among them, and each type that stands there without a value
// (GatewaySpec.Addresses). The verdict against names the first field that is not met.
func AddressesAssigned(gw *gatewayv1.Gateway, assigned []gatewayv1.GatewayStatusAddress) verdict.Verdict {
	for i, asked := range gw.Spec.Addresses {
		kind := valueOr(asked.Type, gatewayv1.IPAddressType)
		met := slices.ContainsFunc(assigned, func(a gatewayv1.GatewayStatusAddress) bool {
			return valueOr(a.Type, gatewayv1.IPAddressType) == kind && (asked.Value == "" || sameAddress(a.Value, asked.Value))
		})
		switch {
		case met:
		case asked.Value == "":
			return verdict.No(string(gatewayv1.GatewayReasonAddressNotAssigned),
				"spec.addresses[%d]: no address of this type is assigned yet", i)
		default:
			return verdict.No(string(gatewayv1.GatewayReasonAddressNotUsable),
				"spec.addresses[%d]: the data plane does not use this address; name another one, or remove it", i)
		}
	}
	return gatewayProgrammed
}

// sameAddress compares IP addresses by what they mean: one may be written in several ways.
func sameAddress(a, b string) bool {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	if errX != nil || errY != nil {
		return a == b
	}
	return x == y
}
