package manifests

import (
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// portNames returns the errors of names of container ports, which are shorter than those of Services.
// Monitors refer to them, and the API server rejects the object.
func portNames(object Native) error {
	spec, path := podSpec(object)
	if spec == nil {
		return nil
	}
	var out []error
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"containers", spec.Containers}, {"initContainers", spec.InitContainers}} {
		for i := range list.containers {
			for j, p := range list.containers[i].Ports {
				if wrong := validation.IsValidPortName(p.Name); p.Name != "" && len(wrong) > 0 {
					out = append(out, &InvalidError{Path: fmt.Sprintf("%s.%s[%d].ports[%d].name", path, list.name, i, j), Reason: strings.Join(wrong, "; ")})
				}
			}
		}
	}
	return errors.Join(out...)
}

// podSpec returns the pods of an object with their path; nil if it has none.
func podSpec(object Native) (spec *corev1.PodSpec, path string) {
	const template = "spec.template.spec"
	switch o := object.(type) {
	case *corev1.Pod:
		return &o.Spec, "spec"
	case *appsv1.Deployment:
		return &o.Spec.Template.Spec, template
	case *appsv1.StatefulSet:
		return &o.Spec.Template.Spec, template
	case *appsv1.DaemonSet:
		return &o.Spec.Template.Spec, template
	case *appsv1.ReplicaSet:
		return &o.Spec.Template.Spec, template
	case *batchv1.Job:
		return &o.Spec.Template.Spec, template
	case *batchv1.CronJob:
		return &o.Spec.JobTemplate.Spec.Template.Spec, "spec.jobTemplate." + template
	}
	return nil, ""
}
