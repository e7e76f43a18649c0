package promconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/prometheus/common/model"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Capabilities are the features supported by the cluster and enabled by feature gates of the operator.
type Capabilities struct {
	// EndpointSlice means that the cluster serves discovery.k8s.io/v1 (Kubernetes >= 1.21.0).
	EndpointSlice bool
	// PodTopologyLabels means that pods have the zone label of their node (Kubernetes >= 1.35.0).
	PodTopologyLabels bool
	// ShardRetention is the feature gate PrometheusShardRetentionPolicy (on by default).
	ShardRetention bool
	// AgentDaemonSet is the feature gate PrometheusAgentDaemonSet (off by default).
	AgentDaemonSet bool
	// TopologySharding is the feature gate PrometheusTopologySharding (on by default).
	TopologySharding bool
	// CentralDiscovery is --central-discovery=opt-in: workloads may have central discovery.
	CentralDiscovery bool
	// Reloaders are further repositories of this project's config-reloader, see [workload.Config.PartsReaders].
	Reloaders []string
}

// Settings are the settings of a workload that affect the compilation of its monitors. They are
// immutable and safe for concurrent use.
type Settings struct {
	data         settingsData
	target       gate.Target
	rules        relabelRules
	key          string
	bytes        int // approximate size
	capabilities Capabilities

	// Steps that all monitors of the workload have in common.
	shardByAddress []Step
	shardByParam   []Step
	sharded        []Step // instead of both with central discovery

	origins bool // record the origins of relabel steps
}

// settingsData is hashed for the key, so it must contain every field that a fragment depends
// on. Fields are exported only for the encoder of the hash.
type settingsData struct {
	Version   string
	Mode      gate.Mode
	DaemonSet bool
	// NameValidationScheme and NameEscapingScheme are the defaults for ScrapeConfigs.
	NameValidationScheme v1.NameValidationSchemeOptions
	NameEscapingScheme   v1.NameEscapingSchemeOptions
	// Namespace is the workload's namespace; empty if no fragment depends on it.
	Namespace string

	ScrapeInterval           v1.Duration
	OverrideHonorLabels      bool
	OverrideHonorTimestamps  bool
	IgnoreNamespaceSelectors bool
	DenyFileAccess           bool
	ServiceDiscoveryRole     v1.ServiceDiscoveryRole
	PodTargetLabels          []string
	EnforcedNamespaceLabel   string
	ExcludedFromEnforcement  []v1.ObjectReference
	ScrapeClasses            []v1.ScrapeClass
	APIServerConfig          *v1.APIServerConfig
	Enforced                 enforcedLimits
	Sharding                 sharding
	Discovery                wellknown.TargetDiscovery
	EndpointSlice            bool
	Region                   string // of AWS discoveries that do not define one
}

// defaultInterval is the API's default for scrape and evaluation intervals.
const defaultInterval = "30s"

// ServerSettings returns the settings of a Prometheus for its monitors.
//
// Errors fail the reconciliation: an unsupported version, a scrape timeout above the interval,
// an invalid scrape class, more than [v1.MaxShards] shards, an [AnnotationError]. Settings that are returned with an error
// serve to find the errors of the frame.
func ServerSettings(p *v1.Prometheus, c Capabilities) (*Settings, error) {
	return newSettings(serverSource(p), c, checkSettings)
}

// UnmanagedSettings returns the settings of a Prometheus whose configuration the user manages. Faults in fields that
// are only in a generated configuration are no errors, because there is none.
//
// Errors: an unsupported version, an invalid scrape class, more than [v1.MaxShards] shards, an [AnnotationError].
func UnmanagedSettings(p *v1.Prometheus, c Capabilities) (*Settings, error) {
	return newSettings(serverSource(p), c, checkUnmanaged)
}

// settingsSource is the workload from which settings are made.
type settingsSource struct {
	*v1.CommonPrometheusFields
	meta      *metav1.ObjectMeta
	mode      gate.Mode
	daemonSet bool
}

