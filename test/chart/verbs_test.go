package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gatewright/gatewright/test/controller"
	"github.com/gatewright/gatewright/test/helm"
)

// right is one verb on one resource, or "resource/subresource", of a group.
type right struct{ group, resource, verb string }

func (r right) String() string {
	return fmt.Sprintf("%s %s.%s", r.verb, r.resource, r.group)
}

// Everything that the chart gives the controller is needed: without any one of these rights, something is refused that the controller
// asks for in its work. What it reads is taken away before it starts, all kinds at once, since it asks for all of them then; what it
// writes is taken away one by one while it runs.
func TestEachRightThatIsTakenAwayIsMissed(t *testing.T) {
	p := newPowers(t)
	var useless []right
	try := func(taken []right, act func()) {
		t.Helper()
		p.without(taken...)
		act()
		useless = append(useless, p.missed(taken)...)
	}
	for _, s := range p.atStart() {
		for name, value := range s.env {
			t.Setenv(name, value)
		}
		var stop func()
		try(s.taken, func() {
			s.before()
			stop = p.run()
		})
		stop()
	}
	p.without()
	p.run()
	number := 100
	for _, taken := range p.whileRunning() {
		number++
		before, act := p.provoke(taken, number)
		before()
		try([]right{taken}, act)
		p.without()
	}
	if len(useless) > 0 {
		t.Errorf("nothing is refused without the rights %v; the chart should not give them", useless)
	}
}

// start is a start of the controller without some rights.
type start struct {
	taken  []right
	env    map[string]string
	before func()
}

// ofParents are the groups of what the controller reads from its start on; the other kinds it reads once something is rendered.
var ofParents = []string{"gatewright.dev", "gateway.networking.k8s.io", "apiextensions.k8s.io", ""}

// atStart are the rights that are missed when the controller starts, those together that are missed at the same moment.
func (p *powers) atStart() []start {
	fresh := func() {
		err := p.kubernetes.CoordinationV1().Leases(p.namespace).DeleteCollection(p.Context(), metav1.DeleteOptions{}, metav1.ListOptions{})
		if err != nil {
			p.Fatal(err)
		}
	}
	isRead := func(verb string, parents bool) []right {
		return p.all(func(r right) bool {
			return r.verb == verb && r.group != "coordination.k8s.io" && slices.Contains(ofParents, r.group) == parents
		})
	}
	// Where an API server sends what there is along with a watch, only older ones are asked for lists.
	lists := map[string]string{"KUBE_FEATURE_WatchListClient": "false"}
	streams := map[string]string{"KUBE_FEATURE_WatchListClient": "true"}
	starts := []start{
		{isRead("list", true), lists, fresh},
		{isRead("watch", true), streams, fresh},
		{isRead("list", false), streams, func() { fresh(); p.apply(stackOf(1, "s-1", "{}")) }},
		{isRead("watch", false), streams, fresh},
	}
	for _, taken := range p.all(func(r right) bool {
		return r.group == "coordination.k8s.io" && r.verb != "update" || r == right{"", "events", "create"}
	}) {
		starts = append(starts, start{[]right{taken}, nil, fresh})
	}
	return starts
}

// whileRunning are the rights that are missed at some event.
func (p *powers) whileRunning() []right {
	atStart := map[right]bool{}
	for _, s := range p.atStart() {
		for _, taken := range s.taken {
			atStart[taken] = true
		}
	}
	// The kind that goes for it does not come back.
	last := right{"apiextensions.k8s.io", "customresourcedefinitions", "get"}
	return append(p.all(func(r right) bool { return !atStart[r] && r != last }), last)
}

// all are the granted rights that are meant, in order.
func (p *powers) all(meant func(right) bool) []right {
	rights := slices.DeleteFunc(slices.Collect(maps.Keys(p.granted)), func(r right) bool { return !meant(r) })
	slices.SortFunc(rights, func(a, b right) int { return strings.Compare(a.String(), b.String()) })
	return rights
}

