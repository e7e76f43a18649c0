package main

import (
	"context"
	"fmt"
	"log/slog"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/controller"
)

// scrapeConfigs reports, with a warning when not, whether ScrapeConfigs are
// installed and may be read in all namespaces. The kind is younger than the
// others, so clusters without it are common; the operator then ignores it until
// it is started again.
func scrapeConfigs(ctx context.Context, kube kubernetes.Interface, namespaces controller.Namespaces, log *slog.Logger) (bool, error) {
	installed, err := serves(kube, v1alpha1.SchemeGroupVersion.String(), v1alpha1.ScrapeConfigResource)
	if err != nil {
		return false, err
	}
	if !installed {
		log.Warn("ScrapeConfigs are ignored: the kind is not installed", "version", v1alpha1.SchemeGroupVersion.String())
		return false, nil
	}
	for _, namespace := range namespaces.Watches() {
		for _, verb := range []string{"list", "watch"} {
			ok, err := may(ctx, kube, access{v1alpha1.GroupName, v1alpha1.ScrapeConfigResource, verb, namespace})
			if err != nil {
				return false, err
			}
			if !ok {
				log.Warn("ScrapeConfigs are ignored: no permission to read them", "verb", verb, "namespace", namespace)
				return false, nil
			}
		}
	}
	return true, nil
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