func serverSource(p *v1.Prometheus) settingsSource {
	return settingsSource{&p.Spec.CommonPrometheusFields, &p.ObjectMeta, gate.Server, false}
}

// settingsCheck checks fields of a workload. Errors are joined.
type settingsCheck func(f *v1.CommonPrometheusFields, rules relabelRules, c Capabilities) error

func newSettings(of settingsSource, c Capabilities, check settingsCheck) (*Settings, error) {
	f := of.CommonPrometheusFields
	version, err := ParseVersion(f.Version)
	if err != nil {
		return nil, err
	}
	discovery, _, err := TargetDiscovery(of.meta.Annotations, Discoverable{
		Version: version, DaemonSet: of.daemonSet, Enabled: c.CentralDiscovery, Fault: workload.Config{PartsReaders: c.Reloaders}.TargetsFault(f.Containers),
	})
	if err != nil {
		return nil, err
	}
	target := gate.Target{Version: version, Mode: of.mode}
	rules := rulesFor(target, f.NameValidationScheme)
	if err := check(f, rules, c); err != nil {
		return &Settings{target: target, rules: rules, capabilities: c}, faults.At("spec", err) // no settings are computed from invalid values
	}
	f = f.DeepCopy() // settings outlive the caller's object
	s := &Settings{target: target, rules: rules, capabilities: c, data: settingsData{
		Version: version.String(), Mode: of.mode, DaemonSet: of.daemonSet,
		NameValidationScheme:     f.NameValidationScheme,
		NameEscapingScheme:       f.NameEscapingScheme,
		ScrapeInterval:           orDefault(f.ScrapeInterval),
		OverrideHonorLabels:      f.OverrideHonorLabels,
		OverrideHonorTimestamps:  f.OverrideHonorTimestamps,
		IgnoreNamespaceSelectors: f.IgnoreNamespaceSelectors,
		DenyFileAccess:           f.ArbitraryFSAccessThroughSMs != nil && f.ArbitraryFSAccessThroughSMs.Deny,
		ServiceDiscoveryRole:     f.ServiceDiscoveryRole,
		PodTargetLabels:          f.PodTargetLabels,
		EnforcedNamespaceLabel:   f.EnforcedNamespaceLabel,
		ExcludedFromEnforcement:  f.ExcludedFromEnforcement,
		ScrapeClasses:            f.ScrapeClasses,
		APIServerConfig:          f.APIServerConfig,
		Enforced:                 enforcedFrom(f),
		Sharding:                 shardingOf(f, of.mode, c),
		Discovery:                discovery,
		EndpointSlice:            c.EndpointSlice,
		Region:                   regionOf(f.Containers),
	}}
	if s.dependsOnNamespace() {
		s.data.Namespace = of.meta.Namespace
	}
	s.shardByAddress = s.data.Sharding.steps(addressLabel)
	s.shardByParam = s.data.Sharding.steps(paramTargetLabel)
	s.sharded = s.data.Sharding.constants()
	return s, s.seal()
}

// checkUnmanaged is the [settingsCheck] of a workload whose configuration the user manages.
func checkUnmanaged(f *v1.CommonPrometheusFields, rules relabelRules, _ Capabilities) error {
	return errors.Join(checkCounts(f), checkScrapeClasses(f.ScrapeClasses, rules.counting(new(regexcost.Budget))))
}

// checkSettings is the [settingsCheck] of the fields that concern the jobs of all objects.
func checkSettings(f *v1.CommonPrometheusFields, rules relabelRules, c Capabilities) error {
	errs := faults.List{}
	errs.Add("", checkOwner(f, rules.target))
	if interval := orDefault(f.ScrapeInterval); !errs.Any() { // durations are valid
		errs.Add("", errors.Join(checkInterval(interval, f.ScrapeTimeout, interval), checkDuration("scrapeInterval", interval)))
	}
	errs.Add("", checkLabelCopies("podTargetLabels", f.PodTargetLabels, rules))
	errs.Add("", checkScrapeClasses(f.ScrapeClasses, rules.counting(new(regexcost.Budget))))
	errs.Add("", checkExternalLabels(f, c, rules))
	if label := f.EnforcedNamespaceLabel; label != "" && !rules.validTarget("replace", label) {
		errs.Add("enforcedNamespaceLabel", invalidName(label))
	}
	return errs.Err()
}

