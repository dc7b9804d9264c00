package integration_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/gateway-api/pkg/consts"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

func TestTheParametersOfAGatewayMustBeAGatewayConfigBesideIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"names": namesTemplate})
	refused := []string{"Accepted=False/InvalidParameters", "Programmed=False/Invalid"}
	gw := w.gateway("edge", func(gw *gatewayv1.Gateway) {
		gw.Spec.Infrastructure = &gatewayv1.GatewayInfrastructure{ParametersRef: &gatewayv1.LocalParametersReference{
			Group: v1alpha1.GroupName, Kind: v1alpha1.KindGatewayConfig, Name: "parameters",
		}}
	})
	becomes(t, "there is no such object", refused, w.gatewayConditions("edge"))
	parameters := config("parameters", target("Gateway", "edge"), v1alpha1.ValuesBlocks{})
	w.create(parameters)
	becomes(t, "it comes", programmed, w.gatewayConditions("edge"))
	w.delete(parameters)
	becomes(t, "it goes", refused, w.gatewayConditions("edge"))
	change(w, gw, func(gw *gatewayv1.Gateway) { gw.Spec.Infrastructure = nil })
	becomes(t, "it is not named any more", programmed, w.gatewayConditions("edge"))
	change(w, gw, func(gw *gatewayv1.Gateway) {
		gw.Spec.Infrastructure = &gatewayv1.GatewayInfrastructure{ParametersRef: &gatewayv1.LocalParametersReference{Kind: "ConfigMap", Name: "edge"}}
	})
	becomes(t, "another kind is named", refused, w.gatewayConditions("edge"))
}

func TestMarksOfAGatewayAreOnWhatIsRenderedForIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"names": namesTemplate})
	gw := w.gateway("edge", func(gw *gatewayv1.Gateway) {
		gw.Spec.Infrastructure = &gatewayv1.GatewayInfrastructure{
			Labels:      map[gatewayv1.LabelKey]gatewayv1.LabelValue{"example.com/team": "shop"},
			Annotations: map[gatewayv1.AnnotationKey]gatewayv1.AnnotationValue{"example.com/cost": "low"},
		}
	})
	marks := func() (map[string]string, error) {
		got, err := w.state("edge")()
		return map[string]string{
			"team": got.Labels["example.com/team"], "cost": got.Annotations["example.com/cost"],
			"gateway": got.Labels[gatewayv1.GatewayNameLabelKey], "class": got.Labels[gatewayv1.GatewayClassNameLabelKey],
		}, err
	}
	want := map[string]string{"team": "shop", "cost": "low", "gateway": "edge", "class": w.name}
	becomes(t, "they are there from the beginning", want, marks)
	change(w, gw, func(gw *gatewayv1.Gateway) {
		gw.Spec.Infrastructure.Labels["example.com/team"] = "cart"
		gw.Spec.Infrastructure.Annotations = nil
	})
	want["team"], want["cost"] = "cart", ""
	becomes(t, "they follow, and what is taken back goes", want, marks)
}

// addressesTemplate tells the addresses that the values name, split at commas.
const addressesTemplate = `
addresses:
{{- range splitList "," .Values.addresses }}
  - type: IPAddress
    value: {{ . }}
{{- end }}
`