// provoke says what has the controller ask for something that takes a right: what is to be there before, and what is to happen then.
// Most of it happens when a stack comes.
func (p *powers) provoke(needs right, number int) (before, act func()) {
	name := fmt.Sprintf("s-%d", number)
	come := func() { p.apply(stackOf(number, name, "{}")) }
	up := func() { come(); p.programmed(name) }
	becomes := func(values string) func() { return func() { p.apply(stackOf(number, name, values)) } }
	nothing := func() {}
	isParent := needs.group == "gateway.networking.k8s.io" || needs.group == "gatewright.dev"
	switch {
	case needs.resource == "leases":
		// It is renewed all the time.
		return nothing, nothing
	case needs.resource == "customresourcedefinitions":
		return nothing, func() { p.remove("customresourcedefinitions", "udproutes.gateway.networking.k8s.io") }
	case needs.resource == "renderings" && needs.verb == "update":
		return up, becomes("{color: green}")
	case needs.resource == "renderings" && needs.verb == "delete", isParent && needs.verb == "get":
		return up, func() { p.apply(stackOf(number, "foreign", "{}")) }
	case isParent:
		return nothing, come
	case needs.resource == "events" && needs.verb == "patch":
		return func() {
			up()
			becomes("{fail: true}")()
			p.reported(name, "False")
			becomes("{fail: false}")()
			p.programmed(name)
		}, becomes("{fail: true}")
	case needs.verb == "delete":
		return up, becomes("{present: false}")
	case needs.verb == "get":
		// Something of somebody else's is in the way.
		return func() { p.apply(numbered(occupied, number)) }, come
	}
	return nothing, come
}

// stack is a class with its blueprint and a Gateway with a route of each kind, all called like the number: what there is to be
// read, written and reported for one of each. What is rendered is all kinds that the chart's default values give rights to, and one
// without a namespace, for which parents get finalizers.
const stack = `
apiVersion: gatewright.dev/v1alpha1
kind: GatewayClassBlueprint
metadata: {name: s-NUMBER}
spec:
  permits: {clusterScoped: true}
  values: {default: {present: true, fail: false, color: red}}
  gatewayTemplate:
    resourceTemplates:
      config: |
        {{- if .Values.fail }}{{ fail "asked to" }}{{ end }}
        {{- if .Values.present }}
        apiVersion: v1
        kind: ConfigMap
        metadata:
          name: {{ .Gateway.metadata.name }}
        data:
          color: {{ .Values.color | quote }}
        {{- end }}
      service: |
        {{- if .Values.present }}
        apiVersion: v1
        kind: Service
        metadata:
          name: {{ .Gateway.metadata.name }}
        spec:
          ports:
          - port: 80
        {{- end }}
      ingress: |
        {{- if .Values.present }}
        apiVersion: networking.k8s.io/v1
        kind: Ingress
        metadata:
          name: {{ .Gateway.metadata.name }}
        spec:
          defaultBackend:
            service:
              name: {{ .Gateway.metadata.name }}
              port:
                number: 80
        {{- end }}
      scale: |
        {{- if .Values.present }}
        apiVersion: autoscaling/v2
        kind: HorizontalPodAutoscaler
        metadata:
          name: {{ .Gateway.metadata.name }}
        spec:
          maxReplicas: 3
          scaleTargetRef:
            apiVersion: apps/v1
            kind: Deployment
            name: any
        {{- end }}
      budget: |
        {{- if .Values.present }}
        apiVersion: policy/v1
        kind: PodDisruptionBudget
        metadata:
          name: {{ .Gateway.metadata.name }}
        spec:
          maxUnavailable: 1
        {{- end }}
      priority: |
        {{- if .Values.present }}
        apiVersion: scheduling.k8s.io/v1
        kind: PriorityClass
        metadata:
          name: {{ .Gateway.metadata.name }}
        value: 1
        {{- end }}
  httpRouteTemplate: {resourceTemplates: {config: &route "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Route.metadata.name }}\n"}}
  grpcRouteTemplate: {resourceTemplates: {config: *route}}
  tlsRouteTemplate: {resourceTemplates: {config: *route}}
  tcpRouteTemplate: {resourceTemplates: {config: *route}}
  udpRouteTemplate: {resourceTemplates: {config: *route}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: s-NUMBER}
spec:
  controllerName: gatewright.dev/controller
  parametersRef: {group: gatewright.dev, kind: GatewayClassBlueprint, name: s-NUMBER}
---
apiVersion: gateway.networking.k8s.io/v1
kind: ListenerSet
metadata: {name: s-NUMBER, namespace: rights}
spec:
  parentRef: {name: s-NUMBER}
  listeners: [{name: more, port: 8080, protocol: HTTP}]
---
apiVersion: gatewright.dev/v1alpha1
kind: GatewayClassConfig
metadata: {name: s-NUMBER, namespace: gatewright-system}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: GatewayClass, name: s-NUMBER}]
  default: {size: 1}
---
apiVersion: gatewright.dev/v1alpha1
kind: GatewayConfig
metadata: {name: s-NUMBER, namespace: rights}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: s-NUMBER}]
  default: VALUES
`

