package promconfig

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// PodMonitorJob is the job of one endpoint of a PodMonitor.
type PodMonitorJob struct {
	// JobHead is the beginning of the job.
	JobHead `yaml:",inline"`
	// TLSConfig is used for connections to the targets.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// BearerToken is read from a Secret; deprecated.
	BearerToken string `yaml:"bearer_token,omitempty"`
	// BasicAuth holds a user name and password.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// OAuth2 holds OAuth 2.0 client credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// Proxy is used for connections to the targets.
	clientconfig.Proxy `yaml:",inline"`
	// Authorization is sent as the Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// JobTail is the end of the job.
	JobTail `yaml:",inline"`
}

// podEndpoints is the path of the endpoints of a PodMonitor.
const podEndpoints = "spec.podMetricsEndpoints"

// CompilePodMonitor compiles a PodMonitor to one job per endpoint.
func CompilePodMonitor(m *v1.PodMonitor, s *Settings, r assets.Reader) Fragment {
	return s.compile(m, r, func(c *compiler) error { return c.podMonitor(m) })
}

func (c *compiler) podMonitor(m *v1.PodMonitor) error {
	if err := budget.Elements(v1.PodMonitorKind, "podMetricsEndpoints", len(m.Spec.PodMetricsEndpoints), budget.Endpoints); err != nil {
		return err
	}
	if err := checkSelector(&m.Spec.Selector); err != nil {
		return err
	}
	if err := checkMechanism(m.Spec.SelectorMechanism, c.s.target); err != nil {
		return err
	}
	if err := errors.Join(checkBodySize(m.Spec.BodySizeLimit), checkLabelCopies("podTargetLabels", m.Spec.PodTargetLabels, c.rules)); err != nil {
		return err
	}
	jobs := make([]PodMonitorJob, len(m.Spec.PodMetricsEndpoints))
	class, err := c.checkEndpoints("podMetricsEndpoints", len(jobs), m.Spec.ScrapeClass, func(i int) error {
		return c.checkPodEndpoint(&m.Spec.PodMetricsEndpoints[i], &jobs[i])
	})
	if err != nil {
		return err
	}
	api, err := c.owner.apiServer(c.s.data.APIServerConfig)
	if err != nil {
		return fmt.Errorf("the workload's %w", faults.At("spec.apiserverConfig", err))
	}
	sd := &KubernetesSD{Role: rolePod, Namespaces: c.s.namespaces(m.Spec.NamespaceSelector, m.Namespace), APIServer: api,
		AttachMetadata: c.s.attachMetadata(m.Spec.AttachMetadata, class.AttachMetadata, rolePod)}
	if sd.Selectors, err = c.s.selectors(m.Spec.SelectorMechanism, &m.Spec.Selector, rolePod); err != nil {
		return faults.At("selector", err)
	}
	var wrong faults.List
	for i := range jobs {
		if err := c.podJob(m, i, class, sd, &jobs[i]); err != nil {
			wrong.Add(faults.Index("podMetricsEndpoints", i), err)
		}
		if err := c.write(&jobs[i]); err != nil {
			return err
		}
		jobs[i] = PodMonitorJob{} // together they take as much memory as the text
	}
	return wrong.Err()
}

// checkPodEndpoint validates one endpoint and resolves its references.
func (c *compiler) checkPodEndpoint(e *v1.PodMetricsEndpoint, job *PodMonitorJob) (err error) {
	var wrong faults.List
	wrong.Add("", c.checkTimes(e.Interval, e.ScrapeTimeout))
	wrong.Add("", c.rules.checkPorts(e.Port, e.TargetPort))
	wrong.Add("relabelings", c.rules.check(e.RelabelConfigs))
	wrong.Add("metricRelabelings", c.rules.check(e.MetricRelabelConfigs))
	wrong.Add("", checkAuthentication(e.HTTPConfigWithoutTLS))
	if t := e.BearerTokenSecret; t != nil && t.Name != "" && t.Key != "" {
		job.BearerToken, err = c.own.Secret(t)
		wrong.Add("bearerTokenSecret", err)
	}
	client, err := c.own.Client(e.HTTPConfigWithoutTLS, nonZeroTLS(e.TLSConfig), e.ProxyConfig)
	job.BasicAuth, job.Authorization, job.OAuth2, job.TLSConfig, job.Proxy = client.BasicAuth, client.Authorization, client.OAuth2, client.TLS, client.Proxy
	wrong.Add("", err)
	return wrong.Err()
}

