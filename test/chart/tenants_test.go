package chart

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"

	"github.com/gatewright/gatewright/test/helm"
	"github.com/gatewright/gatewright/test/kube"
)

// people are who works in the cluster of the sample "tenants", each with a token of a ServiceAccount of that name and with rights
// as an administrator would give them.
const people = `
apiVersion: v1
kind: Namespace
metadata: {name: people}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: provider}
rules:
  - {apiGroups: [gatewright.dev], resources: [gatewayclassblueprints, gatewayclassconfigs], verbs: ["*"]}
  - {apiGroups: [gateway.networking.k8s.io], resources: [gatewayclasses], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: gateway-user}
rules:
  - {apiGroups: [gateway.networking.k8s.io], resources: [gateways, listenersets, httproutes], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: route-owner}
rules:
  - {apiGroups: [gateway.networking.k8s.io], resources: [httproutes], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: provider}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: provider}
subjects: [{kind: ServiceAccount, namespace: people, name: provider}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: routes, namespace: tenant-red}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: route-owner}
subjects: [{kind: ServiceAccount, namespace: people, name: routes}]
`

// tenant binds a tenant to its namespace.
const tenant = `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: edit, namespace: tenant-NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: ServiceAccount, namespace: people, name: NAME}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: gateways, namespace: tenant-NAME}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: gateway-user}
subjects: [{kind: ServiceAccount, namespace: people, name: NAME}]
`

// attack is a policy of the tenant red that tries to bring an object of its own along.
const attack = `
apiVersion: gatewright.dev/v1alpha1
kind: GatewayConfig
metadata: {name: attack, namespace: tenant-red}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  default:
    service:
      annotations:
        example.com/note: "x\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: stolen, namespace: vault}\n"
`

// standing is a Gateway of red's, and intruder an object of red's that stands where the Gateway's Service would.
const (
	standing = `
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: standing, namespace: tenant-red}
spec:
  gatewayClassName: tenants
  listeners: [{name: http, port: 80, protocol: HTTP}]
`
	intruder = `
apiVersion: v1
kind: Service
metadata: {name: NAME, namespace: tenant-red, labels: {a: b}}
spec: {ports: [{port: 7}]}
`
	ownRoute = `
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: own, namespace: tenant-red}
spec:
  parentRefs: [{name: edge}]
  hostnames: [red.example.com]
  rules: [{backendRefs: [{name: app, port: 8080}]}]
`
)

// town is the sample "tenants" with the rights that people have, and the controller with those that the chart gives it.
type town struct {
	*testing.T
	server *kube.Server
	admin  kubectl
	// as is kubectl with somebody's token.
	as map[string]kubectl
	// log returns what the controller has logged.
	log func() string
}

// The whole of the sample "tenants" with the rights that people have: what they may do, what they may not, what the controller
// writes for them and nothing else, and that nothing shows of what is none of their business.
func TestTenantsAndTheControllerKeepToTheirOwn(t *testing.T) {
	c := newTown(t)
	certificate, key := newCertificate(t)
	c.as["provider"].must(leaky, "apply", "-f", "-")
	c.as["red"].must(attack+"---"+planted, "apply", "-f", "-")
	c.as["blue"].must(certificate, "apply", "-f", "-")
	c.as["blue"].must(blues, "apply", "-f", "-")
	c.as["routes"].must(ownRoute, "apply", "-f", "-")

	red, blue := c.as["red"], c.as["blue"]
	is := func(k kubectl, what, path, want string) {
		t.Helper()
		k.eventually(want, "get", "--namespace=tenant-"+map[bool]string{true: "red", false: "blue"}[k == red], what, "-o", "jsonpath={"+path+"}")
	}
	is(red, "gateway/edge", ".status.conditions[?(@.type=='Programmed')].status", "True")
	is(red, "gateway/invalid", ".status.conditions[?(@.type=='Programmed')].observedGeneration", "1")
	is(red, "rendering/refused", ".status.objects[?(@.kind=='PodDisruptionBudget')].state", "Failed")
	is(red, "rendering/leaky", ".status.conditions[?(@.type=='Rendered')].status", "False")
	is(blue, "gateway/shop", ".status.conditions[?(@.type=='Programmed')].status", "True")
	is(blue, "gateway/secure", ".status.conditions[?(@.type=='Programmed')].status", "True")
	is(blue, "gateway/secure", ".status.listeners[0].conditions[?(@.type=='ResolvedRefs')].status", "True")
	is(red, "httproute/own", ".status.parents[0].conditions[?(@.type=='Accepted')].status", "True")
	service := c.obstructed()

	checkRights(t, c.as)
	checkWrites(t, c.requests(), service)
	if stolen := c.admin.must("", "get", "configmaps", "--namespace=vault", "-o", "name"); strings.Contains(stolen, "stolen") {
		t.Errorf("a string made an object: %s", stolen)
	}
	var all unstructured.UnstructuredList
	text := c.admin.must("", "get", "-A", "-o", "json",
		"gatewayclasses,gateways,httproutes,listenersets,gatewayclassblueprints,gatewayclassconfigs,gatewayconfigs,renderings,events,"+
			"services,ingresses,horizontalpodautoscalers,poddisruptionbudgets")
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatal(err)
	}
	checkCanaries(t, all.Items, key, map[string]string{"the log": c.log()})
}

