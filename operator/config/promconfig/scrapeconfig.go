package promconfig

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// ScrapeConfigJob is the job of a ScrapeConfig.
type ScrapeConfigJob struct {
	// JobName is scrapeConfig/namespace/name.
	JobName string `yaml:"job_name"`
	// HonorTimestamps keeps the timestamps of the target.
	HonorTimestamps *bool `yaml:"honor_timestamps,omitempty" since:"2.9.0"`
	// TrackTimestampsStaleness also marks series with explicit timestamps as stale.
	TrackTimestampsStaleness *bool `yaml:"track_timestamps_staleness,omitempty" since:"2.48.0"`
	// HonorLabels keeps labels of the target that conflict with those of the server.
	HonorLabels *bool `yaml:"honor_labels,omitempty"`
	// MetricsPath is the HTTP path.
	MetricsPath string `yaml:"metrics_path,omitempty"`
	// Params are the URL parameters.
	Params map[string][]string `yaml:"params,omitempty"`
	// EnableCompression requests compressed responses.
	EnableCompression *bool `yaml:"enable_compression,omitempty" since:"2.49.0"`
	// EnableHTTP2 enables HTTP/2 for connections to the target.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
	// ScrapeInterval of the job.
	ScrapeInterval v1.Duration `yaml:"scrape_interval,omitempty"`
	// ScrapeTimeout of the job, at most the interval.
	ScrapeTimeout v1.Duration `yaml:"scrape_timeout,omitempty"`
	// ScrapeProtocols are in order of preference. The server rejects an empty list.
	ScrapeProtocols []ScrapeProtocol `yaml:"scrape_protocols,omitempty" since:"2.49.0" empty:"drop"`
	// FallbackScrapeProtocol is used for responses without a valid content type.
	FallbackScrapeProtocol ScrapeProtocol `yaml:"fallback_scrape_protocol,omitempty" since:"3.0.0"`
	// Scheme is http or https.
	Scheme string `yaml:"scheme,omitempty"`
	// Proxy is used for connections to the targets.
	clientconfig.Proxy `yaml:",inline"`
	// Credentials for the targets.
	clientconfig.Credentials `yaml:",inline"`
	// TLSConfig is used for connections to the targets.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// JobLimits are the limits of the job.
	JobLimits `yaml:",inline"`
	// NativeHistograms are the histogram settings of the job.
	NativeHistograms `yaml:",inline"`
	// BodySizeLimit of one scrape: number and unit, powers of 1024.
	BodySizeLimit v1.ByteSize `yaml:"body_size_limit,omitempty" since:"2.28.0"`
	// Discoveries find the targets.
	Discoveries `yaml:",inline"`
	// RelabelConfigs are applied to targets before the scrape.
	RelabelConfigs []Step `yaml:"relabel_configs"`
	// MetricRelabelConfigs are applied to samples after the scrape.
	MetricRelabelConfigs []Step `yaml:"metric_relabel_configs,omitempty"`
	// MetricNameValidationScheme is utf8 or legacy.
	MetricNameValidationScheme string `yaml:"metric_name_validation_scheme,omitempty" since:"3.0.0"`
	// MetricNameEscapingScheme is requested when scraping.
	MetricNameEscapingScheme string `yaml:"metric_name_escaping_scheme,omitempty" since:"3.4.0"`
}

// scrapeConfigs is the name of the resource in excludedFromEnforcement.
const scrapeConfigs = v1alpha1.ScrapeConfigResource

// jobNameStep sets the job label.
type jobNameStep struct {
	// TargetLabel is job.
	TargetLabel string `yaml:"target_label"`
	// Action is replace.
	Action string `yaml:"action"`
	// Replacement is the job name set by the user.
	Replacement string `yaml:"replacement"`
}

func (*jobNameStep) step() {}

// CompileScrapeConfig compiles a ScrapeConfig to one job, regardless of the number of discoveries.
func CompileScrapeConfig(m *v1alpha1.ScrapeConfig, s *Settings, r assets.Reader) Fragment {
	return s.compile(m, r, func(c *compiler) error {
		job, err := c.scrapeConfig(m)
		if err != nil {
			return err
		}
		return c.write(job)
	})
}

