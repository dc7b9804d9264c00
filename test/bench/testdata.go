package bench

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/gatewright/gatewright/api/v1alpha1"
)

// newBlueprint renders six objects for a Gateway, one of which reads another's live state.
func newBlueprint() *v1alpha1.GatewayClassBlueprint {
	b := &v1alpha1.GatewayClassBlueprint{}
	b.Spec.Values = &v1alpha1.BlueprintValues{ValuesBlocks: v1alpha1.ValuesBlocks{Default: minReplicas(2)}}
	b.Spec.GatewayTemplate = &v1alpha1.GatewayTemplate{ResourceTemplates: map[string]string{
		"shadow": `apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata:
  name: {{ .Gateway.metadata.name }}-shadow
spec:
  gatewayClassName: inner
  listeners: {{ toYaml .Gateway.spec.listeners | nindent 2 }}
`,
		"ingress": `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  defaultBackend:
    service:
      name: {{ .Gateway.metadata.name }}
      port:
        number: 80
`,
		"hpa": `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  minReplicas: {{ .Values.minReplicas }}
  maxReplicas: 5
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ .Gateway.metadata.name }}
`,
		"pdb": `apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .Gateway.metadata.name }}
spec:
  minAvailable: 1
  selector:
    matchLabels:
      app: {{ .Gateway.metadata.name }}
`,
		"config": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}
data:
  hostnames: {{ join "," .Hostnames.Union | quote }}
`,
		"derived": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-derived
data:
  config: {{ (index .Resources.config 0).metadata.uid }}
`,
	}}
	return b
}

// minReplicas is a block of values that one template reads.
func minReplicas(n int) *apiextensionsv1.JSON {
	return &apiextensionsv1.JSON{Raw: fmt.Appendf(nil, `{"minReplicas":%d}`, n)}
}

// listeningBlueprint renders one object for a Gateway, which lists its listeners.
func listeningBlueprint() *v1alpha1.GatewayClassBlueprint {
	b := &v1alpha1.GatewayClassBlueprint{}
	b.Spec.GatewayTemplate = &v1alpha1.GatewayTemplate{ResourceTemplates: map[string]string{"listeners": `apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}
data:
  hostnames: {{ join "," .Hostnames.Union | quote }}
`}}
	return b
}

// bigBlueprint renders ten objects for a Gateway.
func bigBlueprint() *v1alpha1.GatewayClassBlueprint {
	b := newBlueprint()
	for i := range 4 {
		b.Spec.GatewayTemplate.ResourceTemplates[fmt.Sprintf("more-%d", i)] = fmt.Sprintf(`apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ .Gateway.metadata.name }}-%d
data:
  text: {{ repeat 50 "0123456789" | quote }}
`, i)
	}
	return b
}

func newClass(name string) *gatewayv1.GatewayClass {
	group := gatewayv1.Group(v1alpha1.GroupName)
	return &gatewayv1.GatewayClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: gatewayv1.GatewayClassSpec{
		ControllerName: v1alpha1.ControllerName,
		ParametersRef:  &gatewayv1.ParametersReference{Group: group, Kind: v1alpha1.KindGatewayClassBlueprint, Name: name},
	}}
}

func newGateway(namespace, class string, i int) *gatewayv1.Gateway {
	hostname := gatewayv1.Hostname(fmt.Sprintf("h%d.example.com", i))
	return &gatewayv1.Gateway{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("gw-%d", i)},
		Spec: gatewayv1.GatewaySpec{GatewayClassName: gatewayv1.ObjectName(class), Listeners: []gatewayv1.Listener{
			{Name: "http", Port: 80, Protocol: gatewayv1.HTTPProtocolType, Hostname: &hostname},
		}},
	}
}