// newTown starts an API server, has Helm install the chart, and starts the controller with the token and the arguments that the chart
// gives it, save that it logs all that it can.
func newTown(t *testing.T) *town {
	t.Helper()
	const namespace = "gatewright-system"
	t.Setenv("GATEWRIGHT_CANARY", envCanary)
	server := ownServer(t)
	admin := kubectl{t, filepath.Join(server.Assets, "kubectl"), server.Kubeconfig}
	sample := func(file string) string { return filepath.Join(kube.RepoRoot(), "samples", "tenants", file) }

	if _, err := helm.Run(t, []string{"KUBECONFIG=" + server.Kubeconfig}, "install", release, chartDir(), "--namespace", namespace, "--create-namespace"); err != nil {
		t.Fatal(err)
	}
	admin.must("", "wait", "--for=jsonpath={.rules[0]}", "--timeout=60s", "clusterrole/"+namespace+"-"+release+"-blueprints")
	admin.must("", "apply", "--server-side", "--force-conflicts", "-f", sample("00-namespaces.yaml"))
	admin.must(people+"---"+strings.ReplaceAll(tenant, "NAME", "red")+"---"+strings.ReplaceAll(tenant, "NAME", "blue")+"---"+vault, "apply", "-f", "-")
	c := &town{T: t, server: server, admin: admin, as: map[string]kubectl{}}
	// Called when the controller has been stopped: a watch is logged when it ends.
	t.Cleanup(c.checkSecrets)
	args := deployment(t, render(t, namespace)).Spec.Template.Spec.Containers[0].Args
	c.log = startController(t, kubeconfigWith(t, server.Kubeconfig, admin.must("", "create", "token", release, "--namespace", namespace)),
		append(args, "--zap-log-level=100"))
	for _, who := range []string{"provider", "red", "blue", "routes"} {
		admin.must("", "create", "serviceaccount", who, "--namespace=people")
		token := admin.must("", "create", "token", who, "--namespace=people")
		c.as[who] = kubectl{t, admin.path, kubeconfigWith(t, server.Kubeconfig, token)}
	}
	// The controller-manager takes a moment to extend the role "edit" by what the chart adds to it.
	c.as["red"].eventually("yes", "auth", "can-i", "create", "gatewayconfigs", "--namespace=tenant-red")

	for _, file := range []string{"10-blueprint.yaml", "20-gatewayclass.yaml", "30-provider.yaml"} {
		c.as["provider"].must("", "apply", "-f", sample(file))
	}
	c.as["red"].must("", "apply", "-f", sample("40-red.yaml"))
	c.as["blue"].must("", "apply", "-f", sample("50-blue.yaml"))
	return c
}

