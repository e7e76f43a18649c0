package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/client"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
)

// scrapeConfigs returns a client for ScrapeConfigs; nil, with a warning, when
// the kind is not installed or may not be read in all namespaces. It is younger
// than the other kinds, so clusters without it are common; the operator then
// ignores it until it is started again.
func scrapeConfigs(ctx context.Context, cfg *rest.Config, kube kubernetes.Interface, namespaces controller.Namespaces, log *slog.Logger) (*client.Client, error) {
	installed, err := serves(kube, v1alpha1.SchemeGroupVersion.String(), v1alpha1.ScrapeConfigResource)
	if err != nil {
		return nil, err
	}
	if !installed {
		log.Warn("ScrapeConfigs are ignored: the kind is not installed", "version", v1alpha1.SchemeGroupVersion.String())
		return nil, nil
	}
	for _, namespace := range namespaces.Watches() {
		for _, verb := range []string{"list", "watch"} {
			ok, err := may(ctx, kube, access{v1alpha1.GroupName, v1alpha1.ScrapeConfigResource, verb, namespace})
			if err != nil {
				return nil, err
			}
			if !ok {
				log.Warn("ScrapeConfigs are ignored: no permission to read them", "verb", verb, "namespace", namespace)
				return nil, nil
			}
		}
	}
	scheme := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, err
	}
	return client.New(cfg, scheme, v1alpha1.SchemeGroupVersion)
}

// serves reports whether the API server has a resource.
func serves(kube kubernetes.Interface, groupVersion, resource string) (bool, error) {
	list, err := kube.Discovery().ServerResourcesForGroupVersion(groupVersion)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("list the resources of %s: %w", groupVersion, err)
	}
	return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == resource }), nil
}
