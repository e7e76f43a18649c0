package workload

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Kind describes the differences between the kinds of workloads.
type Kind struct {
	*catalog.Row        // of the user's object
	Prefix       string // of the names of generated objects
	AppName      string // value of wellknown.LabelAppName
	Mode         string // value of wellknown.LabelMode; empty: no label

	// NameLabels are labels with the name of the workload, on its pods and in its
	// selectors. The first is sufficient to find the workload of a pod.
	NameLabels []string
	// RuleLabel is the label with the name on rule ConfigMaps.
	RuleLabel string

	Service       string // default governing Service
	OperatedLabel string // on that Service
	// NotReadyAddresses publishes pods that are not ready in that Service, which is
	// required if pods must discover each other before they are ready.
	NotReadyAddresses bool

	Container string // of the server
	Port      int32  // on which the server listens

	Data         Data
	ConfigSecret ConfigSecret
	// RulesDir is the directory of rules in the containers, with a subdirectory per
	// ConfigMap. It is empty for a kind without rules.
	RulesDir string
	// ConfigCarriesRules means that rules beyond some ConfigMaps are part of the
	// configuration if config-reloader supports configuration parts.
	ConfigCarriesRules bool
}

// Data describes the data directory of a server.
type Data struct {
	Suffix  string // of the volume's default name: "-db"
	Dir     string // in the containers
	SubPath string // directory in the volume, unless the user disables it; empty: the root
}

// ConfigSecret describes how pods get the configuration of their server.
type ConfigSecret struct {
	Suffix string // of the Secret's name; empty: the name is the prefixed name alone
	Key    string // of the entry in the Secret, which is compressed if the name indicates it
	Volume string // that mounts the Secret; empty: the kind has no configuration parts
}

// Base is one workload: an object, the fields that all kinds have, and the operator's
// settings. Its methods build the generated objects and never modify the user's object.
type Base struct {
	Kind   Kind
	Meta   *metav1.ObjectMeta
	Fields *v1.WorkloadFields
	Config Config
}

// Replicas returns the number of pods per StatefulSet. Zero is valid; nil and negative numbers mean 1.
func (b *Base) Replicas() int32 {
	if b.Fields.Replicas == nil || *b.Fields.Replicas < 0 {
		return 1
	}
	return *b.Fields.Replicas
}

// Log returns the log settings of the object.
func (b *Base) Log() Log { return Log{Level: b.Fields.LogLevel, Format: b.Fields.LogFormat} }
