package promconfig

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
)

// PodMonitorJob is the job of one endpoint of a PodMonitor.
type PodMonitorJob struct {
	// JobHead of the job.
	JobHead `yaml:",inline"`
	// TLSConfig towards the targets.
	TLSConfig *TLSConfig `yaml:"tls_config,omitempty"`
	// BearerToken from a Secret, deprecated.
	BearerToken string `yaml:"bearer_token,omitempty"`
	// BasicAuth credentials.
	BasicAuth *BasicAuth `yaml:"basic_auth,omitempty"`
	// OAuth2 credentials.
	OAuth2 *OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// Proxy towards the targets.
	Proxy `yaml:",inline"`
	// Authorization header.
	Authorization *Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// JobTail of the job.
	JobTail `yaml:",inline"`
}

// CompilePodMonitor makes one job per endpoint.
func CompilePodMonitor(m *v1.PodMonitor, s *Settings, r assets.Reader) Fragment {
	return s.compile(m.Namespace, r, func(c *compiler) (any, int, error) {
		jobs, err := c.podMonitor(m)
		return jobs, len(jobs), err
	})
}

func (c *compiler) podMonitor(m *v1.PodMonitor) ([]PodMonitorJob, error) {
	if err := checkSelector(&m.Spec.Selector); err != nil {
		return nil, fmt.Errorf("failed to parse label selector: %w", err)
	}
	if err := checkMechanism(m.Spec.SelectorMechanism, c.s.target); err != nil {
		return nil, err
	}
	if err := errors.Join(checkBodySize(m.Spec.BodySizeLimit), checkLabelCopies("podTargetLabels", m.Spec.PodTargetLabels, c.s.rules)); err != nil {
		return nil, err
	}
	shared := m.Spec
	shared.PodMetricsEndpoints = nil
	if err := checkShared(len(m.Spec.PodMetricsEndpoints), shared); err != nil {
		return nil, err
	}
	jobs := make([]PodMonitorJob, len(m.Spec.PodMetricsEndpoints))
	for i := range m.Spec.PodMetricsEndpoints {
		if err := c.checkPodEndpoint(&m.Spec.PodMetricsEndpoints[i], &jobs[i]); err != nil {
			return nil, fmt.Errorf("podMetricsEndpoints[%d]: %w", i, err)
		}
	}
	class, err := c.s.scrapeClass(m.Spec.ScrapeClass)
	if err != nil {
		return nil, err
	}
	api, err := c.owner.apiServer(c.s.data.APIServerConfig)
	if err != nil {
		return nil, fmt.Errorf("the workload's apiserverConfig: %w", err)
	}
	sd := &KubernetesSD{Role: rolePod, Namespaces: c.s.namespaces(m.Spec.NamespaceSelector, m.Namespace), APIServer: api,
		AttachMetadata: c.s.attachMetadata(m.Spec.AttachMetadata, class.AttachMetadata, rolePod)}
	if sd.Selectors, err = c.s.selectors(m.Spec.SelectorMechanism, &m.Spec.Selector, rolePod); err != nil {
		return nil, fmt.Errorf("failed to parse label selector: %w", err)
	}
	for i := range jobs {
		if err := c.podJob(m, i, class, sd, &jobs[i]); err != nil {
			return nil, fmt.Errorf("podMetricsEndpoints[%d]: %w", i, err)
		}
	}
	return jobs, nil
}

// checkPodEndpoint validates one endpoint and reads what it refers to.
func (c *compiler) checkPodEndpoint(e *v1.PodMetricsEndpoint, job *PodMonitorJob) (err error) {
	if err := c.checkTimes(e.Interval, e.ScrapeTimeout); err != nil {
		return err
	}
	if err := checkPorts(e.Port, e.TargetPort); err != nil {
		return err
	}
	if err := c.s.rules.check(e.RelabelConfigs); err != nil {
		return fmt.Errorf("relabelings: %w", err)
	}
	if err := c.s.rules.check(e.MetricRelabelConfigs); err != nil {
		return fmt.Errorf("metricRelabelings: %w", err)
	}
	if err := checkHTTP(e.HTTPConfigWithoutTLS, fullTLS(e.TLSConfig), e.ProxyConfig); err != nil {
		return err
	}
	if t := e.BearerTokenSecret; t != nil && t.Name != "" && t.Key != "" {
		if job.BearerToken, err = c.own.secret(t); err != nil {
			return fmt.Errorf("bearerTokenSecret: %w", err)
		}
	}
	if job.BasicAuth, err = c.own.basicAuth(e.BasicAuth); err != nil {
		return fmt.Errorf("basicAuth: %w", err)
	}
	if job.TLSConfig, err = c.own.tls(fullTLS(e.TLSConfig)); err != nil {
		return fmt.Errorf("tlsConfig: %w", err)
	}
	if job.OAuth2, err = c.own.oauth2(e.OAuth2); err != nil {
		return fmt.Errorf("oauth2: %w", err)
	}
	if job.Authorization, err = c.own.authorization(e.Authorization); err != nil {
		return fmt.Errorf("authorization: %w", err)
	}
	if job.Proxy, err = c.own.proxy(e.ProxyConfig); err != nil {
		return err
	}
	return nil
}