// parent is the Gateway of a stack, of some class.
const parent = `---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: s-NUMBER, namespace: rights}
spec:
  gatewayClassName: CLASS
  allowedListeners: {namespaces: {from: Same}}
  listeners:
  - {name: http, port: 80, protocol: HTTP}
  - {name: tls, port: 443, protocol: TLS, tls: {mode: Passthrough}}
  - {name: tcp, port: 9000, protocol: TCP}
  - {name: udp, port: 9001, protocol: UDP}
  - {name: grpc, port: 8081, protocol: HTTP}
`

// occupied are somebody else's objects, called as those that are rendered for the Gateway of a stack.
const occupied = `
{apiVersion: v1, kind: ConfigMap, metadata: {name: s-NUMBER, namespace: rights}}
---
{apiVersion: v1, kind: Service, metadata: {name: s-NUMBER, namespace: rights}, spec: {ports: [{port: 81}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: s-NUMBER, namespace: rights}
spec: {defaultBackend: {service: {name: theirs, port: {number: 81}}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: s-NUMBER, namespace: rights}
spec: {maxReplicas: 1, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: theirs}}
---
{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: s-NUMBER, namespace: rights}, spec: {maxUnavailable: 2}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: s-NUMBER}, value: 2}
`

// route is one of the routes of a stack.
const route = `---
apiVersion: gateway.networking.k8s.io/v1
kind: KIND
metadata: {name: NAME-s-NUMBER, namespace: rights}
spec:
  parentRefs: [{name: s-NUMBER, sectionName: LISTENER}]
  SPEC
`

// stackOf writes a stack, the Gateway of which is of some class and has some values.
func stackOf(number int, class, values string) string {
	text := strings.ReplaceAll(stack, "VALUES", values) + strings.ReplaceAll(parent, "CLASS", class)
	const toAny = "rules: [{backendRefs: [{name: any, port: 80}]}]"
	for _, r := range [][4]string{
		{"HTTPRoute", "http", "http", "rules: [{}]"}, {"GRPCRoute", "grpc", "grpc", "rules: [{}]"},
		{"TLSRoute", "tls", "tls", "hostnames: [db.example.com]\n  " + toAny},
		{"TCPRoute", "tcp", "tcp", toAny}, {"UDPRoute", "udp", "udp", toAny},
	} {
		text += strings.NewReplacer("KIND", r[0], "NAME", r[1], "LISTENER", r[2], "SPEC", r[3]).Replace(route)
	}
	return numbered(text, number)
}

func numbered(text string, number int) string {
	return strings.ReplaceAll(text, "NUMBER", strconv.Itoa(number))
}

// powers is a cluster with the chart, whose controller runs with rights that can be taken away one by one.
type powers struct {
	*testing.T
	cluster
	user               string
	binary, kubeconfig string
	args               []string
	granted            map[right]bool
	log                *os.File
	partial            []byte
	denied             map[right]bool
	// taken are the rights that are taken away now.
	taken []right
}

