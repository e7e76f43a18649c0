package workload

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

const (
	// tlsAssetsVolume is the name of the volume [Base.TLSAssets].
	tlsAssetsVolume = "tls-assets"
	// minMountedTLSAssets is the number of Secrets of TLS assets that a pod mounts in the
	// split layout, existing or not, so that references of selected objects never change
	// the pod.
	minMountedTLSAssets = 8
	// MaxTLSAssetBytes is the maximum total size of the names and contents of all files.
	// They then fit into minMountedTLSAssets Secrets in every arrangement: a file can only be
	// left over if the free space of each Secret is less than the size of the largest
	// file.
	MaxTLSAssetBytes = minMountedTLSAssets * (MaxSecretBytes - budget.TLSFileBytes - wellknown.MaxKeyLength)
)

// TLSAssetSecrets distributes files (name to content) over as many Secrets as they need,
// at least one. held is the current Secret of each file, where it remains while it fits:
// pods mount a new Secret only after a rollout, and a file that moves there would be
// missing until then. Other files are added in name order. A file that exceeds the size of
// a Secret gets a separate one; no value in the cluster exceeds the limit of the API
// server.
func (b *Base) TLSAssetSecrets(files map[string][]byte, held map[string]int) []*corev1.Secret {
	p := packer{files: files, parts: []map[string][]byte{{}}, sizes: []int{0}}
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

// TLSAssets returns a volume with all Secrets of TLS assets in one directory. In the split
// layout, pods do not wait for missing ones.
func (b *Base) TLSAssets(secrets int) corev1.Volume {
	projected := &corev1.ProjectedVolumeSource{}
	var optional *bool
	if b.Config.Layout != LayoutSingle {
		optional = new(true)
	}
	for i := range b.mountedTLSAssets(secrets) {
		projected.Sources = append(projected.Sources, SecretProjection(b.TLSAssetSecretName(i), optional))
	}
	return corev1.Volume{Name: tlsAssetsVolume, VolumeSource: corev1.VolumeSource{Projected: projected}}
}

// TLSAssetsMount returns the mount of [Base.TLSAssets] in the server's container.
func (b *Base) TLSAssetsMount() corev1.VolumeMount {
	return corev1.VolumeMount{Name: tlsAssetsVolume, MountPath: b.Kind.TLSAssetsDir, ReadOnly: true}
}

// mountedTLSAssets returns how many Secrets pods mount if secrets of them exist. The
// single layout reproduces a well-known pod, which only has the required ones.
func (b *Base) mountedTLSAssets(secrets int) int {
	if b.Config.Layout == LayoutSingle {
		return max(secrets, 1)
	}
	return max(secrets, minMountedTLSAssets)
}

// packer is a partial distribution of files over Secrets.
type packer struct {
	files map[string][]byte
	parts []map[string][]byte
	sizes []int
}

// stays adds a file to its current Secret if it fits or is alone there.
func (p *packer) stays(name string, at int) bool {
	if at < len(p.parts) && len(p.parts[at]) > 0 && !p.fits(name, at) {
		return false
	}
	p.add(name, at)
	return true
}

func (p *packer) fits(name string, at int) bool {
	return p.sizes[at]+len(name)+len(p.files[name]) <= MaxSecretBytes
}

func (p *packer) add(name string, at int) {
	for at >= len(p.parts) {
		p.parts, p.sizes = append(p.parts, map[string][]byte{}), append(p.sizes, 0)
	}
	p.parts[at][name] = p.files[name]
	p.sizes[at] += len(name) + len(p.files[name])
}

// used returns the number of Secrets without trailing empty ones.
func (p *packer) used() int {
	n := len(p.parts)
	for n > 1 && len(p.parts[n-1]) == 0 {
		n--
	}
	return n
}
