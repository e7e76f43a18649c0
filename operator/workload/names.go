package workload

import (
	"fmt"
	"slices"
)

// PrefixedName is the name of the configuration Secret and of shard 0, and the
// base of all other names: "prometheus-k8s".
func (o *Owner) PrefixedName() string { return o.kind.prefix + "-" + o.meta.Name }

// ConfigSecretName is the Secret with the configuration.
func (o *Owner) ConfigSecretName() string { return o.PrefixedName() }

// ConfigParts is how many Secrets there are for parts of a configuration, beside the
// first. Every pod mounts all of them, there or not, and the kubelet watches each. At
// most half of them are in use: a new version is written beside the one that pods
// may still need.
const ConfigParts = 16

// ConfigPartName is the Secret with the i-th part of the configuration, from 1.
func (o *Owner) ConfigPartName(i int) string { return o.PrefixedName() + partSuffix(i) }

func partSuffix(i int) string { return fmt.Sprintf("-config-part-%d", i) }

// WebConfigSecretName is the Secret with the web configuration.
func (o *Owner) WebConfigSecretName() string { return o.PrefixedName() + "-web-config" }

// ThanosHTTPClientSecretName is the Secret with which the Thanos sidecar talks to
// Prometheus.
func (o *Owner) ThanosHTTPClientSecretName() string {
	return o.PrefixedName() + "-" + thanosClientVolume
}

// TLSAssetSecretName is the i-th Secret of TLS assets.
func (o *Owner) TLSAssetSecretName(i int) string {
	return fmt.Sprintf("%s-tls-assets-%d", o.PrefixedName(), i)
}

// RuleConfigMapName is the i-th ConfigMap of rules.
func (o *Owner) RuleConfigMapName(i int) string {
	return fmt.Sprintf("%s-rulefiles-%d", o.PrefixedName(), i)
}

// minRuleVolumes is how many rule volumes a pod has at least. The volumes are
// optional, so rules can grow into them without a new pod.
const minRuleVolumes = 3

// PadRuleConfigMaps adds the names of ConfigMaps that do not exist yet, up to
// three. The result is what StatefulSet, InputHash and rule_files take.
func (o *Owner) PadRuleConfigMaps(names []string) []string {
	out := slices.Clone(names)
	for i := 0; len(out) < minRuleVolumes; i++ {
		if name := o.RuleConfigMapName(i); !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// ServiceName is the Service that governs the StatefulSets: the owner's or the
// default one.
func (o *Owner) ServiceName() string {
	if o.CustomService() {
		return o.common.ServiceName
	}
	return o.kind.service
}

// CustomService reports whether the owner names its own Service; then the
// default one is neither created nor deleted.
func (o *Owner) CustomService() bool { return o.common.ServiceName != "" }

// ShardNames are the names of the StatefulSets that should exist, in order.
func (o *Owner) ShardNames() []string {
	names := make([]string, o.Shards())
	for i := range names {
		names[i] = o.shardName(int32(i))
	}
	return names
}

func (o *Owner) shardName(shard int32) string {
	if shard == 0 {
		return o.PrefixedName()
	}
	return fmt.Sprintf("%s-shard-%d", o.PrefixedName(), shard)
}