func TestAGatewayIsProgrammedOnlyWithTheAddressesThatItAsksFor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.class(templates{"names": namesTemplate}, with(defaults(map[string]string{"addresses": "192.0.2.1"})),
		func(spec *v1alpha1.GatewayClassBlueprintSpec) {
			spec.GatewayTemplate.Status = &v1alpha1.StatusTemplate{Template: addressesTemplate}
			spec.Supports = &v1alpha1.Supports{Features: []string{"GatewayStaticAddresses"}}
		})
	gw := w.gateway("edge")
	becomes(t, "any address is good", programmed, w.gatewayConditions("edge"))
	asks := func(addresses ...string) {
		change(w, gw, func(gw *gatewayv1.Gateway) {
			gw.Spec.Addresses = nil
			for _, address := range addresses {
				gw.Spec.Addresses = append(gw.Spec.Addresses, gatewayv1.GatewaySpecAddress{Type: new(gatewayv1.IPAddressType), Value: address})
			}
		})
	}
	asks("192.0.2.1", "192.0.2.2")
	becomes(t, "one is missing", []string{"Accepted=True/Accepted", "Programmed=False/AddressNotUsable"}, w.gatewayConditions("edge"))
	w.says("edge", "spec.addresses[1]")
	w.create(config("addresses", target("Gateway", "edge"), defaults(map[string]string{"addresses": "192.0.2.1,192.0.2.2"})))
	becomes(t, "it is assigned", programmed, w.gatewayConditions("edge"))
	becomes(t, "the status tells both", []string{"192.0.2.1", "192.0.2.2"}, func() ([]string, error) {
		err := shared.client.Get(t.Context(), client.ObjectKeyFromObject(gw), gw)
		var values []string
		for _, address := range gw.Status.Addresses {
			values = append(values, address.Value)
		}
		return values, err
	})
}

func TestListenerSetsOfAClassThatIsNotAcceptedAreNotEither(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	blueprint := w.class(templates{"broken": "{{ end }}"})
	w.gateway("edge", admitting(gatewayv1.NamespacesFromSame))
	w.listenerSet("shop", "edge", "shop.example.com")
	refused := []string{"Accepted=False/ParentNotAccepted", "Programmed=False/ParentNotAccepted"}
	becomes(t, "nothing is accepted", refused, conditionsOnly(w.setReport("shop")))
	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates = templates{"names": namesTemplate}
	})
	becomes(t, "mended, it stands", setStands, w.setReport("shop"))
	change(w, blueprint, func(b *v1alpha1.GatewayClassBlueprint) {
		b.Spec.GatewayTemplate.ResourceTemplates = templates{"broken": "{{ end }}"}
	})
	w.listenerSet("late", "edge", "late.example.com")
	becomes(t, "while the last good blueprint serves, so do sets that come", setStands, w.setReport("late"))
}

// This test is not parallel: what it says of Gateway API concerns all classes.
func TestAClassSaysWhatItSupports(t *testing.T) {
	w := newWorld(t)
	w.class(templates{"names": namesTemplate}, forAllRoutes)
	says := func() ([]string, error) {
		class := &gatewayv1.GatewayClass{}
		err := shared.client.Get(t.Context(), client.ObjectKey{Name: w.name}, class)
		return told(class.Status.Conditions, class.Generation), err
	}
	supported := []string{"Accepted=True/Accepted", "SupportedVersion=True/SupportedVersion"}
	becomes(t, "the version is supported", supported, says)

	features, err := w.features()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSorted(features) || !slices.Contains(features, "ListenerSet") || !slices.Contains(features, "UDPRoute") {
		t.Errorf("features are %s; want them sorted, with those of every controller and those of the blueprint", strings.Join(features, ", "))
	}

	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "udproutes." + gatewayv1.GroupName}}
	was := ""
	change(w, crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		was = crd.Annotations[consts.BundleVersionAnnotation]
		crd.Annotations[consts.BundleVersionAnnotation] = "v1.7.0"
	})
	t.Cleanup(func() { w.installGatewayAPI() })
	idle(t)
	is(t, "the next version is supported, too", supported, says)
	change(w, crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Annotations[consts.BundleVersionAnnotation] = "v2.0.0"
	})
	becomes(t, "another is not, and the class is kept", []string{"Accepted=True/Accepted", "SupportedVersion=False/UnsupportedVersion"}, says)
	w.gateway("edge")
	becomes(t, "its Gateways are served all the same", programmed, w.gatewayConditions("edge"))
	change(w, crd, func(crd *apiextensionsv1.CustomResourceDefinition) {
		crd.Annotations[consts.BundleVersionAnnotation] = was
	})
	becomes(t, "the version is supported again", supported, says)
	if diff := cmp.Diff(consts.BundleVersion, was); diff != "" {
		t.Errorf("version of the CRDs: -want +got:\n%s", diff)
	}
}
