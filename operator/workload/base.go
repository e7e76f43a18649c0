package workload

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Kind is what kinds of workloads have under different names.
type Kind struct {
	*catalog.Row        // of the object the user writes
	Prefix       string // of the names of generated objects
	AppName      string // value of wellknown.LabelAppName
	Mode         string // value of wellknown.LabelMode; empty leaves the label out

	// NameLabels carry the name of the workload. They are on its pods and in
	// its selectors; the first is enough to find whose a pod is.
	NameLabels []string
	// RuleLabel carries it on rule ConfigMaps.
	RuleLabel string

	Service       string // default governing Service
	OperatedLabel string // on that Service
	// NotReadyAddresses publishes pods that are not ready in that Service, where pods
	// have to find each other before they are.
	NotReadyAddresses bool

	Container string // that runs the server
	Port      int32  // on which the server listens

	Data         Data
	ConfigSecret ConfigSecret
	// RulesDir is the folder of rules inside the containers; each ConfigMap is a
	// folder in it. A kind without rules has none.
	RulesDir string
	// ConfigCarriesRules: rules beyond some ConfigMaps come with the configuration, if
	// config-reloader reads it in parts.
	ConfigCarriesRules bool
}

// Data is where a server keeps its data.
type Data struct {
	Suffix  string // of the volume's default name: "-db"
	Dir     string // inside the containers
	SubPath string // folder of the volume, unless the user disables it; empty is its root
}

// ConfigSecret is how pods get the configuration of their server.
type ConfigSecret struct {
	Suffix string // of the Secret's name; empty where this is the prefixed name alone
	Key    string // under which the Secret holds it, compressed if the name says so
	Volume string // that shows the Secret; empty where it is never in parts
}

// Base is one workload: an object, the fields that all kinds have and the
// operator's settings. Its methods build what belongs to it; they never change
// the object.
type Base struct {
	Kind   Kind
	Meta   *metav1.ObjectMeta
	Fields *v1.WorkloadFields
	Config Config
}

// Replicas is how many pods a StatefulSet should have. Zero is kept.
func (b *Base) Replicas() int32 {
	if b.Fields.Replicas == nil || *b.Fields.Replicas < 0 {
		return 1
	}
	return *b.Fields.Replicas
}

// Log is what the object says about logging.
func (b *Base) Log() Log { return Log{Level: b.Fields.LogLevel, Format: b.Fields.LogFormat} }
