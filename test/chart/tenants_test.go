package chart

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

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

// canaries are planted where no template and no message may find them.
const (
	vaultCanary = "canary-4f1c-vault"
	envCanary   = "canary-90ab-environment"
	vault       = `
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
)

// The whole of the sample "tenants" with the rights that people have: what they may do, what they may not, what the controller
// writes for them and nothing else, and that nothing shows of what is none of their business.
func TestTenantsAndTheControllerKeepToTheirOwn(t *testing.T) {
	const namespace = "gatewright-system"
	t.Setenv("GATEWRIGHT_TEST_KUBECONFIG", "")
	t.Setenv("GATEWRIGHT_CANARY", envCanary)
	server, err := kube.Start(os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	admin := kubectl{t, filepath.Join(server.Assets, "kubectl"), server.Kubeconfig}
	sample := func(file string) string { return filepath.Join(kube.RepoRoot(), "samples", "tenants", file) }

	if _, err := helm.Run(t, []string{"KUBECONFIG=" + server.Kubeconfig}, "install", release, chartDir(), "--namespace", namespace, "--create-namespace"); err != nil {
		t.Fatal(err)
	}
	admin.must("", "wait", "--for=jsonpath={.rules[0]}", "--timeout=60s", "clusterrole/"+namespace+"-"+release+"-blueprints")
	admin.must("", "apply", "--server-side", "--force-conflicts", "-f", sample("00-namespaces.yaml"))
	admin.must(people+"---"+strings.ReplaceAll(tenant, "NAME", "red")+"---"+strings.ReplaceAll(tenant, "NAME", "blue")+"---"+vault, "apply", "-f", "-")
	log := startController(t, kubeconfigWith(t, server.Kubeconfig, admin.must("", "create", "token", release, "--namespace", namespace)),
		deployment(t, render(t, namespace)).Spec.Template.Spec.Containers[0].Args)
	as := map[string]kubectl{}
	for _, who := range []string{"provider", "red", "blue", "routes"} {
		admin.must("", "create", "serviceaccount", who, "--namespace=people")
		token := admin.must("", "create", "token", who, "--namespace=people")
		as[who] = kubectl{t, admin.path, kubeconfigWith(t, server.Kubeconfig, token)}
	}
	// The controller-manager takes a moment to extend the role "edit" by what the chart adds to it.
	as["red"].eventually("yes", "auth", "can-i", "create", "gatewayconfigs", "--namespace=tenant-red")

	for _, file := range []string{"10-blueprint.yaml", "20-gatewayclass.yaml", "30-provider.yaml"} {
		as["provider"].must("", "apply", "-f", sample(file))
	}
	as["red"].must("", "apply", "-f", sample("40-red.yaml"))
	as["blue"].must("", "apply", "-f", sample("50-blue.yaml"))
	as["red"].must(attack, "apply", "-f", "-")
	as["red"].must("", "wait", "--for=condition=Programmed", "--timeout=60s", "--namespace=tenant-red", "gateway/edge")
	as["blue"].must("", "wait", "--for=condition=Programmed", "--timeout=60s", "--namespace=tenant-blue", "gateway/shop")

	checkRights(t, as)
	checkWrites(t, server.AuditLog, "system:serviceaccount:"+namespace+":"+release)
	if stolen := admin.must("", "get", "configmaps", "--namespace=vault", "-o", "name"); strings.Contains(stolen, "stolen") {
		t.Errorf("a string made an object: %s", stolen)
	}
	shown := log() + admin.must("", "get", "-A", "-o", "yaml",
		"gatewayclasses,gateways,httproutes,listenersets,gatewayclassblueprints,gatewayclassconfigs,gatewayconfigs,renderings,events,services,ingresses,horizontalpodautoscalers,poddisruptionbudgets")
	for _, canary := range []string{vaultCanary, envCanary} {
		if strings.Contains(shown, canary) {
			t.Errorf("%s is shown", canary)
		}
	}
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

// checkWrites reads in the audit log what the controller has written. Everything else of the log is other people's.
func checkWrites(t *testing.T, auditLog, user string) {
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
	text, err := os.ReadFile(auditLog)
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	for line := range bytes.Lines(text) {
		var e auditv1.Event
		// The last line may be half written.
		if json.Unmarshal(line, &e) != nil || e.User.Username != user || e.ObjectRef == nil ||
			!slices.Contains([]string{"create", "update", "patch", "delete", "deletecollection"}, e.Verb) {
			continue
		}
		resource := strings.TrimSuffix(e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")
		written[e.ObjectRef.Namespace+" "+resource] = true
		if !slices.Contains(allowed[e.ObjectRef.Namespace], resource) {
			t.Errorf("the controller wants to %s %s %s in namespace %q", e.Verb, resource, e.ObjectRef.Name, e.ObjectRef.Namespace)
		}
	}
	for _, tenant := range tenants {
		if !written[tenant+" services"] || !written[tenant+" gateways/status"] {
			t.Errorf("the audit log does not show what the controller has written for %s: %v", tenant, written)
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
