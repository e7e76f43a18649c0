package promconfig

import (
	"fmt"
	"regexp"
	"strconv"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// Alerting is the alerting block. Both lists end with what the user wrote in
// additional Secrets, of any shape.
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
	// PathPrefix before the API's path.
	PathPrefix string `yaml:"path_prefix,omitempty"`
	// Timeout of one push.
	Timeout v1.Duration `yaml:"timeout,omitempty"`
	// EnableHTTP2 towards the Alertmanagers.
	EnableHTTP2 *bool `yaml:"enable_http2,omitempty" since:"2.35.0"`
	// TLSConfig towards the Alertmanagers.
	TLSConfig *TLSConfig `yaml:"tls_config,omitempty"`
	// Proxy towards the Alertmanagers.
	Proxy `yaml:",inline"`
	// KubernetesSD has exactly one entry.
	KubernetesSD []*KubernetesSD `yaml:"kubernetes_sd_configs"`
	// BearerTokenFile is a path in the container, deprecated.
	BearerTokenFile string `yaml:"bearer_token_file,omitempty"`
	// BasicAuth credentials.
	BasicAuth *BasicAuth `yaml:"basic_auth,omitempty" since:"2.26.0"`
	// Authorization header.
	Authorization *Authorization `yaml:"authorization,omitempty" since:"2.26.0"`
	// SigV4 signs requests for AWS.
	SigV4 *SigV4 `yaml:"sigv4,omitempty" since:"2.48.0"`
	// APIVersion is v1 or v2.
	APIVersion string `yaml:"api_version,omitempty" since:"2.11.0"`
	// RelabelConfigs pick the Alertmanagers.
	RelabelConfigs []Step `yaml:"relabel_configs"`
	// AlertRelabelConfigs are applied to alerts for these Alertmanagers.
	AlertRelabelConfigs []Step `yaml:"alert_relabel_configs,omitempty" since:"2.51.0"`
}

// dropReplica makes alerts of replicas equal, so that Alertmanager can merge
// them; nil when replicas have no label.
func dropReplica(f *v1.CommonPrometheusFields) Step {
	label := valueOr(f.ReplicaExternalLabelName, defaultReplicaLabel)
	if label == "" {
		return nil
	}
	return &filterStep{Action: "labeldrop", Regex: regexp.QuoteMeta(label)}
}

// checkAlertmanagers applies the rules that need no look at the cluster.
func checkAlertmanagers(a *v1.AlertingSpec, rules relabelRules) error {
	if a == nil {
		return nil
	}
	for i := range a.Alertmanagers {
		am := &a.Alertmanagers[i]
		err := atMostOne([]way{
			{"bearerTokenFile", am.BearerTokenFile != ""}, {"basicAuth", am.BasicAuth != nil},
			{"authorization", am.Authorization != nil}, {"sigv4", am.Sigv4 != nil},
		})
		if err == nil {
			err = checkProxy(am.ProxyConfig)
		}
		if err == nil {
			if err = checkSigV4(am.Sigv4, rules.target); err != nil {
				err = fmt.Errorf("sigv4: %w", err)
			}
		}
		if err == nil {
			if err = rules.check(am.RelabelConfigs); err != nil {
				err = fmt.Errorf("relabelings: %w", err)
			}
		}
		if err == nil {
			if err = rules.check(am.AlertRelabelConfigs); err != nil {
				err = fmt.Errorf("alertRelabelings: %w", err)
			}
		}
		if err != nil {
			return fmt.Errorf("alerting.alertmanagers[%d]: %w", i, err)
		}
	}
	return nil
}

// alertmanagers fills the user's entries. api is how to reach Kubernetes.
func (r *resolver) alertmanagers(p *v1.Prometheus, s *Settings, api APIServer) ([]any, error) {
	if p.Spec.Alerting == nil {
		return nil, nil
	}
	var out []any
	for i := range p.Spec.Alerting.Alertmanagers {
		am := &p.Spec.Alerting.Alertmanagers[i]
		entry, err := r.alertmanager(am)
		if err != nil {
			return nil, fmt.Errorf("alerting.alertmanagers[%d]: %w", i, err)
		}
		role := endpointsRole(s.data.ServiceDiscoveryRole, s.capabilities, s.target)
		namespace := am.Namespace
		if namespace == "" {
			namespace = p.Namespace
		}
		entry.KubernetesSD = []*KubernetesSD{{Role: role, Namespaces: &NamespaceDiscovery{Names: []string{namespace}}, APIServer: api}}
		if entry.APIVersion == "v1" && major3(s.target) {
			entry.APIVersion = "" // gone with major version 3
		}
		entry.RelabelConfigs = alertmanagerSteps(am, role)
		out = append(out, entry)
	}
	return out, nil
}

func (r *resolver) alertmanager(am *v1.AlertmanagerEndpoints) (*Alertmanager, error) {
	out := &Alertmanager{
		Scheme: lower(am.Scheme), PathPrefix: am.PathPrefix, Timeout: am.Timeout, EnableHTTP2: am.EnableHTTP2,
		BearerTokenFile: am.BearerTokenFile, APIVersion: lower(am.APIVersion),
		AlertRelabelConfigs: appendRelabel(nil, am.AlertRelabelConfigs),
	}
	var err error
	if out.BasicAuth, err = r.basicAuth(am.BasicAuth); err != nil {
		return nil, fmt.Errorf("basicAuth: %w", err)
	}
	if out.Authorization, err = r.authorization(am.Authorization); err != nil {
		return nil, fmt.Errorf("authorization: %w", err)
	}
	if out.SigV4, err = r.sigv4(am.Sigv4); err != nil {
		return nil, fmt.Errorf("sigv4: %w", err)
	}
	if out.TLSConfig, err = r.tls(am.TLSConfig); err != nil {
		return nil, fmt.Errorf("tlsConfig: %w", err)
	}
	out.Proxy, err = r.proxy(am.ProxyConfig)
	return out, err
}

// alertmanagerSteps keep the Service's endpoints of one port.
func alertmanagerSteps(am *v1.AlertmanagerEndpoints, role string) []Step {
	steps := []Step{&filterStep{Action: "keep", SourceLabels: []string{"__meta_kubernetes_service_name"}, Regex: am.Name}}
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