// newPowers installs the chart and has the controller's rights, wherever the chart has them from, stand in one role.
func newPowers(t *testing.T) *powers {
	t.Helper()
	const namespace = "gatewright-system"
	server := ownServer(t)
	config, err := clientcmd.BuildConfigFromFlags("", server.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	r := &powers{T: t, cluster: connect(t, config), user: "system:serviceaccount:" + namespace + ":" + release, granted: map[right]bool{}, denied: map[right]bool{}}
	env := []string{"KUBECONFIG=" + server.Kubeconfig}
	kinds := `rbac.blueprintKinds=[{"apiGroups":["scheduling.k8s.io"],"resources":["priorityclasses"]}]`
	if _, err := helm.Run(t, env, "install", release, chartDir(), "--namespace", namespace, "--create-namespace", "--set-json", kinds); err != nil {
		t.Fatal(err)
	}
	r.regrant(namespace)
	if r.log, err = os.Open(server.AuditLog); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.log.Close() })
	if r.binary, err = controller.Build(t.TempDir(), os.Stderr); err != nil {
		t.Fatal(err)
	}
	admin := kubectl{t, filepath.Join(server.Assets, "kubectl"), server.Kubeconfig}
	admin.must("", "create", "namespace", "rights")
	admin.must(`{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: foreign}, spec: {controllerName: example.com/other}}`,
		"apply", "-f", "-")
	r.kubeconfig = kubeconfigWith(t, server.Kubeconfig, admin.must("", "create", "token", release, "--namespace", namespace))
	r.args = deployment(t, render(t, namespace)).Spec.Template.Spec.Containers[0].Args
	return r
}

// regrant reads what the chart gives the controller, binds it to one role, and takes the chart's bindings away.
func (p *powers) regrant(namespace string) {
	p.Helper()
	p.namespace = namespace
	p.summedRights(p.T)
	api, ctx := p.kubernetes.RbacV1(), p.Context()
	var rules []rbacv1.PolicyRule
	for _, name := range []string{namespace + "-" + release, namespace + "-" + release + "-blueprints"} {
		role, err := api.ClusterRoles().Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			p.Fatal(err)
		}
		rules = append(rules, role.Rules...)
		if err := api.ClusterRoleBindings().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
			p.Fatal(err)
		}
	}
	name := release + "-leader-election"
	role, err := api.Roles(namespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		p.Fatal(err)
	}
	if err := api.RoleBindings(namespace).Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		p.Fatal(err)
	}
	for _, rule := range append(rules, role.Rules...) {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					p.granted[right{group, resource, verb}] = true
				}
			}
		}
	}
	whole := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "granted"}, Rules: p.rules(nil)}
	if _, err := api.ClusterRoles().Create(ctx, whole, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "granted"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "granted"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: release}},
	}
	if _, err := api.ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		p.Fatal(err)
	}
}

// rules are all rights but some.
func (p *powers) rules(without []right) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for granted := range p.granted {
		if !slices.Contains(without, granted) {
			rules = append(rules, rbacv1.PolicyRule{
				APIGroups: []string{granted.group}, Resources: []string{granted.resource}, Verbs: []string{granted.verb},
			})
		}
	}
	return rules
}

// without takes some rights away, and returns once the API server knows. Those that were taken before are given back.
func (p *powers) without(taken ...right) {
	p.Helper()
	roles := p.kubernetes.RbacV1().ClusterRoles()
	role, err := roles.Get(p.Context(), "granted", metav1.GetOptions{})
	if err != nil {
		p.Fatal(err)
	}
	role.Rules = p.rules(taken)
	if _, err := roles.Update(p.Context(), role, metav1.UpdateOptions{}); err != nil {
		p.Fatal(err)
	}
	for _, changed := range slices.Concat(p.taken, taken) {
		until(p.T, fmt.Sprintf("the API server knows who may %s", changed), func() bool {
			return p.may(changed) != slices.Contains(taken, changed)
		})
	}
	p.taken = taken
	p.read()
	clear(p.denied)
}