// podJob fills in what needs no look at the cluster.
func (c *compiler) podJob(m *v1.PodMonitor, i int, class *v1.ScrapeClass, sd *KubernetesSD, job *PodMonitorJob) (err error) {
	e := &m.Spec.PodMetricsEndpoints[i]
	job.JobHead = JobHead{
		JobName:                  "podMonitor/" + m.Namespace + "/" + m.Name + "/" + strconv.Itoa(i),
		HonorLabels:              e.HonorLabels && !c.s.data.OverrideHonorLabels,
		HonorTimestamps:          honorTimestamps(e.HonorTimestamps, c.s.data.OverrideHonorTimestamps),
		TrackTimestampsStaleness: e.TrackTimestampsStaleness,
		KubernetesSD:             []*KubernetesSD{sd},
		ScrapeInterval:           e.Interval,
		ScrapeTimeout:            e.ScrapeTimeout,
		MetricsPath:              e.Path,
		Params:                   e.Params,
		Scheme:                   lower(e.Scheme),
		FollowRedirects:          e.FollowRedirects,
		EnableHTTP2:              e.EnableHTTP2,
	}
	job.TLSConfig = c.s.mergedTLS(nonZeroTLS(e.TLSConfig), class.TLSConfig, m.Namespace)
	client := client{tls: job.TLSConfig, basicAuth: job.BasicAuth, oauth2: job.OAuth2, authorization: job.Authorization, bearerToken: job.BearerToken}
	if job.Authorization, err = c.finish(client, e.Authorization, class); err != nil {
		return err
	}
	enforced := c.s.enforcement(podMonitors, m.Namespace, m.Name)
	job.JobTail = c.tail(tailInput{
		limits: m.Spec.ScrapeLimits, histograms: m.Spec.NativeHistogramConfig, protocols: m.Spec.ScrapeProtocols,
		fallback: m.Spec.FallbackScrapeProtocol, bodySize: m.Spec.BodySizeLimit, class: class,
		metricRelabel: e.MetricRelabelConfigs, enforced: enforced,
	})
	steps := c.podSteps(m, e)
	steps = appendRelabel(steps, class.RelabelConfigs)
	steps = appendRelabel(steps, e.RelabelConfigs)
	if enforced != nil {
		steps = append(steps, enforced)
	}
	if !c.s.data.DaemonSet {
		steps = append(steps, c.s.shardByAddress...)
	}
	job.RelabelConfigs = steps
	return nil
}

// nonZeroTLS is nil for an empty block, which leaves everything to the class.
func nonZeroTLS(t *v1.SafeTLSConfig) *v1.TLSConfig {
	if t == nil || reflect.ValueOf(*t).IsZero() {
		return nil
	}
	return fullTLS(t)
}

// podSteps are the operator's own steps before the user's.
func (c *compiler) podSteps(m *v1.PodMonitor, e *v1.PodMetricsEndpoint) []Step {
	steps := make([]Step, 0, 24)
	steps = append(steps, tmpJobName)
	if e.FilterRunning == nil || *e.FilterRunning {
		steps = append(steps, finishedPodsDrop)
	}
	if m.Spec.SelectorMechanism != v1.SelectorMechanismRoleSelector {
		steps = selectorSteps(steps, &m.Spec.Selector, "pod")
	}
	switch {
	case e.Port != "":
		steps = append(steps, keepPort("__meta_kubernetes_pod_container_port_name", e.Port))
	case e.PortNumber != nil && *e.PortNumber != 0:
		steps = append(steps, keepPortNumber(*e.PortNumber))
	case e.TargetPort != nil:
		steps = appendTargetPort(steps, *e.TargetPort, "__meta_kubernetes_pod_container_port_name")
	}
	steps = append(steps, namespaceLabel, containerLabel, podLabel)
	steps = appendLabelCopies(steps, "pod", m.Spec.PodTargetLabels)
	steps = appendLabelCopies(steps, "pod", c.s.data.PodTargetLabels)
	steps = append(steps, &copyStep{TargetLabel: "job", Replacement: m.Namespace + "/" + m.Name})
	if m.Spec.JobLabel != "" {
		steps = append(steps, copyLabel("pod", m.Spec.JobLabel, "job"))
	}
	return appendEndpointLabel(steps, e.Port, e.TargetPort)
}
