package integration_test

import (
	"context"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// playedClass is the GatewayClass whose Gateways the player programs. Shadow Gateways of other classes stay as they are.
	playedClass = "istio"
	// playedAddress is what it says that they are reached at.
	playedAddress = "192.0.2.1"
	// playedHostname is where it says that load balancers and Ingresses are reached.
	playedHostname = "lb.example.net"
)

// part says what status the controller of a kind gives an object; nil means none.
type part func(o *unstructured.Unstructured) map[string]any

// parts are what the player plays: the controllers of other projects, so far as they matter to blueprints.
var parts = map[schema.GroupVersionResource]part{
	{Group: "gateway.networking.k8s.io", Version: "v1", Resource: "gateways"}: programGateway,
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}:        publishIngress,
	{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}:       beReady,

	{Group: "ec2.aws.m.upbound.io", Version: "v1beta1", Resource: "securitygroups"}:            observe("id", "sg-"),
	{Group: "ec2.aws.m.upbound.io", Version: "v1beta1", Resource: "securitygroupingressrules"}: observe("id", "sgr-"),
	{Group: "ec2.aws.m.upbound.io", Version: "v1beta1", Resource: "securitygroupegressrules"}:  observe("id", "sgr-"),
	{Group: "elbv2.aws.m.upbound.io", Version: "v1beta1", Resource: "lbs"}:                     publishLoadBalancer,
	{Group: "elbv2.aws.m.upbound.io", Version: "v1beta1", Resource: "lbtargetgroups"}:          observe("arn", "arn:target/"),
	{Group: "elbv2.aws.m.upbound.io", Version: "v1beta1", Resource: "lblisteners"}:             observe("arn", "arn:listener/"),
}

// startPlayer plays all parts until it is stopped.
func startPlayer() (stop func(), err error) {
	config, err := shared.server.Config()
	if err != nil {
		return nil, err
	}
	config.UserAgent = "player"
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	factory := dynamicinformer.NewDynamicSharedInformerFactory(client, 0)
	for resource, play := range parts {
		perform := func(o any) {
			if err := report(ctx, client.Resource(resource), o.(*unstructured.Unstructured), play); err != nil {
				fmt.Fprintf(os.Stderr, "player: %v\n", err)
			}
		}
		_, err := factory.ForResource(resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: perform, UpdateFunc: func(_, o any) { perform(o) },
		})
		if err != nil {
			cancel()
			return nil, fmt.Errorf("playing the controller of %s: %w", resource.Resource, err)
		}
	}
	factory.Start(ctx.Done())
	return func() { cancel(); factory.Shutdown() }, nil
}

// report writes an object's status, unless it says already what it should.
func report(ctx context.Context, resource dynamic.NamespaceableResourceInterface, o *unstructured.Unstructured, play part) error {
	status := play(o)
	if status == nil || equality.Semantic.DeepEqual(o.Object["status"], status) {
		return nil
	}
	patch, err := utiljson.Marshal(map[string]any{"status": status})
	if err != nil {
		return err
	}
	_, err = resource.Namespace(o.GetNamespace()).
		Patch(ctx, o.GetName(), types.MergePatchType, patch, metav1.PatchOptions{}, "status")
	if ctx.Err() != nil {
		err = nil
	}
	// What is gone, or was to be told while the tests end, needs no status.
	return client.IgnoreNotFound(err)
}

func programGateway(o *unstructured.Unstructured) map[string]any {
	class, _, _ := unstructured.NestedString(o.Object, "spec", "gatewayClassName")
	if class != playedClass {
		return nil
	}
	listeners, _, _ := unstructured.NestedSlice(o.Object, "spec", "listeners")
	var reports []any
	for _, listener := range listeners {
		reports = append(reports, map[string]any{
			"name": listener.(map[string]any)["name"], "attachedRoutes": int64(0),
			"supportedKinds": []any{}, "conditions": conditionsTrue(o, "Accepted", "Programmed"),
		})
	}
	return map[string]any{
		"conditions": conditionsTrue(o, "Accepted", "Programmed"),
		"addresses":  []any{map[string]any{"type": "IPAddress", "value": playedAddress}},
		"listeners":  reports,
	}
}

func publishIngress(*unstructured.Unstructured) map[string]any {
	return map[string]any{"loadBalancer": map[string]any{
		"ingress": []any{map[string]any{"hostname": playedHostname}},
	}}
}

func beReady(o *unstructured.Unstructured) map[string]any {
	return map[string]any{"conditions": conditionsTrue(o, "Ready")}
}

// observe plays a provider of Crossplane that has made something outside and knows it by a name of its own.
func observe(field, prefix string) part {
	return func(o *unstructured.Unstructured) map[string]any {
		return map[string]any{
			"conditions": conditionsTrue(o, "Ready", "Synced"),
			"atProvider": map[string]any{field: prefix + o.GetName()},
		}
	}
}

func publishLoadBalancer(o *unstructured.Unstructured) map[string]any {
	return map[string]any{
		"conditions": conditionsTrue(o, "Ready", "Synced"),
		"atProvider": map[string]any{"arn": "arn:lb/" + o.GetName(), "dnsName": playedHostname},
	}
}

// conditionsTrue keeps the times of conditions that say already what they should, so that a second look changes nothing.
func conditionsTrue(o *unstructured.Unstructured, types ...string) []any {
	before, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	var conditions []any
	for _, conditionType := range types {
		now := metav1.Now().UTC().Format(time.RFC3339)
		for _, c := range before {
			if was := c.(map[string]any); was["type"] == conditionType && was["status"] == "True" {
				now = was["lastTransitionTime"].(string)
			}
		}
		conditions = append(conditions, map[string]any{
			"type": conditionType, "status": "True", "reason": conditionType, "message": "played",
			"observedGeneration": o.GetGeneration(), "lastTransitionTime": now,
		})
	}
	return conditions
}