// shardingOf returns the shards and zones of the workload.
func shardingOf(f *v1.CommonPrometheusFields, mode gate.Mode, c Capabilities) sharding {
	out := sharding{Shards: 1, Current: c.ShardRetention && mode == gate.Server, PodTopology: c.PodTopologyLabels}
	if f.Shards != nil && *f.Shards > 1 {
		out.Shards = *f.Shards
	}
	if st := topologyOf(f, c); st != nil {
		out.Zones = st.Values
	}
	return out
}

// topologyOf returns the topology block if topology sharding is enabled.
func topologyOf(f *v1.CommonPrometheusFields, c Capabilities) *v1.ShardingTopology {
	st := f.ShardingStrategy
	if !c.TopologySharding || st == nil || st.Mode != v1.TopologyShardingStrategyMode {
		return nil
	}
	return st.Topology
}

// dependsOnNamespace reports whether the settings contain references, whose meaning depends on
// the workload's namespace.
func (s *Settings) dependsOnNamespace() bool {
	if s.data.APIServerConfig != nil {
		return true
	}
	for i := range s.data.ScrapeClasses {
		c := &s.data.ScrapeClasses[i]
		if c.Authorization != nil && c.Authorization.Credentials != nil {
			return true
		}
		if t := c.TLSConfig; t != nil && (clientconfig.IsSet(t.CA) || clientconfig.IsSet(t.Cert) || t.KeySecret != nil) {
			return true
		}
	}
	return false
}

func (s *Settings) seal() error {
	text, err := json.Marshal(s.data)
	if err != nil {
		return fmt.Errorf("hash the settings: %w", err)
	}
	sum := sha256.Sum256(text)
	s.key, s.bytes = hex.EncodeToString(sum[:]), len(text)
	return nil
}

// Size returns the approximate size in memory, in bytes. It is 0 for nil.
func (s *Settings) Size() int {
	if s == nil {
		return 0
	}
	return s.bytes
}

// Key returns a hash of the settings. Equal keys result in equal fragments for the same monitor.
func (s *Settings) Key() string { return s.key }

// Target returns the program and version for which the document is generated.
func (s *Settings) Target() gate.Target { return s.target }

// checkInterval rejects a timeout that is invalid or longer than the interval. own is the
// monitor's interval; if empty, owners applies.
func checkInterval(own, timeout, owners v1.Duration) error {
	if timeout == "" {
		return nil
	}
	interval := own
	if interval == "" {
		interval = owners
	}
	i, err := model.ParseDuration(string(interval))
	if err != nil {
		return faults.At("interval", fmt.Errorf("%q: %w", interval, err))
	}
	t, err := model.ParseDuration(string(timeout))
	if err != nil {
		return faults.At("scrapeTimeout", fmt.Errorf("%q: %w", timeout, err))
	}
	if t > i {
		whose := "; set a longer interval, or a shorter timeout"
		if own == "" {
			whose = " of the workload; set an interval here, or a shorter timeout"
		}
		return faults.At("scrapeTimeout", fmt.Errorf("%s is longer than the interval %s%s", timeout, interval, whose))
	}
	return nil
}

// Unmanaged reports whether the user manages the configuration of a Prometheus, that is, none
// of the four monitor selectors is set. disabled is the flag
// --disable-unmanaged-prometheus-configuration of the operator.
func Unmanaged(p *v1.Prometheus, disabled bool) bool {
	s := &p.Spec
	return !disabled && s.ServiceMonitorSelector == nil && s.PodMonitorSelector == nil &&
		s.ProbeSelector == nil && s.ScrapeConfigSelector == nil
}