func (c *compiler) scrapeConfig(m *v1alpha1.ScrapeConfig) (*ScrapeConfigJob, error) {
	spec := &m.Spec
	if err := checkDiscoveries(spec); err != nil {
		return nil, err
	}
	var wrong faults.List
	class, err := c.s.scrapeClass(spec.ScrapeClass)
	if err != nil {
		wrong.Add("", err)
		class = &v1.ScrapeClass{}
	}
	job := &ScrapeConfigJob{
		JobName:                    nameOfJob(v1alpha1.ScrapeConfigKind, m, 0),
		HonorTimestamps:            honorTimestamps(spec.HonorTimestamps, c.s.data.OverrideHonorTimestamps),
		TrackTimestampsStaleness:   spec.TrackTimestampsStaleness,
		MetricsPath:                spec.MetricsPath,
		Params:                     spec.Params,
		EnableCompression:          spec.EnableCompression,
		EnableHTTP2:                spec.EnableHTTP2,
		ScrapeInterval:             spec.ScrapeInterval,
		ScrapeTimeout:              spec.ScrapeTimeout,
		Scheme:                     lower(spec.Scheme),
		MetricNameValidationScheme: lower(spec.NameValidationScheme),
		MetricNameEscapingScheme:   escapingSchemes[c.escapingScheme(spec)],
	}
	if spec.HonorLabels != nil {
		job.HonorLabels = new(*spec.HonorLabels && !c.s.data.OverrideHonorLabels)
	}
	targets, err := c.checkScrapeConfig(spec, class)
	wrong.Add("", err)
	if !wrong.Any() {
		targets, err = c.finish(targets, spec.Authorization, class)
		wrong.Add("", err)
	}
	job.Credentials, job.Proxy, job.TLSConfig = targets.Credentials, targets.Proxy, targets.TLS
	for _, mechanism := range mechanisms {
		wrong.Add("", mechanism.read(c, spec, &job.Discoveries))
	}
	if wrong.Any() {
		return nil, wrong.Err()
	}
	if err := c.own.Known(&job.Discoveries); err != nil {
		return nil, err
	}
	c.scrapeConfigTail(m, class, job)
	return job, nil
}

// checkScrapeConfig validates everything except the discoveries, and resolves the
// references of the job's HTTP client.
func (c *compiler) checkScrapeConfig(spec *v1alpha1.ScrapeConfigSpec, class *v1.ScrapeClass) (out client, err error) {
	var wrong faults.List
	plain := rulesFor(c.s.target, cmp.Or(spec.NameValidationScheme, c.s.data.NameValidationScheme))
	rules := plain
	rules.regexps, rules.work = c.rules.regexps, c.rules.work
	wrong.Add("relabelings", rules.check(spec.RelabelConfigs))
	out.Client, err = c.sdClient(&v1alpha1.HTTPTransport{ProxyConfig: spec.ProxyConfig, TLSConfig: spec.TLSConfig}, v1alpha1.HTTPCredentials{
		BasicAuth: spec.BasicAuth, Authorization: spec.Authorization, OAuth2: spec.OAuth2,
	})
	wrong.Add("", err)
	if nonZeroTLS(spec.TLSConfig) == nil {
		out.TLS = nil
	}
	wrong.Add("", first(
		checkEvery("scrapeInterval", spec.ScrapeInterval),
		checkInterval(spec.ScrapeInterval, spec.ScrapeTimeout, c.s.data.ScrapeInterval),
	))
	wrong.Add("metricRelabelings", rules.check(spec.MetricRelabelConfigs))
	wrong.Add("", checkBodySize(spec.BodySizeLimit))
	wrong.Add("", c.checkNameSchemes(spec, class, plain))
	return out, wrong.Err()
}

