package chart

import (
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"maps"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Canaries are planted where no template, no message and no metric may find them, save where a comment says.
const (
	vaultCanary = "canary-4f1c-vault"
	envCanary   = "canary-90ab-environment"
	// What blue says is shown in blue's namespace, where its objects and Renderings are.
	blueCanary = "canary-7d20-blue"
	// What is marked as sensitive is shown to nobody.
	sensitiveCanary = "canary-c3e8-sensitive"
	// What the API server, the blueprint's schema or a template refuses is quoted by none of them. These two are among the values
	// that a Rendering shows.
	refusedCanary = "canary-51bd-refused"
	invalidCanary = "canary-e67a-invalid-since-it-is-so-long"
	failingCanary = "canary-2b94-failing"
)

const vault = `
apiVersion: v1
kind: Namespace
metadata: {name: vault}
---
apiVersion: v1
kind: Secret
metadata: {name: app, namespace: vault}
stringData: {password: canary-4f1c-vault}
---
apiVersion: v1
kind: Secret
metadata: {name: app, namespace: tenant-blue}
stringData: {password: canary-4f1c-vault}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: app, namespace: vault}
data: {password: canary-4f1c-vault}
`

// leaky is a blueprint of which each template fails because of a value, in a way that would quote it if functions were left as they
// are. It takes what is sensitive, too, and none of it is ever rendered.
const leaky = `
apiVersion: gatewright.dev/v1alpha1
kind: GatewayClassBlueprint
metadata: {name: leaky}
spec:
  values:
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
        properties:
          plain: {type: string}
          hidden: {type: string, format: password}
          size: {type: string, maxLength: 32}
  gatewayTemplate:
    resourceTemplates:
      key: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: {{ get (dict .Values.plain 1) .Values.hidden | required \"it must be there\" }}}"
      version: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata: {a: {{ semverCompare .Values.hidden .Values.plain | quote }}}"
      pattern: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata: {a: {{ mustRegexFind (print .Values.hidden \"(\") .Values.plain }}}"
      json: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\ndata: {a: {{ (mustFromJson .Values.plain).a }}}"
      yaml: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e}\ndata: {a: {{ (fromYaml (print \"{\" .Values.hidden)).a }}}"
      base64: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: f}\ndata: {a: {{ b64dec .Values.hidden }}}"
      fail: "{{ if .Values.hidden }}{{ fail \"it must not be there\" }}{{ end }}\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: g}"
      type: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: h}\nimmutable: {{ .Values.plain | quote }}\ndata: {a: {{ .Values.hidden | quote }}}"
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: leaky}
spec:
  controllerName: gatewright.dev/controller
  parametersRef: {group: gatewright.dev, kind: GatewayClassBlueprint, name: leaky}
`

// planted is what red and blue say that is to be seen by nobody, or by nobody else.
const planted = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: leaky, namespace: tenant-red}
spec:
  gatewayClassName: leaky
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: gatewright.dev/v1alpha1
kind: GatewayConfig
metadata: {name: leaky, namespace: tenant-red}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: leaky}]
  default: {plain: canary-2b94-failing, hidden: canary-c3e8-sensitive}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: invalid, namespace: tenant-red}
spec:
  gatewayClassName: leaky
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: gatewright.dev/v1alpha1
kind: GatewayConfig
metadata: {name: invalid, namespace: tenant-red}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: invalid}]
  default: {size: canary-e67a-invalid-since-it-is-so-long}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: refused, namespace: tenant-red}
spec:
  gatewayClassName: tenants
  listeners: [{name: http, port: 80, protocol: HTTP}]
---
apiVersion: gatewright.dev/v1alpha1
kind: GatewayConfig
metadata: {name: refused, namespace: tenant-red}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: refused}]
  default:
    disruption: {maxUnavailable: canary-51bd-refused}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: failing, namespace: tenant-red}
spec:
  parentRefs: [{name: edge}]
  rules:
    - filters: [{type: RequestHeaderModifier, requestHeaderModifier: {set: [{name: x, value: canary-2b94-failing}]}}]
      backendRefs: [{name: app, port: 8080}]
`

const blues = `
apiVersion: gatewright.dev/v1alpha1
kind: GatewayConfig
metadata: {name: blues, namespace: tenant-blue}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: shop}]
  default:
    service: {annotations: {example.com/note: canary-7d20-blue}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: secure, namespace: tenant-blue}
spec:
  gatewayClassName: tenants
  listeners:
    - {name: https, port: 443, protocol: HTTPS, hostname: secure.blue.example.com, tls: {certificateRefs: [{name: certificate}]}}
`

// newCertificate is a Secret of blue's, and the lines of its key, which are canaries as well.
func newCertificate(t *testing.T) (secret string, key []string) {
	t.Helper()
	private := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "blog.blue.example.com"},
		NotBefore: time.Unix(0, 0), NotAfter: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	keyPEM := pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
	secret = textOf(t, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata": map[string]any{"name": "certificate", "namespace": "tenant-blue"},
		"data": map[string]any{
			"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate}),
			"tls.key": keyPEM,
		},
	})
	lines := strings.Split(strings.TrimSpace(string(keyPEM)), "\n")
	// As it stands in PEM, and as it stands in the Secret.
	return secret, append(lines[1:len(lines)-1], base64.StdEncoding.EncodeToString(keyPEM)[:80])
}

// writtenByPeople are the kinds whose spec is somebody's own words; what is looked at is what the controller adds to them.
var writtenByPeople = []string{
	"GatewayClass", "Gateway", "HTTPRoute", "ListenerSet", "GatewayClassBlueprint", "GatewayClassConfig", "GatewayConfig",
}

// checkCanaries looks for canaries in what can be seen of the controller: all objects, by kind, and texts such as its log.
func checkCanaries(t *testing.T, objects []unstructured.Unstructured, key []string, texts map[string]string) {
	t.Helper()
	shown := maps.Clone(texts)
	for _, o := range objects {
		seen := o.Object
		if slices.Contains(writtenByPeople, o.GetKind()) {
			seen = map[string]any{"status": o.Object["status"]}
		}
		name := o.GetNamespace() + "/" + o.GetName()
		if status, found := o.Object["status"].(map[string]any); found && o.GetKind() == "Rendering" {
			shown["Rendering (values) "+name] = textOf(t, []any{status["values"], status["rendered"]})
			delete(status, "values")
			delete(status, "rendered")
		}
		shown[o.GetKind()+" "+name] = textOf(t, seen)
	}
	all := append([]string{
		vaultCanary, envCanary, blueCanary, sensitiveCanary, refusedCanary, invalidCanary, failingCanary,
	}, key...)
	for where, text := range shown {
		for _, canary := range all {
			if strings.Contains(text, canary) && !ownValues(where, canary) {
				t.Errorf("%s shows %s", where, canary)
			}
		}
	}
}

func textOf(t *testing.T, tree any) string {
	t.Helper()
	text, err := json.Marshal(tree)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// ownValues says whether a canary may be shown: a Rendering has the values, and a rendered object what a template makes of them,
// in the namespace of whoever said them.
func ownValues(where, canary string) bool {
	switch canary {
	case blueCanary:
		return strings.HasPrefix(where, "Rendering (values) tenant-blue/") || strings.HasPrefix(where, "Service tenant-blue/")
	case refusedCanary, invalidCanary, failingCanary:
		return strings.HasPrefix(where, "Rendering (values) tenant-red/")
	}
	return false
}