// obstructed has red put a Service of its own where the Gateway's would be, makes the Gateway again, and takes it away: the Gateway
// says so, and the Service stays what it is, from its uid to its version. It returns the Service's name.
func (c *town) obstructed() string {
	c.Helper()
	red := c.as["red"]
	red.must(standing, "apply", "-f", "-")
	red.must("", "wait", "--for=condition=Programmed", "--timeout=60s", "--namespace=tenant-red", "gateway/standing")
	uid := red.must("", "get", "--namespace=tenant-red", "gateway/standing", "-o", "jsonpath={.metadata.uid}")
	name := red.must("", "get", "--namespace=tenant-red", "services", "--selector=gatewright.dev/owner-uid="+uid, "-o", "jsonpath={.items[0].metadata.name}")
	red.must("", "delete", "--namespace=tenant-red", "gateway/standing", "--timeout=60s")
	red.must("", "wait", "--for=delete", "--timeout=60s", "--namespace=tenant-red", "service/"+name)

	red.must(strings.ReplaceAll(intruder, "NAME", name), "apply", "-f", "-")
	whole := func() string {
		return red.must("", "get", "--namespace=tenant-red", "service/"+name, "-o", "yaml", "--show-managed-fields")
	}
	before := whole()
	red.must(standing, "apply", "-f", "-")
	red.eventually("Failed", "get", "--namespace=tenant-red", "rendering/standing", "-o", "jsonpath={.status.objects[?(@.kind=='Service')].state}")
	said := red.must("", "get", "--namespace=tenant-red", "rendering/standing", "-o", "jsonpath={.status.objects[?(@.kind=='Service')].message}")
	if !strings.Contains(said, "exists already") {
		c.Errorf("what the Rendering says is %q, want ...exists already...", said)
	}
	red.must("", "delete", "--namespace=tenant-red", "gateway/standing", "--timeout=60s")
	if diff := cmp.Diff(before, whole()); diff != "" {
		c.Errorf("an object of red's was changed (-before +after):\n%s", diff)
	}
	return name
}

