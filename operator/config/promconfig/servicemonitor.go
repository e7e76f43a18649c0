package promconfig

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// ServiceMonitorJob is the job of one endpoint of a ServiceMonitor.
type ServiceMonitorJob struct {
	// JobHead is the beginning of the job.
	JobHead `yaml:",inline"`
	// Proxy is used for connections to the targets.
	clientconfig.Proxy `yaml:",inline"`
	// OAuth2 holds OAuth 2.0 client credentials.
	OAuth2 *clientconfig.OAuth2 `yaml:"oauth2,omitempty" since:"2.27.0"`
	// TLSConfig is used for connections to the targets.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// BearerTokenFile is a path in the container; deprecated.
	BearerTokenFile string `yaml:"bearer_token_file,omitempty"`
	// BearerToken is read from a Secret; deprecated.
	BearerToken string `yaml:"bearer_token,omitempty"`
	// BasicAuth holds a user name and password.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty"`
	// Authorization is sent as the Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// JobTail is the end of the job.
	JobTail `yaml:",inline"`
}

// CompileServiceMonitor compiles a ServiceMonitor to one job per endpoint.
func CompileServiceMonitor(m *v1.ServiceMonitor, s *Settings, r assets.Reader) Fragment {
	return s.compile(m, r, func(c *compiler) error { return c.serviceMonitor(m) })
}

func (c *compiler) serviceMonitor(m *v1.ServiceMonitor) error {
	if err := budget.Elements(v1.ServiceMonitorKind, "endpoints", len(m.Spec.Endpoints), budget.Endpoints); err != nil {
		return err
	}
	if err := checkSelector(&m.Spec.Selector); err != nil {
		return err
	}
	if err := checkMechanism(m.Spec.SelectorMechanism, c.s.target); err != nil {
		return err
	}
	if err := errors.Join(checkBodySize(m.Spec.BodySizeLimit), checkLabelCopies("targetLabels", m.Spec.TargetLabels, c.rules),
		checkLabelCopies("podTargetLabels", m.Spec.PodTargetLabels, c.rules)); err != nil {
		return err
	}
	jobs := make([]ServiceMonitorJob, len(m.Spec.Endpoints))
	class, err := c.checkEndpoints("endpoints", len(jobs), m.Spec.ScrapeClass, func(i int) error {
		return c.checkServiceEndpoint(&m.Spec.Endpoints[i], &jobs[i])
	})
	if err != nil {
		return err
	}
	api, err := c.owner.apiServer(c.s.data.APIServerConfig)
	if err != nil {
		return fmt.Errorf("the workload's %w", faults.At("spec.apiserverConfig", err))
	}
	role := m.Spec.ServiceDiscoveryRole
	if role == "" {
		role = c.s.data.ServiceDiscoveryRole
	}
	sdRole := endpointsRole(role, c.s.capabilities, c.s.target)
	sd := &KubernetesSD{Role: sdRole, Namespaces: c.s.namespaces(m.Spec.NamespaceSelector, m.Namespace), APIServer: api,
		AttachMetadata: c.s.attachMetadata(m.Spec.AttachMetadata, class.AttachMetadata, sdRole)}
	if sd.Selectors, err = c.s.selectors(m.Spec.SelectorMechanism, &m.Spec.Selector, sdRole, roleService); err != nil {
		return faults.At("selector", err)
	}
	var wrong faults.List
	for i := range jobs {
		if err := c.serviceJob(m, i, class, sd, &jobs[i]); err != nil {
			wrong.Add(faults.Index("endpoints", i), err)
		}
		if err := c.write(&jobs[i]); err != nil {
			return err
		}
		jobs[i] = ServiceMonitorJob{} // together they take as much memory as the text
	}
	return wrong.Err()
}

// checkServiceEndpoint validates one endpoint and resolves its references.
func (c *compiler) checkServiceEndpoint(e *v1.Endpoint, job *ServiceMonitorJob) (err error) {
	var wrong faults.List
	if c.s.data.DenyFileAccess {
		wrong.Add("", checkNoFiles(e))
	}
	wrong.Add("", checkAuthentication(e.HTTPConfigWithoutTLS))
	if t := e.BearerTokenSecret; t != nil && t.Name != "" {
		job.BearerToken, err = c.own.Secret(t)
		wrong.Add("bearerTokenSecret", err)
	}
	client, err := c.own.Client(e.HTTPConfigWithoutTLS, e.TLSConfig, e.ProxyConfig)
	wrong.Add("", err)
	job.BasicAuth, job.Authorization, job.OAuth2, job.TLSConfig, job.Proxy = client.BasicAuth, client.Authorization, client.OAuth2, client.TLS, client.Proxy
	wrong.Add("", c.checkTimes(e.Interval, e.ScrapeTimeout))
	wrong.Add("", c.rules.checkPorts(e.Port, e.TargetPort))
	wrong.Add("relabelings", c.rules.check(e.RelabelConfigs))
	wrong.Add("metricRelabelings", c.rules.check(e.MetricRelabelConfigs))
	return wrong.Err()
}

