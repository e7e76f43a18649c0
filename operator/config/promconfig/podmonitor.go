package promconfig

import (
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

// podEndpoints and podPath are the field of the endpoints of a PodMonitor and its path.
const podEndpoints, podPath = "podMetricsEndpoints", "spec.podMetricsEndpoints"

// CompilePodMonitor compiles a PodMonitor to one job per endpoint.
func CompilePodMonitor(m *v1.PodMonitor, s *Settings, r assets.Reader) Fragment {
	return s.compile(m, r, func(c *compiler) error { return c.podMonitor(m) })
}

func (c *compiler) podMonitor(m *v1.PodMonitor) error {
	if err := budget.Elements(v1.PodMonitorKind, podEndpoints, len(m.Spec.PodMetricsEndpoints), budget.Endpoints); err != nil {
		return err
	}
	return c.compileEndpoints(&monitor{
		object: m, kind: v1.PodMonitorKind, resource: podMonitors, list: podEndpoints, path: podPath,
		spec: commonSpec(&m.Spec), roles: []string{rolePod}, sharded: !c.s.data.DaemonSet,
		check: func(i int) (client, error) { return c.checkPodEndpoint(&m.Spec.PodMetricsEndpoints[i]) },
		steps: func(i int) stepList { return c.podSteps(m, i) },
		job: func(h JobHead, cl client, t JobTail) any {
			return &PodMonitorJob{
				JobHead: h, TLSConfig: cl.TLS, BearerToken: cl.bearerToken, BasicAuth: cl.BasicAuth, OAuth2: cl.OAuth2, Proxy: cl.Proxy,
				Authorization: cl.Authorization, JobTail: t,
			}
		},
	})
}

// commonSpec returns the fields that PodMonitors share with ServiceMonitors.
func commonSpec(in *v1.PodMonitorSpec) *v1.ServiceMonitorSpec {
	out := &v1.ServiceMonitorSpec{
		ScrapeLimits: in.ScrapeLimits, NativeHistogramConfig: in.NativeHistogramConfig, AttachMetadata: in.AttachMetadata, BodySizeLimit: in.BodySizeLimit,
		FallbackScrapeProtocol: in.FallbackScrapeProtocol, JobLabel: in.JobLabel, NamespaceSelector: in.NamespaceSelector, PodTargetLabels: in.PodTargetLabels,
		ScrapeClass: in.ScrapeClass, ScrapeProtocols: in.ScrapeProtocols, Selector: in.Selector, SelectorMechanism: in.SelectorMechanism,
		Endpoints: make([]v1.Endpoint, len(in.PodMetricsEndpoints)),
	}
	for i, e := range in.PodMetricsEndpoints {
		out.Endpoints[i] = v1.Endpoint{
			HTTPConfigWithProxyAndTLSFiles: v1.HTTPConfigWithProxyAndTLSFiles{
				HTTPConfigWithTLSFiles: v1.HTTPConfigWithTLSFiles{HTTPConfigWithoutTLS: e.HTTPConfigWithoutTLS}, ProxyConfig: e.ProxyConfig,
			},
			FilterRunning: e.FilterRunning, HonorLabels: e.HonorLabels, HonorTimestamps: e.HonorTimestamps, Interval: e.Interval,
			MetricRelabelConfigs: e.MetricRelabelConfigs, Params: e.Params, Path: e.Path, Port: e.Port, RelabelConfigs: e.RelabelConfigs,
			Scheme: e.Scheme, ScrapeTimeout: e.ScrapeTimeout, TargetPort: e.TargetPort, TrackTimestampsStaleness: e.TrackTimestampsStaleness,
		}
	}
	return out
}

// checkPodEndpoint validates one endpoint and resolves its references.
func (c *compiler) checkPodEndpoint(e *v1.PodMetricsEndpoint) (out client, err error) {
	var errs faults.List
	errs.Add("", c.checkTimes(e.Interval, e.ScrapeTimeout))
	errs.Add("", c.rules.checkPorts(e.Port, e.TargetPort))
	errs.Add("relabelings", c.rules.check(e.RelabelConfigs))
	errs.Add("metricRelabelings", c.rules.check(e.MetricRelabelConfigs))
	errs.Add("", checkAuthentication(e.HTTPConfigWithoutTLS))
	if t := e.BearerTokenSecret; t != nil && t.Name != "" && t.Key != "" {
		out.bearerToken, err = c.own.Secret(t)
		errs.Add("bearerTokenSecret", err)
	}
	out.Client, err = c.own.Client(e.HTTPConfigWithoutTLS, nonZeroTLS(e.TLSConfig), e.ProxyConfig)
	errs.Add("", err)
	return out, errs.Err()
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
		l.add(keepPort(podPortName, e.Port), l.fieldOf(podPath, i, "port"))
	case e.PortNumber != nil && *e.PortNumber != 0:
		l.add(keepPortNumber(*e.PortNumber), l.fieldOf(podPath, i, "portNumber"))
	case e.TargetPort != nil:
		l.addTargetPort(*e.TargetPort, l.fieldOf(podPath, i, "targetPort"))
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
	l.addEndpointLabel(e.Port, e.TargetPort, podPath, i)
	return l
}
