package configsecret

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/resource"
)

// reloaderMemory is what config-reloader needs for itself, in bytes, generously.
const reloaderMemory = 20 << 20

// memoryWarning says that config-reloader would be killed for what it writes into a
// volume in memory, which counts as its own: the plain configuration, of which the
// old and the new version are there for a moment, and unpacked rules, of which there
// may be one version more. Empty when there is room.
func memoryWarning(size, rules int, limit resource.Quantity) string {
	need := int64(2*size + 3*rules + reloaderMemory)
	if limit.IsZero() || limit.Value() >= need {
		return ""
	}
	what := "the plain configuration has %d MiB, and is in memory several times while it is replaced"
	if rules > 0 {
		what = "the plain configuration and the rules that come with it have %d MiB, and are in memory several times while they are replaced"
	}
	return fmt.Sprintf(what+": --config-reloader-memory-limit=%s is too low, set it to %dMi or 0 (none)", (size+rules)>>20, limit.String(), (need>>20)+1)
}
