package workload

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/distribution/reference"
	corev1 "k8s.io/api/core/v1"
)

// ownReloader is the repository of this project's config-reloader, in any registry. Mirrors have
// it below a prefix. The reloader of the reference operator never has this name.
const ownReloader = "firekeeper/config-reloader"

// ConfigParts is the number of Secrets for parts of a configuration, besides the first. Every
// pod mounts all of them, existing or not, and the kubelet watches each. At most half of them
// are in use, because a new version is written while pods may still need the old one.
const ConfigParts = 16

// configPartSuffix returns the suffix of the name of the Secret with the i-th part, from 1.
func configPartSuffix(i int) string { return configPartStem + strconv.Itoa(i) }

// partsReader reports whether an image is known to read a configuration in parts: it is this
// project's config-reloader, or its repository is in [Config.PartsReaders]. Unknown images are
// excluded, because a reloader without this support blocks every starting pod.
func (c Config) partsReader(image string) bool {
	named, err := lastImage.parse(image)
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

// lastImage holds the parsed image of a reloader. Nearly all workloads have the same one, and each reconciliation needs
// it several times.
var lastImage imageParser

// imageParser keeps the last image that was parsed. It is safe for concurrent use.
type imageParser struct{ last atomic.Pointer[parsedImage] }

type parsedImage struct {
	text  string
	named reference.Named
}

func (p *imageParser) parse(image string) (reference.Named, error) {
	if last := p.last.Load(); last != nil && last.text == image {
		return last.named, nil
	}
	named, err := reference.ParseNormalizedNamed(image)
	if err == nil {
		p.last.Store(&parsedImage{image, named})
	}
	return named, err
}

// CheckPartsReader validates an element of [Config.PartsReaders].
func CheckPartsReader(repository string) error {
	if name, err := reference.ParseNormalizedNamed(repository); err != nil || !reference.IsNameOnly(name) {
		return errors.New("must be the name of an image without tag")
	}
	return nil
}

// PartsFault returns why the desired pods could not read a configuration in parts, empty if they can.
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
		if !b.Config.partsReader(image) {
			return fmt.Sprintf("image %q of container %s (%s) is not known to read a configuration in parts", image, c.name, from)
		}
	}
	return ""
}

// PartsFaultOf is like PartsFault for an existing pod or pod template.
func (b *Base) PartsFaultOf(pod *corev1.PodSpec) string {
	have := map[string]string{}
	for _, k := range slices.Concat(pod.InitContainers, pod.Containers) {
		have[k.Name] = k.Image
	}
	for _, name := range []string{ContainerConfigReloader, ContainerInitConfigReloader} {
		if image := have[name]; !b.Config.partsReader(image) {
			return fmt.Sprintf("container %s still has image %q", name, image)
		}
	}
	if !b.mountsAllParts(pod) {
		return "the Secrets of the parts are not mounted yet"
	}
	return ""
}

// TrimReloaders returns the parts of a pod spec that [Base.PartsFaultOf] reads, for every kind.
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

// ReadsParts reports whether a pod mounts parts of its configuration.
func (b *Base) ReadsParts(pod *corev1.PodSpec) bool {
	v := b.configVolume(pod)
	return v != nil && v.Projected != nil
}

// mountsAllParts reports whether a pod mounts the maximum number of parts.
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

// lastPart returns the source of the last part in a volume, nil if the volume does not have the
// maximum number of parts.
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
