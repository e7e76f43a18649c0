package workload

import (
	"cmp"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
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

	DefaultVersion string // used if spec.version is empty

	Container    string            // of the server
	Port         int32             // on which the server listens
	Memory       resource.Quantity // default memory request of the server; zero: none
	GraceSeconds int64             // default termination grace period of the pods
	// ServicePorts are the ports in the shared Service. A port without a name is that of the server, whose name is in
	// spec.portName.
	ServicePorts []corev1.ServicePort

	Web             Web
	TLSAssetsDir    string // directory of the files of [Base.TLSAssetSecrets] in the server's container
	FilesAnnotation string // on pods, with [PodInputs.Files]

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

// StatefulSets returns the label selector of the StatefulSets of a kind that no other kind
// shares its AppName with.
func (k Kind) StatefulSets() string {
	return wellknown.Having(wellknown.LabelAppManagedBy, wellknown.ManagedBy) + "," + wellknown.Having(wellknown.LabelAppName, k.AppName)
}

// Web describes how servers get their web configuration.
type Web struct {
	Dir string   // in the containers
	In  Versions // that support it
}

// Path returns the path of the file in the containers.
func (w Web) Path() string { return path.Join(w.Dir, webConfigKey) }

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

	// Version is the version of the server. It is nil if Err is set, which all methods return that depend on the
	// version. Names and labels do not need it.
	Version *semver.Version
	Err     error
	Web     *v1.WebConfigFileFields // those of spec.web; nil if that is not set
}

// NewBase returns a workload with its version parsed.
func NewBase(kind Kind, meta *metav1.ObjectMeta, fields *v1.WorkloadFields, cfg Config) *Base {
	b := &Base{Kind: kind, Meta: meta, Fields: fields, Config: cfg}
	b.Version, b.Err = ParseVersion("spec.version", b.VersionText())
	return b
}

// VersionText returns the version as the user wrote it. The image tag has the same form.
func (b *Base) VersionText() string {
	return cmp.Or(strings.TrimSpace(b.Fields.Version), b.Kind.DefaultVersion)
}

// Single reports whether the pods have exactly the containers of the single layout.
func (b *Base) Single() bool { return b.Config.Layout == LayoutSingle }

// Replicas returns the number of pods per StatefulSet. Zero is valid; nil and negative numbers mean 1.
func (b *Base) Replicas() int32 {
	if b.Fields.Replicas == nil || *b.Fields.Replicas < 0 {
		return 1
	}
	return *b.Fields.Replicas
}

// Log returns the log settings of the object.
func (b *Base) Log() Log { return Log{Level: b.Fields.LogLevel, Format: b.Fields.LogFormat} }