// checkRights asks with each one's token what the token is good for.
func checkRights(t *testing.T, as map[string]kubectl) {
	t.Helper()
	for question, want := range map[string]string{
		"red create gatewayconfigs tenant-red":       "yes",
		"red create gatewayconfigs tenant-blue":      "no",
		"red create gatewayclassconfigs tenant-red":  "no",
		"red patch gatewayclassconfigs tenant-red":   "no",
		"red create gatewayclassblueprints":          "no",
		"red get renderings tenant-red":              "yes",
		"red get renderings tenant-blue":             "no",
		"red patch renderings tenant-red":            "no",
		"red delete renderings tenant-red":           "no",
		"blue patch gatewayconfigs tenant-blue":      "yes",
		"blue delete gatewayconfigs tenant-red":      "no",
		"blue get secrets vault":                     "no",
		"routes create httproutes tenant-red":        "yes",
		"routes create gatewayconfigs tenant-red":    "no",
		"routes create gateways tenant-red":          "no",
		"routes get renderings tenant-red":           "no",
		"provider create gatewayclassblueprints":     "yes",
		"provider create gatewayclassconfigs people": "yes",
		"provider create gatewayconfigs tenant-red":  "no",
		"provider get secrets tenant-red":            "no",
	} {
		words := strings.Fields(question)
		args := []string{"auth", "can-i", words[1], words[2]}
		if len(words) > 3 {
			args = append(args, "--namespace="+words[3])
		}
		// The exit code says it, too, so an error is no error.
		got, _ := as[words[0]].run("", args...)
		if !strings.HasPrefix(lastLine(got), want) {
			t.Errorf("may %s? %s, want %s", question, got, want)
		}
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// requests reads in the audit log what the controller has asked for. Everything else of the log is other people's.
func (c *town) requests() []auditv1.Event {
	c.Helper()
	text, err := os.ReadFile(c.server.AuditLog)
	if err != nil {
		c.Fatal(err)
	}
	var all []auditv1.Event
	for line := range bytes.Lines(text) {
		var e auditv1.Event
		// The last line may be half written.
		if json.Unmarshal(line, &e) == nil && e.User.Username == "system:serviceaccount:gatewright-system:"+release && e.ObjectRef != nil {
			all = append(all, e)
		}
	}
	return all
}

// checkWrites looks at what the controller has written: what is permitted, and nothing to the Service of somebody else's, which it
// may only have failed to create.
func checkWrites(t *testing.T, requests []auditv1.Event, foreign string) {
	t.Helper()
	tenants := []string{"tenant-red", "tenant-blue"}
	reports := []string{"gateways/status", "httproutes/status", "listenersets/status", "gatewayconfigs/status", "gatewayclassconfigs/status", "renderings", "events"}
	rendered := []string{"configmaps", "services", "ingresses", "horizontalpodautoscalers", "poddisruptionbudgets"}
	allowed := map[string][]string{
		"":                  {"gatewayclasses", "gatewayclasses/status", "gatewayclassblueprints", "gatewayclassblueprints/status"},
		"gatewright-system": {"leases", "events", "gatewayclassconfigs/status"},
		// Events of what has no namespace.
		"default": {"events"},
	}
	for _, tenant := range tenants {
		allowed[tenant] = slices.Concat(reports, rendered)
	}
	written, refusals := map[string]bool{}, 0
	for _, e := range requests {
		if !slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb) {
			continue
		}
		resource := strings.TrimSuffix(e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")
		written[e.ObjectRef.Namespace+" "+resource] = true
		if !slices.Contains(allowed[e.ObjectRef.Namespace], resource) {
			t.Errorf("the controller wants to %s %s %s in namespace %q", e.Verb, resource, e.ObjectRef.Name, e.ObjectRef.Namespace)
		}
		if e.Verb == "deletecollection" {
			t.Errorf("the controller deletes %s of namespace %q together, and so perhaps what is not its own", resource, e.ObjectRef.Namespace)
		}
		if e.ResponseStatus != nil && e.ResponseStatus.Code == http.StatusConflict && e.ObjectRef.Name == foreign {
			refusals++
		}
	}
	for _, tenant := range tenants {
		if !written[tenant+" services"] || !written[tenant+" gateways/status"] {
			t.Errorf("the audit log does not show what the controller has written for %s: %v", tenant, written)
		}
	}
	if refusals == 0 {
		t.Errorf("the audit log does not show that the controller has tried to create Service %s, and was told that it exists", foreign)
	}
}

// checkSecrets looks at how the controller has asked for Secrets: for those of one type, together, for none by name.
func (c *town) checkSecrets() {
	if c.Failed() {
		return
	}
	secrets := func() (asked []auditv1.Event) {
		for _, e := range c.requests() {
			if e.ObjectRef.Resource == "secrets" {
				asked = append(asked, e)
			}
		}
		return asked
	}
	// Not the test's own context, which has ended.
	err := wait.PollUntilContextTimeout(context.Background(), 200*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		return len(secrets()) > 0, nil
	})
	if err != nil {
		c.Errorf("the audit log does not show how the controller asks for Secrets: %v", err)
	}
	for _, e := range secrets() {
		if e.Verb != "list" && e.Verb != "watch" || !strings.Contains(e.RequestURI, "fieldSelector=type%3Dkubernetes.io%2Ftls") {
			c.Errorf("the controller asks for Secrets with %s %s", e.Verb, e.RequestURI)
		}
	}
}

// kubectl runs kubectl with somebody's kubeconfig.
type kubectl struct {
	*testing.T
	path, kubeconfig string
}

func (k kubectl) run(stdin string, args ...string) (string, error) {
	command := exec.Command(k.path, append(args, "--kubeconfig", k.kubeconfig)...)
	command.Stdin = strings.NewReader(stdin)
	out, err := command.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

// eventually waits for an answer.
func (k kubectl) eventually(want string, args ...string) {
	k.Helper()
	var got string
	err := wait.PollUntilContextTimeout(k.Context(), 200*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		got, _ = k.run("", args...)
		return got == want, nil
	})
	if err != nil {
		k.Fatalf("kubectl %s: %s, want %s", strings.Join(args, " "), got, want)
	}
}

func (k kubectl) must(stdin string, args ...string) string {
	k.Helper()
	out, err := k.run(stdin, args...)
	if err != nil {
		k.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}
