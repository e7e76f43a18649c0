package workloadtest

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// CheckPod fails for pods that an API server rejects: invalid names, duplicate names,
// ports, volumes, mounts and variables, mounts without a volume. An argument may only be
// repeated if the program supports it.
func CheckPod(t *testing.T, pod corev1.PodTemplateSpec) {
	t.Helper()
	volumes, ports, names := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		if volumes[v.Name] || len(validation.IsDNS1123Label(v.Name)) > 0 {
			t.Errorf("volume %q is there twice or has no valid name", v.Name)
		}
		volumes[v.Name] = true
	}
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if names[c.Name] || len(validation.IsDNS1123Label(c.Name)) > 0 || c.Image == "" {
			t.Errorf("container %q is there twice, or has no valid name or no image", c.Name)
		}
		names[c.Name] = true
		for _, port := range c.Ports {
			if ports[port.Name] || len(validation.IsValidPortName(port.Name)) > 0 || port.ContainerPort < 1 || port.ContainerPort > 65535 {
				t.Errorf("port %q, %d of %s is there twice or not valid", port.Name, port.ContainerPort, c.Name)
			}
			ports[port.Name] = true
		}
		checkContainer(t, c, volumes)
	}
}

func checkContainer(t *testing.T, c corev1.Container, volumes map[string]bool) {
	t.Helper()
	mounts, variables := map[string]bool{}, map[string]bool{}
	for _, m := range c.VolumeMounts {
		if !volumes[m.Name] || mounts[m.MountPath] || m.MountPath == "" || strings.Contains(m.MountPath, ":") {
			t.Errorf("mount %s of %s in %s is there twice, has no volume or no valid path", m.MountPath, m.Name, c.Name)
		}
		mounts[m.MountPath] = true
	}
	for _, e := range c.Env {
		if variables[e.Name] || len(validation.IsEnvVarName(e.Name)) > 0 {
			t.Errorf("variable %q of %s is there twice or has no valid name", e.Name, c.Name)
		}
		variables[e.Name] = true
	}
	seen := map[string]bool{}
	for _, a := range c.Args {
		if name, _, _ := strings.Cut(a, "="); seen[name] && !repeatable[name] {
			t.Errorf("argument %s of %s is there twice", name, c.Name)
		} else {
			seen[name] = true
		}
	}
}

// repeatable lists the arguments that may be repeated.
var repeatable = map[string]bool{
	"--watched-dir": true, "--volume-dir": true, "--enable-feature": true, "--cluster.peer": true,
	"--label": true, "--alert.label-drop": true, "--query": true, "--alertmanagers.url": true,
	"--grpc-server-tls-ciphers": true, "--grpc-server-tls-curves": true,
}
