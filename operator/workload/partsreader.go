package workload

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
)

// ownReloader is the repository of this project's config-reloader, in any registry.
// Mirrors keep it below a prefix of theirs; the reference's reloader never has it.
const ownReloader = "firekeeper/config-reloader"

// PartsReader reports whether an image is known to read a configuration in parts: it
// is this project's config-reloader, or from a repository in [Config.PartsReaders].
// A reloader that is taken for a reader and is none keeps every pod that starts
// waiting, so what is not known counts as none.
func (c Config) PartsReader(image string) bool {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return false
	}
	if strings.HasSuffix("/"+reference.Path(named), "/"+ownReloader) {
		return true
	}
	return slices.ContainsFunc(c.PartsReaders, func(repository string) bool {
		known, err := reference.ParseNormalizedNamed(repository)
		return err == nil && known.Name() == named.Name()
	})
}

// CheckPartsReader checks an element of [Config.PartsReaders].
func CheckPartsReader(repository string) error {
	if name, err := reference.ParseNormalizedNamed(repository); err != nil || !reference.IsNameOnly(name) {
		return errors.New("must be the name of an image without tag")
	}
	return nil
}

// PartsFault says why the pods that are wanted could not read a configuration in
// parts; empty when they can.
func (o *Owner) PartsFault() string {
	for _, c := range []struct {
		name  string
		field string
		user  []corev1.Container
	}{
		{ContainerConfigReloader, "spec.containers", o.common.Containers},
		{ContainerInitConfigReloader, "spec.initContainers", o.common.InitContainers},
	} {
		image, from := o.cfg.ConfigReloaderImage, "--prometheus-config-reloader"
		for _, u := range c.user {
			if u.Name == c.name && u.Image != "" {
				image, from = u.Image, c.field
			}
		}
		if !o.cfg.PartsReader(image) {
			return fmt.Sprintf("image %q of container %s (%s) is not known to read a configuration in parts", image, c.name, from)
		}
	}
	return ""
}

// PartsFault is that of a pod that exists, or of a template for such.
func (c Config) PartsFault(pod *corev1.PodSpec) string {
	have := map[string]string{}
	for _, k := range slices.Concat(pod.InitContainers, pod.Containers) {
		have[k.Name] = k.Image
	}
	for _, name := range []string{ContainerConfigReloader, ContainerInitConfigReloader} {
		if image := have[name]; !c.PartsReader(image) {
			return fmt.Sprintf("container %s still has image %q", name, image)
		}
	}
	if !mountsAllParts(pod) {
		return "the Secrets of the parts are not mounted yet"
	}
	return ""
}

// TrimReloaders keeps of a pod's spec what [Config.PartsFault] looks at.
func TrimReloaders(pod *corev1.PodSpec) corev1.PodSpec {
	out := corev1.PodSpec{}
	for _, list := range []struct {
		from []corev1.Container
		to   *[]corev1.Container
	}{{pod.InitContainers, &out.InitContainers}, {pod.Containers, &out.Containers}} {
		for _, c := range list.from {
			if c.Name == ContainerConfigReloader || c.Name == ContainerInitConfigReloader {
				*list.to = append(*list.to, corev1.Container{Name: c.Name, Image: c.Image})
			}
		}
	}
	for _, v := range pod.Volumes {
		if v.Name == configVolume && v.Projected != nil && len(v.Projected.Sources) > 0 {
			last := v.Projected.Sources[len(v.Projected.Sources)-1:]
			v.Projected = &corev1.ProjectedVolumeSource{Sources: slices.Clone(last)}
			out.Volumes = []corev1.Volume{v}
		}
	}
	return out
}

// ReadsParts reports whether a pod sees parts of its configuration.
func ReadsParts(pod *corev1.PodSpec) bool { return configSources(pod) != nil }

// mountsAllParts reports whether a pod sees as many parts as there may be.
func mountsAllParts(pod *corev1.PodSpec) bool {
	sources := configSources(pod)
	if len(sources) == 0 {
		return false
	}
	last := sources[len(sources)-1].Secret
	return last != nil && strings.HasSuffix(last.Name, partSuffix(ConfigParts))
}

func configSources(pod *corev1.PodSpec) []corev1.VolumeProjection {
	for _, v := range pod.Volumes {
		if v.Name == configVolume && v.Projected != nil {
			return v.Projected.Sources
		}
	}
	return nil
}