// checkNoFiles rejects paths in the container, for workloads that deny them.
func checkNoFiles(e *v1.Endpoint) error {
	var wrong faults.List
	deny := func(field, path, instead string) {
		if path != "" {
			wrong.Add(field, fmt.Errorf("paths into the container are denied by the workload's spec.arbitraryFSAccessThroughSMs; use %s", instead))
		}
	}
	deny("bearerTokenFile", e.BearerTokenFile, "authorization.credentials, a key of a Secret")
	if t := e.TLSConfig; t != nil {
		deny("tlsConfig.caFile", t.CAFile, "tlsConfig.ca, a key of a Secret or ConfigMap")
		deny("tlsConfig.certFile", t.CertFile, "tlsConfig.cert, a key of a Secret or ConfigMap")
		deny("tlsConfig.keyFile", t.KeyFile, "tlsConfig.keySecret, a key of a Secret")
	}
	return wrong.Err()
}

// serviceJob sets the fields that do not depend on the cluster.
func (c *compiler) serviceJob(m *v1.ServiceMonitor, i int, class *v1.ScrapeClass, sd *KubernetesSD, job *ServiceMonitorJob) (err error) {
	e := &m.Spec.Endpoints[i]
	job.JobHead = JobHead{
		JobName:                  nameOfJob(v1.ServiceMonitorKind, m, i),
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
	job.BearerTokenFile = e.BearerTokenFile
	job.TLSConfig = c.s.mergedTLS(job.TLSConfig, class.TLSConfig)
	client := client{tls: job.TLSConfig, basicAuth: job.BasicAuth, oauth2: job.OAuth2, authorization: job.Authorization,
		bearerToken: job.BearerToken, bearerTokenFile: job.BearerTokenFile}
	if job.Authorization, err = c.finish(client, e.Authorization, class); err != nil {
		return err
	}
	enforced := c.s.enforcement(serviceMonitors, m.Namespace, m.Name)
	job.JobTail = c.tail(tailInput{
		limits: m.Spec.ScrapeLimits, histograms: m.Spec.NativeHistogramConfig, protocols: m.Spec.ScrapeProtocols,
		fallback: m.Spec.FallbackScrapeProtocol, bodySize: m.Spec.BodySizeLimit, class: class,
		metricRelabel: e.MetricRelabelConfigs, enforced: enforced,
	})
	steps := c.serviceSteps(m, i, sd.Role)
	steps.addClass(class)
	steps.addRelabel(e.RelabelConfigs, steps.fieldOf("spec.endpoints", i, "relabelings"))
	steps.addEnforced(enforced)
	steps.addAll(c.s.shardBy(c.s.shardByAddress, job.KubernetesSD == nil), ShardingOrigin)
	if job.Listed != nil {
		steps.hideListURL()
	}
	job.RelabelConfigs = c.done(&steps)
	return nil
}

// Steps that all jobs have in common.
var (
	tmpJobName       = &copyStep{SourceLabels: []string{"job"}, TargetLabel: "__tmp_prometheus_job_name"}
	namespaceLabel   = &copyStep{SourceLabels: []string{"__meta_kubernetes_namespace"}, TargetLabel: "namespace"}
	serviceLabel     = &copyStep{SourceLabels: []string{"__meta_kubernetes_service_name"}, TargetLabel: "service"}
	podLabel         = &copyStep{SourceLabels: []string{"__meta_kubernetes_pod_name"}, TargetLabel: "pod"}
	containerLabel   = &copyStep{SourceLabels: []string{"__meta_kubernetes_pod_container_name"}, TargetLabel: "container"}
	jobOfService     = &copyStep{SourceLabels: []string{"__meta_kubernetes_service_name"}, TargetLabel: "job", Replacement: "${1}"}
	finishedPodsDrop = &filterStep{Action: "drop", SourceLabels: []string{"__meta_kubernetes_pod_phase"}, Regex: "(Failed|Succeeded)"}
	targetOwners     = map[string][]Step{roleEndpoints: ownerSteps("endpoint"), roleEndpointSlice: ownerSteps("endpointslice")}
)

// ownerSteps set the node or pod label from the target reference of the address.
func ownerSteps(object string) []Step {
	sources := []string{"__meta_kubernetes_" + object + "_address_target_kind", "__meta_kubernetes_" + object + "_address_target_name"}
	return []Step{
		&ownerStep{SourceLabels: sources, Separator: ";", Regex: "Node;(.*)", Replacement: "${1}", TargetLabel: "node"},
		&ownerStep{SourceLabels: sources, Separator: ";", Regex: "Pod;(.*)", Replacement: "${1}", TargetLabel: "pod"},
	}
}

// serviceSteps returns the operator's steps, which precede the user's.
func (c *compiler) serviceSteps(m *v1.ServiceMonitor, i int, role string) stepList {
	e := &m.Spec.Endpoints[i]
	object := "endpoint"
	if role == roleEndpointSlice {
		object = "endpointslice"
	}
	l := c.stepList()
	l.steps = make([]Step, 0, 24)
	l.add(tmpJobName, jobNameOrigin)
	if m.Spec.SelectorMechanism != v1.SelectorMechanismRoleSelector {
		l.addSelector(&m.Spec.Selector, "service", "spec.selector")
	}
	switch {
	case e.Port != "":
		l.add(keepPort("__meta_kubernetes_"+object+"_port_name", e.Port), l.fieldOf("spec.endpoints", i, "port"))
	case e.TargetPort != nil:
		l.addTargetPort(*e.TargetPort, l.fieldOf("spec.endpoints", i, "targetPort"))
	}
	l.addAll(targetOwners[role], nodeAndPodOrigin)
	l.add(namespaceLabel, namespaceOrigin)
	l.add(serviceLabel, serviceOrigin)
	l.add(podLabel, podOrigin)
	l.add(containerLabel, containerOrigin)
	if e.FilterRunning == nil || *e.FilterRunning {
		l.add(finishedPodsDrop, finishedPodsOrigin)
	}
	l.addLabelCopies("service", m.Spec.TargetLabels, "spec.targetLabels")
	l.addLabelCopies("pod", m.Spec.PodTargetLabels, "spec.podTargetLabels")
	l.addLabelCopies("pod", c.s.data.PodTargetLabels, workloadPodLabels)
	l.add(jobOfService, jobOrigin)
	if m.Spec.JobLabel != "" {
		l.add(copyLabel("service", m.Spec.JobLabel, "job"), "spec.jobLabel")
	}
	l.addEndpointLabel(e.Port, e.TargetPort, "spec.endpoints", i)
	return l
}

// podPortName is the meta label with the name of a container port.
const podPortName = "__meta_kubernetes_pod_container_port_name"

func keepPort(source, name string) Step {
	return &filterStep{Action: "keep", SourceLabels: []string{source}, Regex: expression(name)}
}

func keepPortNumber(number int32) Step {
	return &portStep{Action: "keep", SourceLabels: []string{"__meta_kubernetes_pod_container_port_number"}, Regex: number}
}

// addTargetPort keeps targets with the name or number of a container port; 0 and "" keep all.
func (l *stepList) addTargetPort(port intstr.IntOrString, path string) {
	switch {
	case port.StrVal != "":
		l.add(keepPort(podPortName, port.StrVal), path)
	case port.IntVal != 0:
		l.add(keepPortNumber(port.IntVal), path)
	}
}

// addEndpointLabel sets the endpoint label of endpoint i of a list to its port.
func (l *stepList) addEndpointLabel(port string, targetPort *intstr.IntOrString, list string, i int) {
	field := "port"
	if port == "" && targetPort != nil {
		port, field = targetPort.String(), "targetPort"
	}
	if port != "" {
		l.add(&copyStep{TargetLabel: "endpoint", Replacement: port}, l.fieldOf(list, i, field))
	}
}

// addLabelCopies copies labels of the Service or pod to the target.
func (l *stepList) addLabelCopies(object string, labels []string, path string) {
	for i, name := range labels {
		l.addItem(copyLabel(object, name, sanitize(name)), path, i)
	}
}

func copyLabel(object, key, target string) Step {
	return &copyStep{
		SourceLabels: []string{"__meta_kubernetes_" + object + "_label_" + sanitize(key)},
		TargetLabel:  target, Regex: "(.+)", Replacement: "${1}",
	}
}
