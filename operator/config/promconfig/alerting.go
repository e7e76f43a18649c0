package promconfig

import (
	"errors"
	"regexp"
	"strconv"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/config/clientconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
)

// Alerting is the alerting block. Both lists end with the items of the user's additional
// Secrets, which may have any shape.
type Alerting struct {
	// RelabelConfigs are applied to alerts: [Step] values, then [gate.Node] values.
	RelabelConfigs []any `yaml:"alert_relabel_configs"`
	// Alertmanagers are [Alertmanager] values, then [gate.Node] values.
	Alertmanagers []any `yaml:"alertmanagers"`
}

// Alertmanager is one entry of alertmanagers.
type Alertmanager struct {
	// Scheme is http or https.
	Scheme string `yaml:"scheme,omitempty"`
	// PathPrefix is prepended to the API path.
	PathPrefix string `yaml:"path_prefix,omitempty"`
	// Timeout is the timeout of one push.
	Timeout v1.Duration `yaml:"timeout,omitempty"`
	// EnableHTTP2 enables HTTP/2 for connections to the Alertmanagers.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
	// TLSConfig is used for connections to the Alertmanagers.
	TLSConfig *clientconfig.TLSConfig `yaml:"tls_config,omitempty"`
	// Proxy is used for connections to the Alertmanagers.
	clientconfig.Proxy `yaml:",inline"`
	// KubernetesSD has exactly one entry.
	KubernetesSD []*KubernetesSD `yaml:"kubernetes_sd_configs"`
	// BearerTokenFile is a path in the container; deprecated.
	BearerTokenFile string `yaml:"bearer_token_file,omitempty"`
	// BasicAuth holds a user name and password.
	BasicAuth *clientconfig.BasicAuth `yaml:"basic_auth,omitempty" since:"2.26.0"`
	// Authorization is sent as the Authorization header.
	Authorization *clientconfig.Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// SigV4 signs requests for AWS.
	SigV4 *clientconfig.SigV4 `yaml:"sigv4,omitempty" since:"2.48.0"`
	// APIVersion is v1 or v2.
	APIVersion string `yaml:"api_version,omitempty" since:"2.11.0"`
	// RelabelConfigs select the Alertmanagers.
	RelabelConfigs []Step `yaml:"relabel_configs"`
	// AlertRelabelConfigs are applied to alerts for these Alertmanagers.
	AlertRelabelConfigs []Step `yaml:"alert_relabel_configs,omitempty" since:"2.51.0"`
}

// dropReplica removes the replica label, so that Alertmanager deduplicates the alerts of
// replicas. It returns nil if replicas have no label.
func dropReplica(f *v1.CommonPrometheusFields) Step {
	label := ptr.Deref(f.ReplicaExternalLabelName, defaultReplicaLabel)
	if label == "" {
		return nil
	}
	return &filterStep{Action: "labeldrop", Regex: expression(regexp.QuoteMeta(label))}
}

// alertmanagers returns the entries of the workload. api is how to reach the Kubernetes API.
func (r *resolver) alertmanagers(p *v1.Prometheus, s *Settings, api APIServer) ([]any, error) {
	if p.Spec.Alerting == nil {
		return nil, nil
	}
	rules := s.rules.counting(new(regexcost.Budget))
	return faults.Convert("alerting.alertmanagers", p.Spec.Alerting.Alertmanagers, func(am *v1.AlertmanagerEndpoints) (any, error) {
		entry, err := r.alertmanager(am, rules)
		role := endpointsRole(s.data.ServiceDiscoveryRole, s.capabilities, s.target)
		namespace := am.Namespace
		if namespace == "" {
			namespace = p.Namespace
		}
		entry.KubernetesSD = []*KubernetesSD{{Role: role, Namespaces: &NamespaceDiscovery{Names: []string{namespace}}, APIServer: api}}
		if entry.APIVersion == "v1" && major3(s.target) {
			entry.APIVersion = "" // removed in major version 3
		}
		entry.RelabelConfigs = alertmanagerSteps(am, role)
		return entry, err
	})
}

// alertmanager validates and resolves one entry.
func (r *resolver) alertmanager(am *v1.AlertmanagerEndpoints, rules relabelRules) (*Alertmanager, error) {
	var errs faults.List
	errs.Add("", checkAlertmanager(am, rules))
	out := &Alertmanager{
		Scheme: lower(am.Scheme), PathPrefix: am.PathPrefix, Timeout: am.Timeout, EnableHTTP2: am.EnableHTTP2,
		BearerTokenFile: am.BearerTokenFile, APIVersion: lower(am.APIVersion),
		AlertRelabelConfigs: appendRelabel(nil, am.AlertRelabelConfigs),
	}
	set(&errs, "basicAuth", &out.BasicAuth)(r.BasicAuth(am.BasicAuth))
	set(&errs, "authorization", &out.Authorization)(r.Authorization(am.Authorization))
	set(&errs, "sigv4", &out.SigV4)(r.SigV4(am.Sigv4))
	set(&errs, "tlsConfig", &out.TLSConfig)(r.TLS(am.TLSConfig))
	set(&errs, "", &out.Proxy)(r.Proxy(am.ProxyConfig))
	return out, errs.Err()
}

// checkAlertmanager checks everything except the HTTP client blocks, which are checked
// when they are resolved.
func checkAlertmanager(am *v1.AlertmanagerEndpoints, rules relabelRules) error {
	return errors.Join(
		clientconfig.AtMostOne(
			way("bearerTokenFile", am.BearerTokenFile != ""), way("basicAuth", am.BasicAuth != nil),
			way("authorization", am.Authorization != nil), way("sigv4", am.Sigv4 != nil),
		),
		faults.At("name", rules.checkRegex(am.Name)),
		faults.At("port", rules.checkRegex(am.Port.StrVal)),
		faults.At("relabelings", rules.check(am.RelabelConfigs)),
		faults.At("alertRelabelings", rules.check(am.AlertRelabelConfigs)),
	)
}

// alertmanagerSteps returns the steps that keep the endpoints of one port of the Service.
func alertmanagerSteps(am *v1.AlertmanagerEndpoints, role string) []Step {
	steps := []Step{&filterStep{Action: "keep", SourceLabels: []string{"__meta_kubernetes_service_name"}, Regex: expression(am.Name)}}
	portName := "__meta_kubernetes_endpoint_port_name"
	if role == roleEndpointSlice {
		portName = "__meta_kubernetes_endpointslice_port_name"
	}
	switch {
	case am.Port.StrVal != "":
		steps = append(steps, keepPort(portName, am.Port.StrVal))
	case am.Port.IntVal != 0:
		steps = append(steps, keepPort("__meta_kubernetes_pod_container_port_number", strconv.Itoa(int(am.Port.IntVal))))
	}
	return appendRelabel(steps, am.RelabelConfigs)
}