// checkNameSchemes checks that a job with legacy names neither requests UTF-8 names nor
// uses steps with such names, including those of its class.
func (c *compiler) checkNameSchemes(spec *v1alpha1.ScrapeConfigSpec, class *v1.ScrapeClass, rules relabelRules) error {
	scheme := cmp.Or(spec.NameValidationScheme, c.s.data.NameValidationScheme)
	if scheme == v1.LegacyNameValidationScheme && spec.NameEscapingScheme == v1.AllowUTF8NameEscapingScheme && c.s.target.AtLeast("3.4.0") {
		return faults.At("nameEscapingScheme", errors.New("AllowUTF8 conflicts with the name validation scheme Legacy"))
	}
	if rules == c.s.rules {
		return nil
	}
	for _, list := range []struct {
		field string
		steps []v1.RelabelConfig
	}{{"relabelings", class.RelabelConfigs}, {"metricRelabelings", class.MetricRelabelConfigs}} {
		if err := faults.At(list.field, rules.check(list.steps)); err != nil {
			return faults.At("nameValidationScheme", fmt.Errorf("conflicts with the scrape class %q: %w", class.Name, err))
		}
	}
	if label := c.s.data.EnforcedNamespaceLabel; label != "" && !rules.validTarget("replace", label) {
		return faults.At("nameValidationScheme", fmt.Errorf("conflicts with the workload's enforcedNamespaceLabel %q", label))
	}
	return nil
}

// escapingScheme returns the scheme to write. From 3.4.0 on, a job without a scheme
// inherits that of the workload. Below 3.7.0, it inherits AllowUTF8 even if the job's
// names are legacy, and then the server rejects the entire file. In that case, write the
// scheme that later versions default to.
func (c *compiler) escapingScheme(spec *v1alpha1.ScrapeConfigSpec) v1.NameEscapingSchemeOptions {
	owner := c.s.data.NameEscapingScheme
	inheritsUTF8 := c.s.data.NameValidationScheme != v1.LegacyNameValidationScheme &&
		(owner == "" || owner == v1.AllowUTF8NameEscapingScheme)
	if spec.NameEscapingScheme == "" && spec.NameValidationScheme == v1.LegacyNameValidationScheme && inheritsUTF8 &&
		c.s.target.AtLeast("3.4.0") && !c.s.target.AtLeast("3.7.0") {
		return v1.UnderscoresNameEscapingScheme
	}
	return spec.NameEscapingScheme
}

// scrapeConfigTail sets the limits and steps.
func (c *compiler) scrapeConfigTail(m *v1alpha1.ScrapeConfig, class *v1.ScrapeClass, job *ScrapeConfigJob) {
	spec := &m.Spec
	enforced := c.s.enforcement(scrapeConfigs, m.Namespace, m.Name)
	tail := c.tail(tailInput{
		limits: spec.ScrapeLimits, histograms: spec.NativeHistogramConfig, protocols: spec.ScrapeProtocols,
		fallback: spec.FallbackScrapeProtocol, bodySize: spec.BodySizeLimit, class: class,
		metricRelabel: spec.MetricRelabelConfigs, enforced: enforced,
	})
	job.JobLimits, job.NativeHistograms, job.BodySizeLimit = tail.JobLimits, tail.NativeHistograms, tail.BodySizeLimit
	job.ScrapeProtocols, job.FallbackScrapeProtocol = tail.ScrapeProtocols, tail.FallbackScrapeProtocol
	job.MetricRelabelConfigs = tail.MetricRelabelConfigs

	listed := c.s.discovery().Central() && job.inCluster()
	central := c.s.discoverAny(job.JobName, &job.Discoveries)
	steps := c.stepList()
	steps.add(tmpJobName, jobNameOrigin)
	steps.addClass(class)
	if spec.JobName != "" {
		steps.add(&jobNameStep{TargetLabel: "job", Action: "replace", Replacement: spec.JobName}, "spec.jobName")
	}
	steps.addRelabel(spec.RelabelConfigs, "spec.relabelings")
	steps.addEnforced(enforced)
	if (c.s.data.Sharding.Shards > 1 || central) && !c.s.data.DaemonSet && !shardsItself(steps.steps) {
		steps.addAll(c.s.shardBy(c.s.shardByAddress, central), ShardingOrigin)
	}
	if listed {
		steps.hideListURL()
	}
	job.RelabelConfigs = c.done(&steps)
}

// shardsItself reports whether a user-defined step has the action hashmod. In that case,
// no sharding steps are added.
func shardsItself(steps []Step) bool {
	for _, s := range steps {
		if r, ok := s.(*Relabel); ok && r.Action == "hashmod" {
			return true
		}
	}
	return false
}