func (p *powers) may(what right) bool {
	p.Helper()
	resource, subresource, _ := strings.Cut(what.resource, "/")
	review := &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{User: p.user,
		ResourceAttributes: &authorizationv1.ResourceAttributes{Group: what.group, Resource: resource, Subresource: subresource, Verb: what.verb},
	}}
	answer, err := p.kubernetes.AuthorizationV1().SubjectAccessReviews().Create(p.Context(), review, metav1.CreateOptions{})
	if err != nil {
		p.Fatal(err)
	}
	return answer.Status.Allowed
}

// refusal is how the API server says which right somebody lacks.
var refusal = regexp.MustCompile(`cannot (\w+) resource "([^"]+)" in API group "([^"]*)"`)

// read reads on in the audit log, for what was denied to the controller.
func (p *powers) read() {
	p.Helper()
	text, err := io.ReadAll(p.log)
	if err != nil {
		p.Fatal(err)
	}
	lines := bytes.Split(append(p.partial, text...), []byte("\n"))
	p.partial = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		var e auditv1.Event
		if err := json.Unmarshal(line, &e); err != nil {
			p.Fatal(err)
		}
		if e.User.Username != p.user || e.ResponseStatus == nil || e.ResponseStatus.Code != 403 {
			continue
		}
		if m := refusal.FindStringSubmatch(e.ResponseStatus.Message); m != nil {
			p.denied[right{m[3], m[2], m[1]}] = true
		} else {
			p.Errorf("the controller is denied something else than a right: %s", e.ResponseStatus.Message)
		}
	}
}

// patience is how long a right is to be asked for.
const patience = time.Minute

// missed waits until each of some rights was asked for in vain, and returns those that were not. What was asked for is given back
// at once: the controller may need it to come to the rest.
func (p *powers) missed(taken []right) (unmissed []right) {
	p.Helper()
	for deadline := time.Now().Add(patience); len(taken) > 0 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		p.read()
		left := slices.DeleteFunc(slices.Clone(taken), func(t right) bool { return p.denied[t] })
		if len(left) == len(taken) {
			continue
		}
		p.without(left...)
		taken, deadline = left, time.Now().Add(patience)
	}
	return taken
}

// run starts the controller. stop kills it.
func (p *powers) run() (stop func()) {
	p.Helper()
	running, err := controller.Start(p.binary, p.kubeconfig, p.args...)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		running.Kill()
		if p.Failed() {
			lines := strings.Split(running.Log(), "\n")
			p.Logf("the end of the controller's log:\n%s", strings.Join(lines[max(0, len(lines)-30):], "\n"))
		}
	})
	return running.Kill
}

// until waits for something that comes about.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain until %s", what)
		}
	}
}

// apply makes objects.
func (p *powers) apply(text string) {
	p.Helper()
	objects, err := decode(strings.NewReader(text))
	if err != nil {
		p.Fatal(err)
	}
	for _, object := range objects {
		options := metav1.ApplyOptions{FieldManager: "test", Force: true}
		if _, err := p.resource(p.T, object).Apply(p.Context(), object.GetName(), object, options); err != nil {
			p.Fatal(err)
		}
	}
}

var gateways = schema.GroupVersionResource{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"}

// remove deletes something that has no namespace.
func (p *powers) remove(resource, name string) {
	p.Helper()
	group := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: resource}
	if err := p.dynamic.Resource(group).Delete(p.Context(), name, metav1.DeleteOptions{}); err != nil {
		p.Fatal(err)
	}
}

func (p *powers) programmed(name string) {
	p.Helper()
	p.reported(name, "True")
}

// reported waits until a Gateway is Programmed, or is not.
func (p *powers) reported(name, programmed string) {
	p.Helper()
	until(p.T, name+" is Programmed="+programmed, func() bool {
		gw, err := p.dynamic.Resource(gateways).Namespace("rights").Get(p.Context(), name, metav1.GetOptions{})
		if err != nil {
			p.Fatal(err)
		}
		conditions, _, _ := unstructured.NestedSlice(gw.Object, "status", "conditions")
		return slices.ContainsFunc(conditions, func(c any) bool {
			condition, _ := c.(map[string]any)
			return condition["type"] == "Programmed" && condition["status"] == programmed
		})
	})
}
