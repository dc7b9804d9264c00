package kube

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// servedPoll and servedTimeout bound the wait for a CRD to be served, which takes the API server well under a second
// unless the machine is busy.
const (
	servedPoll    = 20 * time.Millisecond
	servedTimeout = 30 * time.Second
)

var crdResource = apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")

// InstallCRDs applies the CustomResourceDefinitions in the YAML files of the directories, passes over all else in them,
// and returns when the API server serves every version of each. Test processes that share a server may all call it at
// once: applying is idempotent.
func InstallCRDs(ctx context.Context, config *rest.Config, dirs ...string) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("installing CRDs: %w", err)
	}
	var installed []*unstructured.Unstructured
	for _, dir := range dirs {
		crds, err := readCRDs(dir)
		if err != nil {
			return fmt.Errorf("installing CRDs: %w", err)
		}
		for _, crd := range crds {
			if err := apply(ctx, client, crd); err != nil {
				return fmt.Errorf("installing CRD %s: %w", crd.GetName(), err)
			}
		}
		installed = append(installed, crds...)
	}
	for _, crd := range installed {
		if err := waitServed(ctx, client, crd); err != nil {
			return fmt.Errorf("waiting for CRD %s to be served: %w", crd.GetName(), err)
		}
	}
	return nil
}

// readCRDs reads the CRDs of a directory. None at all is an error: the directory is then not the one that was meant.
func readCRDs(dir string) ([]*unstructured.Unstructured, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil {
		return nil, err
	}
	var crds []*unstructured.Unstructured
	for _, file := range files {
		text, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		found, err := decodeCRDs(text)
		if err := errors.Join(err, text.Close()); err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		crds = append(crds, found...)
	}
	if len(crds) == 0 {
		return nil, fmt.Errorf("%s holds no CustomResourceDefinition", dir)
	}
	return crds, nil
}

func decodeCRDs(text io.Reader) ([]*unstructured.Unstructured, error) {
	var crds []*unstructured.Unstructured
	documents := yaml.NewYAMLOrJSONDecoder(text, 4096)
	for {
		object := &unstructured.Unstructured{}
		err := documents.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return crds, nil
		}
		if err != nil {
			return nil, err
		}
		if object.GetKind() == "CustomResourceDefinition" {
			crds = append(crds, object)
		}
	}
}

// apply tries again on a conflict, which two processes that create the same CRD at once can cause in spite of force.
func apply(ctx context.Context, client dynamic.Interface, crd *unstructured.Unstructured) error {
	options := metav1.ApplyOptions{FieldManager: "gatewright-tests", Force: true}
	return wait.PollUntilContextTimeout(ctx, servedPoll, servedTimeout, true, func(ctx context.Context) (bool, error) {
		_, err := client.Resource(crdResource).Apply(ctx, crd.GetName(), crd, options)
		if apierrors.IsConflict(err) || apierrors.IsAlreadyExists(err) {
			return false, nil
		}
		return err == nil, err
	})
}

// waitServed asks for the instances themselves: the condition Established comes earlier than the first answer other
// than 404.
func waitServed(ctx context.Context, client dynamic.Interface, crd *unstructured.Unstructured) error {
	var typed apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(crd.Object, &typed); err != nil {
		return err
	}
	for _, version := range typed.Spec.Versions {
		if !version.Served {
			continue
		}
		resource := schema.GroupVersionResource{
			Group: typed.Spec.Group, Version: version.Name, Resource: typed.Spec.Names.Plural,
		}
		err := wait.PollUntilContextTimeout(ctx, servedPoll, servedTimeout, true, func(ctx context.Context) (bool, error) {
			_, err := client.Resource(resource).List(ctx, metav1.ListOptions{Limit: 1})
			return err == nil, ignoreNotServed(err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ignoreNotServed passes over the answers that an API server gives for a kind that it is about to serve.
func ignoreNotServed(err error) error {
	if apierrors.IsNotFound(err) || apierrors.IsServiceUnavailable(err) || apierrors.IsTooManyRequests(err) {
		return nil
	}
	return err
}
