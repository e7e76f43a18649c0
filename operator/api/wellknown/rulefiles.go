package wellknown

import "strconv"

// MountedRuleConfigMaps is how many ConfigMaps of rules a pod mounts at least, there or
// not. Volumes are optional, so growing up to this number changes no pod template.
const MountedRuleConfigMaps = 3

// MountedRuleConfigMapsAlone is the same for pods that get rules in no other way: where
// the configuration cannot carry what exceeds three ConfigMaps. One digit: names of workloads
// may be as long as with fewer.
const MountedRuleConfigMapsAlone = 10

// RuleConfigMapName is the i-th ConfigMap of rules; base is what the names of one
// workload have in common, "prometheus-k8s-rulefiles".
func RuleConfigMapName(base string, i int) string { return base + "-" + strconv.Itoa(i) }
