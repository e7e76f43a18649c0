package workloadtest

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
)

// ReadInputs decodes all inputs of a golden file into the values of the same names in into.
//
// Errors: an input without a value in into, or with an unknown field.
func ReadInputs(c golden.Case, into map[string]any) error {
	for _, name := range c.Inputs() {
		place, ok := into[name]
		if !ok {
			return fmt.Errorf("unknown file %q", name)
		}
		text, _ := c.Input(name)
		if err := yaml.UnmarshalStrict(text, place); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// View renders one part of a StatefulSet for a golden file, by the name below want/:
//
//	statefulset.yaml  all of it; metadata.yaml its metadata; set.yaml its spec without the pods
//	pod.yaml          the pods without containers and volumes; volumes.yaml their volumes
//	containers        the names of the containers
//	<part>/<name>     of one container: container, image, args, mounts, ports, env, resources, probes
func View(sts *appsv1.StatefulSet, name string) ([]byte, error) {
	sts = sts.DeepCopy()
	pod := &sts.Spec.Template.Spec
	containers := slices.Concat(pod.InitContainers, pod.Containers)
	part, container, _ := strings.Cut(strings.TrimSuffix(name, ".yaml"), "/")
	switch part {
	case "statefulset":
		return yaml.Marshal(sts)
	case "metadata":
		return yaml.Marshal(sts.ObjectMeta)
	case "set":
		*pod = corev1.PodSpec{}
		return yaml.Marshal(sts.Spec)
	case "pod":
		pod.Containers, pod.InitContainers, pod.Volumes = nil, nil, nil
		return yaml.Marshal(pod)
	case "volumes":
		return yaml.Marshal(pod.Volumes)
	case "containers":
		var names []string
		for _, c := range containers {
			names = append(names, c.Name)
		}
		return golden.Lines(names), nil
	}
	i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == container })
	if i < 0 {
		return nil, fmt.Errorf("no container %q", container)
	}
	return viewContainer(containers[i], part)
}

func viewContainer(c corev1.Container, part string) ([]byte, error) {
	switch part {
	case "container":
		return yaml.Marshal(c)
	case "image":
		return []byte(c.Image + "\n"), nil
	case "args":
		return golden.Lines(c.Args), nil
	case "mounts":
		return yaml.Marshal(c.VolumeMounts)
	case "ports":
		return yaml.Marshal(c.Ports)
	case "env":
		return yaml.Marshal(c.Env)
	case "resources":
		return yaml.Marshal(c.Resources)
	case "probes":
		return yaml.Marshal(map[string]*corev1.Probe{"startup": c.StartupProbe, "readiness": c.ReadinessProbe, "liveness": c.LivenessProbe})
	}
	return nil, fmt.Errorf("unknown part %q of a container", part)
}
