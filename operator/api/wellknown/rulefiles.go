package wellknown

import "strconv"

// MountedRuleConfigMaps is the minimum number of rule ConfigMaps that a pod mounts, existing
// or not. The volumes are optional, so growing up to this number does not change the pod
// template.
const MountedRuleConfigMaps = 3

// MountedRuleConfigMapsAlone is like [MountedRuleConfigMaps] for pods whose rules cannot be
// part of the configuration when they exceed three ConfigMaps. It is limited to one digit, so
// that the maximum length of workload names stays the same.
const MountedRuleConfigMapsAlone = 10

// RuleConfigMapName returns the name of the i-th rule ConfigMap. base is the common prefix
// for one workload, "prometheus-k8s-rulefiles".
func RuleConfigMapName(base string, i int) string { return base + "-" + strconv.Itoa(i) }
