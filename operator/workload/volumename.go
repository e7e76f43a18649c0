package workload

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/cespare/xxhash/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

var notInVolumeName = regexp.MustCompile(`[^-a-z0-9]+`)

// sanitise makes the beginning of a DNS-1123 label out of an object's name, at
// most max bytes long. Where it is cut, it can end in "-". The name begins with
// one of our prefixes, so the result is never empty.
func sanitise(name string, max int) string {
	name = strings.Trim(notInVolumeName.ReplaceAllString(strings.ToLower(name), "-"), "-")
	return name[:min(len(name), max)]
}

// VolumeName is the name of the volume that carries a Secret or ConfigMap the
// user mounts ("secret-" or "configmap-" and the object's name).
func VolumeName(prefix, object string) string {
	return strings.TrimRight(sanitise(prefix+object, validation.DNS1123LabelMaxLength), "-")
}

// uniqueVolumeName is VolumeName with a hash of the object's full name, so that
// two long names never meet.
func uniqueVolumeName(prefix, object string) string {
	const hashLen = 8
	sum := fmt.Sprintf("%x", xxhash.Sum64String(object))
	if len(sum) > hashLen {
		sum = sum[:hashLen]
	}
	return sanitise(prefix+object, validation.DNS1123LabelMaxLength-1-hashLen) + "-" + sum
}

// CheckVolumeNames refuses a pod the API server would refuse. It matters that
// this is found here: a refused update makes the operator replace the
// StatefulSet, and that would end the pods that still run.
func CheckVolumeNames(volumes []corev1.Volume) error {
	seen := make(map[string]bool, len(volumes))
	for _, v := range volumes {
		if seen[v.Name] {
			return fmt.Errorf("two volumes are named %q", v.Name)
		}
		seen[v.Name] = true
	}
	return nil
}
