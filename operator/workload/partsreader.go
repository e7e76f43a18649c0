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

// ConfigParts is how many Secrets there are for parts of a configuration, beside the
// first. Every pod mounts all of them, there or not, and the kubelet watches each. At
// most half of them are in use: a new version is written beside the one that pods
// may still need.
const ConfigParts = 16

// configPartSuffix ends the name of the Secret with the i-th part, from 1.
func configPartSuffix(i int) string { return fmt.Sprintf("-config-part-%d", i) }

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
func (b *Base) PartsFault() string {
	for _, c := range []struct {
		name  string
		field string
		user  []corev1.Container
	}{
		{ContainerConfigReloader, "spec.containers", b.Fields.Containers},
		{ContainerInitConfigReloader, "spec.initContainers", b.Fields.InitContainers},
	} {
		image, from := b.Config.ConfigReloaderImage, "--prometheus-config-reloader"
		for _, u := range c.user {
			if u.Name == c.name && u.Image != "" {
				image, from = u.Image, c.field
			}
		}
		if !b.Config.PartsReader(image) {
			return fmt.Sprintf("image %q of container %s (%s) is not known to read a configuration in parts", image, c.name, from)
		}
	}
	return ""
}

// PartsFaultOf is that of a pod that exists, or of a template for such.
func (b *Base) PartsFaultOf(pod *corev1.PodSpec) string {
	have := map[string]string{}
	for _, k := range slices.Concat(pod.InitContainers, pod.Containers) {
		have[k.Name] = k.Image
	}
	for _, name := range []string{ContainerConfigReloader, ContainerInitConfigReloader} {
		if image := have[name]; !b.Config.PartsReader(image) {
			return fmt.Sprintf("container %s still has image %q", name, image)
		}
	}
	if !b.mountsAllParts(pod) {
		return "the Secrets of the parts are not mounted yet"
	}
	return ""
}

// TrimReloaders keeps of a pod's spec what [Base.PartsFaultOf] looks at, of whatever kind it is.
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
		if last := lastPart(v); last != nil {
			v.Projected = &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{{Secret: last}}}
			out.Volumes = append(out.Volumes, v)
		}
	}
	return out
}

// ReadsParts reports whether a pod sees parts of its configuration.
func (b *Base) ReadsParts(pod *corev1.PodSpec) bool {
	v := b.configVolume(pod)
	return v != nil && v.Projected != nil
}

// mountsAllParts reports whether a pod sees as many parts as there may be.
func (b *Base) mountsAllParts(pod *corev1.PodSpec) bool {
	v := b.configVolume(pod)
	if v == nil {
		return false
	}
	last := lastPart(*v)
	return last != nil && last.Name == b.ConfigPartName(ConfigParts)
}

func (b *Base) configVolume(pod *corev1.PodSpec) *corev1.Volume {
	i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == b.Kind.ConfigSecret.Volume })
	if i < 0 {
		return nil
	}
	return &pod.Volumes[i]
}

// lastPart is the source of the last part that a volume shows; nil when it does not
// show as many as there may be.
func lastPart(v corev1.Volume) *corev1.SecretProjection {
	if v.Projected == nil || len(v.Projected.Sources) == 0 {
		return nil
	}
	last := v.Projected.Sources[len(v.Projected.Sources)-1].Secret
	if last == nil || !strings.HasSuffix(last.Name, configPartSuffix(ConfigParts)) {
		return nil
	}
	return last
}
