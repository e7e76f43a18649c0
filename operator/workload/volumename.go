package workload

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cespare/xxhash/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
)

// ownVolume rejects the name of a volume of ours.
const ownVolume = "is the name of a volume of the operator; give yours another name"

var notInVolumeName = regexp.MustCompile(`[^-a-z0-9]+`)

// sanitise converts an object's name to the beginning of a DNS-1123 label of at most max
// bytes. A truncated name can end in "-". The name begins with one of our prefixes, so
// the result is never empty.
func sanitise(name string, max int) string {
	name = strings.Trim(notInVolumeName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return name[:min(len(name), max)]
}

// volumeName returns the name of the volume of a Secret or ConfigMap that the user mounts
// ("secret-" or "configmap-" and the object's name).
func volumeName(prefix, object string) string {
	return strings.TrimRight(sanitise(prefix+object, validation.DNS1123LabelMaxLength), "-")
}

// uniqueVolumeName is like volumeName with a hash of the object's full name, so that
// truncated names do not collide.
func uniqueVolumeName(prefix, object string) string {
	const hashLen = 8
	sum := fmt.Sprintf("%x", xxhash.Sum64String(object))
	if len(sum) > hashLen {
		sum = sum[:hashLen]
	}
	return sanitise(prefix+object, validation.DNS1123LabelMaxLength-1-hashLen) + "-" + sum
}

// checkVolumeNames rejects duplicate volume names before the API server does: a rejected
// update would make the operator recreate the StatefulSet, which would terminate the
// running pods. users has the volumes of spec.volumes.
func checkVolumeNames(ours, users []corev1.Volume) error {
	seen := make(map[string]string, len(ours)+len(users))
	for _, v := range ours {
		if seen[v.Name] != "" {
			return faults.At("spec", fmt.Errorf("two volumes are named %q", v.Name))
		}
		seen[v.Name] = ownVolume
	}
	var all faults.List
	for i, v := range users {
		field := faults.Index("spec.volumes", i)
		if taken := seen[v.Name]; taken != "" {
			all.Add(field+".name", fmt.Errorf("%q %s", v.Name, taken))
			continue
		}
		seen[v.Name] = "is the name of " + field + "; give one of them another name"
	}
	return all.Err()
}
