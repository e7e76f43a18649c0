package rules

import (
	"slices"
	"strconv"
	"strings"
)

// MountedConfigMaps is how many ConfigMaps a Prometheus pod mounts at least. Volumes
// are optional, so growing up to this number changes no pod template.
const MountedConfigMaps = 3

// PrometheusBase is the common start of the names of a Prometheus' rule
// ConfigMaps; "-0", "-1", … follow.
func PrometheusBase(owner string) string { return "prometheus-" + owner + "-rulefiles" }

// ThanosRulerBase is the same for a Thanos Ruler.
func ThanosRulerBase(owner string) string { return "thanos-ruler-" + owner + "-rulefiles" }

// MountNames adds names of ConfigMaps that do not exist (yet) until there are
// three, sorted as strings. A Thanos Ruler mounts Plan.Names as they are.
func MountNames(base string, names []string) []string {
	out := slices.Clone(names)
	for i := 0; len(out) < MountedConfigMaps; i++ {
		if n := nameAt(base, i); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out
}

func nameAt(base string, index int) string { return base + "-" + strconv.Itoa(index) }

// indexOf is the number at the end of a name of ours. Other names are foreign,
// also "-01" and "-+1", which nameAt never makes.
func indexOf(base, name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, base+"-")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	if err != nil || i < 0 || strconv.Itoa(i) != digits {
		return 0, false
	}
	return i, true
}
