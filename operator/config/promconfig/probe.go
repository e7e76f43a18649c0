package promconfig

import (
	"cmp"
	"errors"
	"fmt"
	"maps"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// ProbeJob is the job of a Probe. The prober is scraped once per target.
type ProbeJob struct {
	// JobName is probe/namespace/name.
	JobName string `yaml:"job_name"`
	// HonorTimestamps keeps the timestamps of the prober.
	HonorTimestamps bool `yaml:"honor_timestamps" since:"2.9.0"`
	// MetricsPath is the path of the prober.
	MetricsPath string `yaml:"metrics_path"`
	// ScrapeInterval of the job.
	ScrapeInterval v1.Duration `yaml:"scrape_interval,omitempty"`
	// ScrapeTimeout of the job, at most the interval.
	ScrapeTimeout v1.Duration `yaml:"scrape_timeout,omitempty"`
	// Scheme of the prober, http or https.
	Scheme string `yaml:"scheme,omitempty"`
	// Params are the URL parameters, starting with the module.
	Params gate.Node `yaml:"params,omitempty"`
	// JobLimits are the limits of the job.
	JobLimits `yaml:",inline"`
	// NativeHistograms are the histogram settings of the job.
	NativeHistograms `yaml:",inline"`
	// ScrapeProtocols are in order of preference. The server rejects an empty list.
	ScrapeProtocols []ScrapeProtocol `yaml:"scrape_protocols,omitempty" since:"2.49.0" empty:"drop"`
	// FallbackScrapeProtocol is used for responses without a valid content type.
	FallbackScrapeProtocol ScrapeProtocol `yaml:"fallback_scrape_protocol,omitempty" since:"3.0.0"`
	// BodySizeLimit of one scrape: number and unit, powers of 1024.
	BodySizeLimit v1.ByteSize `yaml:"body_size_limit,omitempty" since:"2.28.0"`
	// Proxy is used for connections to the prober.
	clientconfig.Proxy `yaml:",inline"`
	// FollowRedirects enables following HTTP redirects.
	FollowRedirects *bool `yaml:"follow_redirects,omitempty" since:"2.26.0"`
	// EnableHTTP2 enables HTTP/2 for connections to the prober.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
	// TLSConfig is used for connections to the prober.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// StaticConfigs has at most one entry.
	StaticConfigs []StaticConfig `yaml:"static_configs,omitempty"`
	// KubernetesSD has at most one entry.
	KubernetesSD []*KubernetesSD `yaml:"kubernetes_sd_configs,omitempty"`
	// Listed has one entry for Ingresses with central discovery.
	Listed []*ListedSD `yaml:"http_sd_configs,omitempty"`
	// RelabelConfigs are applied to targets before the scrape.
	RelabelConfigs []Step `yaml:"relabel_configs,omitempty"`
	// BearerToken is read from a Secret; deprecated.
	BearerToken string `yaml:"bearer_token,omitempty"`
	// BasicAuth holds a user name and password.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// OAuth2 holds OAuth 2.0 client credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// Authorization is sent as the Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// MetricRelabelConfigs are applied to samples after the scrape.
	MetricRelabelConfigs []Step `yaml:"metric_relabel_configs,omitempty"`
}

// StaticConfig is one entry of static_configs.
type StaticConfig struct {
	// Targets are in the user's order.
	Targets []string `yaml:"targets"`
	// Labels are added to all targets.
	Labels map[string]string `yaml:"labels,omitempty"`
}

// ingressStep writes a label from several others. The target label is in the middle of the step.
type ingressStep struct {
	// SourceLabels are the labels to match.
	SourceLabels []string `yaml:"source_labels"`
	// Separator is placed between the source labels.
	Separator string `yaml:"separator"`
	// Regex is RE2, anchored at both ends.
	Regex string `yaml:"regex"`
	// TargetLabel is the label to write.
	TargetLabel string `yaml:"target_label"`
	// Replacement for the target label.
	Replacement string `yaml:"replacement"`
	// Action is replace.
	Action string `yaml:"action"`
}

func (*ingressStep) step() {}

// Steps that all jobs of Probes have in common.
var (
	targetParam   = &copyStep{SourceLabels: []string{"__address__"}, TargetLabel: paramTargetLabel}
	instanceLabel = &copyStep{SourceLabels: []string{paramTargetLabel}, TargetLabel: "instance"}
	ingressURL    = &ingressStep{
		SourceLabels: []string{"__meta_kubernetes_ingress_scheme", "__address__", "__meta_kubernetes_ingress_path"},
		Separator:    ";", Regex: "(.+);(.+);(.+)", TargetLabel: paramTargetLabel, Replacement: "${1}://${2}${3}", Action: "replace",
	}
	ingressLabel   = &copyStep{SourceLabels: []string{"__meta_kubernetes_ingress_name"}, TargetLabel: "ingress"}
	ingressAddress = &ingressStep{
		SourceLabels: []string{"__address__"}, Separator: ";", Regex: "(.*)", TargetLabel: "__tmp_ingress_address", Replacement: "$1", Action: "replace",
	}
)

// defaultProbePath is the API's default for spec.prober.path.
const defaultProbePath = "/probe"

// CompileProbe compiles a Probe to a job.
func CompileProbe(m *v1.Probe, s *Settings, r assets.Reader) Fragment {
	return s.compile(m, r, func(c *compiler) error {
		job, err := c.probe(m)
		if err != nil {
			return err
		}
		return c.write(job)
	})
}

func (c *compiler) probe(m *v1.Probe) (*ProbeJob, error) {
	var wrong faults.List
	class, err := c.s.scrapeClass(m.Spec.ScrapeClass)
	wrong.Add("", err)
	job := &ProbeJob{}
	prober, err := c.checkProbe(m, job)
	wrong.Add("", err)
	if wrong.Any() {
		return nil, wrong.Err()
	}
	if prober, err = c.finish(prober, m.Spec.Authorization, class); err != nil {
		return nil, err
	}
	job.BearerToken, job.BasicAuth, job.Authorization = prober.bearerToken, prober.BasicAuth, prober.Authorization
	job.OAuth2, job.TLSConfig, job.Proxy = prober.OAuth2, prober.TLS, prober.Proxy
	enforced := c.s.enforcement(probes, m.Namespace, m.Name)
	tail := c.tail(tailInput{
		limits: m.Spec.ScrapeLimits, histograms: m.Spec.NativeHistogramConfig, protocols: m.Spec.ScrapeProtocols,
		fallback: m.Spec.FallbackScrapeProtocol, class: class, metricRelabel: m.Spec.MetricRelabelConfigs, enforced: enforced,
	})
	job.JobName = nameOfJob(v1.ProbeKind, m, 0)
	job.HonorTimestamps = !c.s.data.OverrideHonorTimestamps
	job.MetricsPath = m.Spec.ProberSpec.Path
	if job.MetricsPath == "" {
		job.MetricsPath = defaultProbePath
	}
	job.ScrapeInterval, job.ScrapeTimeout = m.Spec.Interval, m.Spec.ScrapeTimeout
	job.Scheme = lower(m.Spec.ProberSpec.Scheme)
	job.FollowRedirects, job.EnableHTTP2 = m.Spec.FollowRedirects, m.Spec.EnableHTTP2
	job.JobLimits, job.NativeHistograms = tail.JobLimits, tail.NativeHistograms
	job.ScrapeProtocols, job.FallbackScrapeProtocol = tail.ScrapeProtocols, tail.FallbackScrapeProtocol
	job.BodySizeLimit, job.MetricRelabelConfigs = tail.BodySizeLimit, tail.MetricRelabelConfigs
	return job, c.probeTargets(m, job, class, enforced)
}

// checkProbe validates a Probe, resolves its references and sets the parameters of the job.
func (c *compiler) checkProbe(m *v1.Probe, job *ProbeJob) (out client, err error) {
	var wrong faults.List
	if m.Spec.Targets.StaticConfig == nil && m.Spec.Targets.Ingress == nil {
		wrong.Add("targets", errors.New("one of staticConfig and ingress is needed"))
	}
	out.bearerToken, err = c.own.Secret(m.Spec.BearerTokenSecret)
	wrong.Add("bearerTokenSecret", err)
	out.Client, err = c.own.Client(v1.HTTPConfigWithoutTLS{
		BasicAuth: m.Spec.BasicAuth, Authorization: m.Spec.Authorization, OAuth2: m.Spec.OAuth2,
	}, nonZeroTLS(m.Spec.TLSConfig), v1.ProxyConfig{}) // the proxy of the prober
	wrong.Add("", err)
	wrong.Add("", c.checkTimes(m.Spec.Interval, m.Spec.ScrapeTimeout))
	wrong.Add("metricRelabelings", c.rules.check(m.Spec.MetricRelabelConfigs))
	wrong.Add("", c.checkProbeTargets(m.Spec.Targets))
	out.Proxy, err = c.own.Proxy(m.Spec.ProberSpec.ProxyConfig)
	wrong.Add("prober", err)
	wrong.Add("prober.url", checkHost(m.Spec.ProberSpec.URL))
	job.Params, err = probeParams(&m.Spec)
	wrong.Add("", err)
	return out, wrong.Err()
}

// checkProbeTargets checks both kinds of targets, even if one is not used.
func (c *compiler) checkProbeTargets(t v1.ProbeTargets) error {
	var wrong faults.List
	if s := t.StaticConfig; s != nil {
		wrong.Add("", budget.Elements(v1.ProbeKind, "targets.staticConfig.static", len(s.Static), budget.StaticTargets))
		_, err := staticBytes(len(s.Static), s.Labels)
		wrong.Add("targets.staticConfig.labels", cmp.Or(err, c.checkStaticLabels(s.Labels)))
		wrong.Add("targets.staticConfig.relabelingConfigs", c.rules.check(s.RelabelConfigs))
	}
	if i := t.Ingress; i != nil {
		wrong.Add("targets.ingress", c.rules.checkSelectorValues(&i.Selector))
		wrong.Add("targets.ingress.relabelingConfigs", c.rules.check(i.RelabelConfigs))
	}
	return wrong.Err()
}

// probeParams returns the URL parameters, starting with the module. spec.module overrides
// a parameter named module.
func probeParams(s *v1.ProbeSpec) (gate.Node, error) {
	var out gate.Node
	seen := map[string]bool{}
	if s.Module != "" {
		out = append(out, gate.Item{Key: "module", Value: []string{s.Module}})
	}
	for i, p := range s.Params {
		if seen[p.Name] {
			return nil, faults.At(faults.Index("params", i), fmt.Errorf("%q occurs twice", p.Name))
		}
		seen[p.Name] = true
		if p.Name != "module" || s.Module == "" {
			out = append(out, gate.Item{Key: p.Name, Value: p.Values})
		}
	}
	return out, nil
}

// probeTargets sets the targets. Static targets take precedence over Ingresses.
func (c *compiler) probeTargets(m *v1.Probe, job *ProbeJob, class *v1.ScrapeClass, enforced Step) error {
	steps := c.stepList()
	steps.add(tmpJobName, jobNameOrigin)
	if m.Spec.JobName != "" {
		steps.add(&copyStep{TargetLabel: "job", Replacement: m.Spec.JobName}, "spec.jobName")
	}
	prober := &copyStep{TargetLabel: "__address__", Replacement: m.Spec.ProberSpec.URL}
	var (
		own  []v1.RelabelConfig
		path string
	)
	if static := m.Spec.Targets.StaticConfig; static != nil {
		job.StaticConfigs = []StaticConfig{{Targets: static.Static, Labels: withNamespace(static.Labels, m.Namespace)}}
		steps.add(targetParam, targetOrigin)
		own, path = static.RelabelConfigs, "spec.targets.staticConfig.relabelingConfigs"
	} else {
		ingress := m.Spec.Targets.Ingress
		api, err := c.apiServer()
		if err != nil {
			return err
		}
		namespaces := c.s.namespaces(ingress.NamespaceSelector, m.Namespace)
		if err := checkNamespaces(v1.ProbeKind, "targets.ingress.namespaceSelector.matchNames", namespaces); err != nil {
			return err
		}
		job.KubernetesSD, job.Listed = c.s.discover(job.JobName, &KubernetesSD{Role: roleIngress, Namespaces: namespaces, APIServer: api})
		steps.addSelector(&ingress.Selector, "ingress", "spec.targets.ingress.selector")
		steps.add(ingressURL, targetOrigin)
		steps.add(namespaceLabel, namespaceOrigin)
		steps.add(ingressLabel, ingressOrigin)
		steps.add(ingressAddress, ingressAddressOrigin)
		own, path = ingress.RelabelConfigs, "spec.targets.ingress.relabelingConfigs"
	}
	steps.add(instanceLabel, instanceOrigin)
	steps.add(prober, "spec.prober.url")
	steps.addClass(class)
	steps.addRelabel(own, path)
	steps.addEnforced(enforced)
	steps.addAll(c.s.shardBy(c.s.shardByParam, job.KubernetesSD == nil && job.StaticConfigs == nil), ShardingOrigin)
	if job.Listed != nil {
		steps.hideListURL()
	}
	job.RelabelConfigs = c.done(&steps)
	return nil
}

// withNamespace adds the namespace label unless the user has set it.
func withNamespace(labels map[string]string, namespace string) map[string]string {
	out := map[string]string{"namespace": namespace}
	maps.Copy(out, labels)
	return out
}
