package workload

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

const (
	// TLSAssetsVolume is the name of [Base.TLSAssets].
	TLSAssetsVolume = "tls-assets"
	// MountedTLSAssets is how many Secrets of TLS assets a pod mounts in the split layout,
	// there or not: what selected objects refer to never changes the pod.
	MountedTLSAssets = 8
	// MaxTLSAssetBytes is how much the names and contents of all files may weigh so that
	// they fit into MountedTLSAssets Secrets, wherever some of them are already: a file
	// finds no room only when each Secret has less left than the largest file needs.
	MaxTLSAssetBytes = MountedTLSAssets * (MaxSecretBytes - budget.TLSFileBytes - wellknown.MaxKeyLength)
)

// TLSAssetSecrets spreads files (name to content) over as many Secrets as they
// need; there is always one. held says which Secret has a file now: it stays there
// as long as it fits, because pods mount a new Secret only after a rollout, and a
// file that moves there would be missing until then. Other files are added in the
// order of their names. A file that is larger than the room of a Secret gets one of
// its own: no value in the cluster is larger than the API server allows.
func (b *Base) TLSAssetSecrets(files map[string][]byte, held map[string]int) []*corev1.Secret {
	p := packing{files: files, parts: []map[string][]byte{{}}, sizes: []int{0}}
	names := slices.Sorted(maps.Keys(files))
	names = slices.DeleteFunc(names, func(name string) bool {
		at, ok := held[name]
		return ok && p.stays(name, at)
	})
	at := 0
	for _, name := range names {
		for at < len(p.parts) && !p.fits(name, at) {
			at++
		}
		p.add(name, at)
	}
	out := make([]*corev1.Secret, p.used())
	for i := range out {
		out[i] = b.Secret(b.TLSAssetSecretName(i), p.parts[i])
	}
	return out
}

// TLSAssets shows all Secrets of TLS assets as one folder. In the split layout a pod
// does not wait for one that is missing.
func (b *Base) TLSAssets(secrets int) corev1.Volume {
	projected := &corev1.ProjectedVolumeSource{}
	var optional *bool
	if b.Config.Layout != LayoutSingle {
		optional = new(true)
	}
	for i := range b.mountedTLSAssets(secrets) {
		projected.Sources = append(projected.Sources, SecretProjection(b.TLSAssetSecretName(i), optional))
	}
	return corev1.Volume{Name: TLSAssetsVolume, VolumeSource: corev1.VolumeSource{Projected: projected}}
}

// mountedTLSAssets is how many Secrets pods mount when there are so many. The single
// layout repeats a well-known pod, which has as many as it needs.
func (b *Base) mountedTLSAssets(secrets int) int {
	if b.Config.Layout == LayoutSingle {
		return max(secrets, 1)
	}
	return max(secrets, MountedTLSAssets)
}

// packing are files on their way into Secrets.
type packing struct {
	files map[string][]byte
	parts []map[string][]byte
	sizes []int
}

// stays adds a file where it is, if it still fits or is alone.
func (p *packing) stays(name string, at int) bool {
	if at < len(p.parts) && len(p.parts[at]) > 0 && !p.fits(name, at) {
		return false
	}
	p.add(name, at)
	return true
}

func (p *packing) fits(name string, at int) bool {
	return p.sizes[at]+len(name)+len(p.files[name]) <= MaxSecretBytes
}

func (p *packing) add(name string, at int) {
	for at >= len(p.parts) {
		p.parts, p.sizes = append(p.parts, map[string][]byte{}), append(p.sizes, 0)
	}
	p.parts[at][name] = p.files[name]
	p.sizes[at] += len(name) + len(p.files[name])
}

// used is how many Secrets there are without empty ones at the end.
func (p *packing) used() int {
	n := len(p.parts)
	for n > 1 && len(p.parts[n-1]) == 0 {
		n--
	}
	return n
}
