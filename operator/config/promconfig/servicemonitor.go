package promconfig

import (
	"cmp"
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

// serviceEndpoints and servicePath are the field of the endpoints of a ServiceMonitor and its path.
const serviceEndpoints, servicePath = "endpoints", "spec.endpoints"

// CompileServiceMonitor compiles a ServiceMonitor to one job per endpoint.
func CompileServiceMonitor(m *v1.ServiceMonitor, s *Settings, r assets.Reader) Fragment {
	return s.compile(m, r, func(c *compiler) error { return c.serviceMonitor(m) })
}

func (c *compiler) serviceMonitor(m *v1.ServiceMonitor) error {
	if err := budget.Elements(v1.ServiceMonitorKind, serviceEndpoints, len(m.Spec.Endpoints), budget.Endpoints); err != nil {
		return err
	}
	role := endpointsRole(cmp.Or(m.Spec.ServiceDiscoveryRole, c.s.data.ServiceDiscoveryRole), c.s.capabilities, c.s.target)
	return c.compileEndpoints(&monitor{
		object: m, kind: v1.ServiceMonitorKind, resource: serviceMonitors, list: serviceEndpoints, path: servicePath,
		spec: &m.Spec, roles: []string{role, roleService}, sharded: true,
		check: func(i int) (client, error) { return c.checkServiceEndpoint(&m.Spec.Endpoints[i]) },
		steps: func(i int) stepList { return c.serviceSteps(m, i, role) },
		job: func(h JobHead, cl client, t JobTail) any {
			return &ServiceMonitorJob{
				JobHead: h, Proxy: cl.Proxy, OAuth2: cl.OAuth2, TLSConfig: cl.TLS, BearerTokenFile: cl.bearerTokenFile, BearerToken: cl.bearerToken,
				BasicAuth: cl.BasicAuth, Authorization: cl.Authorization, JobTail: t,
			}
		},
	})
}

// checkServiceEndpoint validates one endpoint and resolves its references.
func (c *compiler) checkServiceEndpoint(e *v1.Endpoint) (out client, err error) {
	var errs faults.List
	if c.s.data.DenyFileAccess {
		errs.Add("", checkNoFiles(e))
	}
	errs.Add("", checkAuthentication(e.HTTPConfigWithoutTLS))
	if t := e.BearerTokenSecret; t != nil && t.Name != "" {
		out.bearerToken, err = c.own.Secret(t)
		errs.Add("bearerTokenSecret", err)
	}
	out.bearerTokenFile = e.BearerTokenFile
	out.Client, err = c.own.Client(e.HTTPConfigWithoutTLS, e.TLSConfig, e.ProxyConfig)
	errs.Add("", err)
	errs.Add("", c.checkTimes(e.Interval, e.ScrapeTimeout))
	errs.Add("", c.rules.checkPorts(e.Port, e.TargetPort))
	errs.Add("relabelings", c.rules.check(e.RelabelConfigs))
	errs.Add("metricRelabelings", c.rules.check(e.MetricRelabelConfigs))
	return out, errs.Err()
}

// checkNoFiles rejects paths in the container, for workloads that deny them.
func checkNoFiles(e *v1.Endpoint) error {
	var errs faults.List
	deny := func(field, path, instead string) {
		if path != "" {
			errs.Add(field, fmt.Errorf("paths into the container are denied by the workload's spec.arbitraryFSAccessThroughSMs; use %s", instead))
		}
	}
	deny("bearerTokenFile", e.BearerTokenFile, "authorization.credentials, a key of a Secret")
	if t := e.TLSConfig; t != nil {
		deny("tlsConfig.caFile", t.CAFile, "tlsConfig.ca, a key of a Secret or ConfigMap")
		deny("tlsConfig.certFile", t.CertFile, "tlsConfig.cert, a key of a Secret or ConfigMap")
		deny("tlsConfig.keyFile", t.KeyFile, "tlsConfig.keySecret, a key of a Secret")
	}
	return errs.Err()
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
		l.add(keepPort("__meta_kubernetes_"+object+"_port_name", e.Port), l.fieldOf(servicePath, i, "port"))
	case e.TargetPort != nil:
		l.addTargetPort(*e.TargetPort, l.fieldOf(servicePath, i, "targetPort"))
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
	l.addEndpointLabel(e.Port, e.TargetPort, servicePath, i)
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