// podJob sets the fields that do not depend on the cluster.
func (c *compiler) podJob(m *v1.PodMonitor, i int, class *v1.ScrapeClass, sd *KubernetesSD, job *PodMonitorJob) (err error) {
	e := &m.Spec.PodMetricsEndpoints[i]
	job.JobHead = JobHead{
		JobName:                  nameOfJob(v1.PodMonitorKind, m, i),
		HonorLabels:              e.HonorLabels && !c.s.data.OverrideHonorLabels,
		HonorTimestamps:          honorTimestamps(e.HonorTimestamps, c.s.data.OverrideHonorTimestamps),
		TrackTimestampsStaleness: e.TrackTimestampsStaleness,
		ScrapeInterval:           e.Interval,
		ScrapeTimeout:            e.ScrapeTimeout,
		MetricsPath:              e.Path,
		Params:                   e.Params,
		Scheme:                   lower(e.Scheme),
		FollowRedirects:          e.FollowRedirects,
		EnableHTTP2:              e.EnableHTTP2,
	}
	job.KubernetesSD, job.Listed = c.s.discover(job.JobName, sd)
	job.TLSConfig = c.s.mergedTLS(job.TLSConfig, class.TLSConfig)
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
	steps := c.podSteps(m, i)
	steps.addClass(class)
	steps.addRelabel(e.RelabelConfigs, steps.fieldOf(podEndpoints, i, "relabelings"))
	steps.addEnforced(enforced)
	if !c.s.data.DaemonSet {
		steps.addAll(c.s.shardBy(c.s.shardByAddress, job.KubernetesSD == nil), ShardingOrigin)
	}
	if job.Listed != nil {
		steps.hideListURL()
	}
	job.RelabelConfigs = c.done(&steps)
	return nil
}

// nonZeroTLS returns nil for an empty block, so that the scrape class applies.
func nonZeroTLS(t *v1.SafeTLSConfig) *v1.TLSConfig {
	if t == nil || reflect.ValueOf(*t).IsZero() {
		return nil
	}
	return clientconfig.FullTLS(t)
}

// podSteps returns the operator's steps, which precede the user's.
func (c *compiler) podSteps(m *v1.PodMonitor, i int) stepList {
	e := &m.Spec.PodMetricsEndpoints[i]
	l := c.stepList()
	l.steps = make([]Step, 0, 24)
	l.add(tmpJobName, jobNameOrigin)
	if e.FilterRunning == nil || *e.FilterRunning {
		l.add(finishedPodsDrop, finishedPodsOrigin)
	}
	if m.Spec.SelectorMechanism != v1.SelectorMechanismRoleSelector {
		l.addSelector(&m.Spec.Selector, "pod", "spec.selector")
	}
	switch {
	case e.Port != "":
		l.add(keepPort(podPortName, e.Port), l.fieldOf(podEndpoints, i, "port"))
	case e.PortNumber != nil && *e.PortNumber != 0:
		l.add(keepPortNumber(*e.PortNumber), l.fieldOf(podEndpoints, i, "portNumber"))
	case e.TargetPort != nil:
		l.addTargetPort(*e.TargetPort, l.fieldOf(podEndpoints, i, "targetPort"))
	}
	l.add(namespaceLabel, namespaceOrigin)
	l.add(containerLabel, containerOrigin)
	l.add(podLabel, podOrigin)
	l.addLabelCopies("pod", m.Spec.PodTargetLabels, "spec.podTargetLabels")
	l.addLabelCopies("pod", c.s.data.PodTargetLabels, workloadPodLabels)
	l.add(&copyStep{TargetLabel: "job", Replacement: m.Namespace + "/" + m.Name}, jobOrigin)
	if m.Spec.JobLabel != "" {
		l.add(copyLabel("pod", m.Spec.JobLabel, "job"), "spec.jobLabel")
	}
	l.addEndpointLabel(e.Port, e.TargetPort, podEndpoints, i)
	return l
}
