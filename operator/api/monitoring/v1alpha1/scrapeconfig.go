package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// ScrapeConfig describes one scrape job in the terms of Prometheus itself, with any of its service discoveries.
// Prometheus and PrometheusAgent objects pick it up by its labels.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:categories=prometheus-operator,path=scrapeconfigs,shortName=scfg
// +kubebuilder:subresource:status
type ScrapeConfig struct {
	metav1.TypeMeta       `json:",inline"`
	metav1.ObjectMeta     `json:"metadata,omitempty"`
	monitoringv1.Decoding `json:"-"`

	// Spec is what the user wants.
	//
	// +required
	Spec ScrapeConfigSpec `json:"spec"`

	// Status is what the operator last observed. It is written by the operator only.
	//
	// +optional
	Status monitoringv1.ConfigResourceStatus `json:"status,omitempty,omitzero"`
}

// ScrapeConfigList is a list of ScrapeConfig objects.
//
// +kubebuilder:object:root=true
type ScrapeConfigList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the objects of the list.
	Items []ScrapeConfig `json:"items"`
}

// ScrapeConfigSpec is one scrape job. Targets of all its service discoveries are put together.
//
// +kubebuilder:validation:XValidation:rule="[has(self.basicAuth), has(self.authorization), has(self.oauth2)].filter(x, x).size() <= 1",message="at most one of basicAuth, authorization, or oauth2 can be configured"
type ScrapeConfigSpec struct {
	monitoringv1.ScrapeLimits          `json:",inline"`
	monitoringv1.NativeHistogramConfig `json:",inline"`
	monitoringv1.ProxyConfig           `json:",inline"`

	// Authorization header to send.
	//
	// +optional
	Authorization *monitoringv1.SafeAuthorization `json:"authorization,omitempty"`

	// Instances, services, brokers or databases of AWS (since Prometheus 3.8.0). Only this operator has it.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	AWSSDConfigs []AWSSDConfig `json:"awsSDConfigs,omitempty"`

	// Virtual machines of Azure.
	//
	// +optional
	AzureSDConfigs []AzureSDConfig `json:"azureSDConfigs,omitempty"`

	// User name and password to send.
	//
	// +optional
	BasicAuth *monitoringv1.BasicAuth `json:"basicAuth,omitempty"`

	// How large an answer may be, uncompressed (since Prometheus 2.28.0).
	//
	// +optional
	BodySizeLimit monitoringv1.ByteSize `json:"bodySizeLimit,omitempty"`

	// Services of a Consul catalog.
	//
	// +optional
	ConsulSDConfigs []ConsulSDConfig `json:"consulSDConfigs,omitempty"`

	// Droplets of DigitalOcean (since Prometheus 2.20.0).
	//
	// +optional
	DigitalOceanSDConfigs []DigitalOceanSDConfig `json:"digitalOceanSDConfigs,omitempty"`

	// Addresses that DNS names resolve to.
	//
	// +optional
	DNSSDConfigs []DNSSDConfig `json:"dnsSDConfigs,omitempty"`

	// Containers of a Docker host (since Prometheus 2.27.0).
	//
	// +optional
	DockerSDConfigs []DockerSDConfig `json:"dockerSDConfigs,omitempty"`

	// Services, tasks or nodes of a Docker Swarm (since Prometheus 2.20.0).
	//
	// +optional
	DockerSwarmSDConfigs []DockerSwarmSDConfig `json:"dockerSwarmSDConfigs,omitempty"`

	// Instances of AWS EC2.
	//
	// +optional
	EC2SDConfigs []EC2SDConfig `json:"ec2SDConfigs,omitempty"`

	// Whether targets are asked for compressed answers (since Prometheus 2.49.0). Unset means true.
	//
	// +optional
	EnableCompression *bool `json:"enableCompression,omitempty"`

	// Whether to speak HTTP/2 if the server does (since Prometheus 2.35.0). Unset means true.
	//
	// +optional
	EnableHTTP2 *bool `json:"enableHTTP2,omitempty"`

	// Instances of a Eureka registry (since Prometheus 2.21.0).
	//
	// +optional
	EurekaSDConfigs []EurekaSDConfig `json:"eurekaSDConfigs,omitempty"`

	// Format to assume if a target answers with an unknown or missing content type (since Prometheus 3.0.0,
	// which otherwise fails such a scrape).
	//
	// +optional
	FallbackScrapeProtocol monitoringv1.ScrapeProtocol `json:"fallbackScrapeProtocol,omitempty"`

	// Targets listed in files of the container.
	//
	// +optional
	FileSDConfigs []FileSDConfig `json:"fileSDConfigs,omitempty"`

	// Instances of Google Compute Engine.
	//
	// +optional
	GCESDConfigs []GCESDConfig `json:"gceSDConfigs,omitempty"`

	// Servers of Hetzner (since Prometheus 2.21.0).
	//
	// +optional
	HetznerSDConfigs []HetznerSDConfig `json:"hetznerSDConfigs,omitempty"`

	// Whether labels of a sample win over labels of the target where both have one. Otherwise the sample's
	// label is kept as `exported_<name>`. The Prometheus can force false.
	//
	// +optional
	HonorLabels *bool `json:"honorLabels,omitempty"`

	// Whether timestamps in the response are kept (since Prometheus 2.9.0). Unset means true.
	//
	// +optional
	HonorTimestamps *bool `json:"honorTimestamps,omitempty"`

	// Targets listed by an HTTP endpoint (since Prometheus 2.28.0).
	//
	// +optional
	HTTPSDConfigs []HTTPSDConfig `json:"httpSDConfigs,omitempty"`

	// Servers of IONOS Cloud (since Prometheus 2.36.0).
	//
	// +optional
	IonosSDConfigs []IonosSDConfig `json:"ionosSDConfigs,omitempty"`

	// Value of the `job` label. Empty means `scrapeConfig/<namespace>/<name>`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	JobName string `json:"jobName,omitempty"`

	// Objects of a Kubernetes cluster.
	//
	// +optional
	KubernetesSDConfigs []KubernetesSDConfig `json:"kubernetesSDConfigs,omitempty"`

	// Proxies of a Kuma control plane (since Prometheus 2.29.0).
	//
	// +optional
	KumaSDConfigs []KumaSDConfig `json:"kumaSDConfigs,omitempty"`

	// Instances of AWS Lightsail (since Prometheus 2.27.0).
	//
	// +optional
	LightSailSDConfigs []LightSailSDConfig `json:"lightSailSDConfigs,omitempty"`

	// Instances of Linode (since Prometheus 2.28.0).
	//
	// +optional
	LinodeSDConfigs []LinodeSDConfig `json:"linodeSDConfigs,omitempty"`

	// Tasks of Marathon. Only this operator has it.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	MarathonSDConfigs []MarathonSDConfig `json:"marathonSDConfigs,omitempty"`

	// Relabeling of samples before they are stored.
	//
	// +kubebuilder:validation:MinItems=1
	// +optional
	MetricRelabelConfigs []monitoringv1.RelabelConfig `json:"metricRelabelings,omitempty"`

	// Path of the metrics. Empty means `/metrics`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	MetricsPath string `json:"metricsPath,omitempty"`

	// How names that are not valid in the legacy scheme are escaped when scraping (since Prometheus 3.4.0).
	//
	// +optional
	NameEscapingScheme monitoringv1.NameEscapingSchemeOptions `json:"nameEscapingScheme,omitempty"`

	// Characters that are valid in metric and label names (since Prometheus 3.0.0).
	//
	// +optional
	NameValidationScheme monitoringv1.NameValidationSchemeOptions `json:"nameValidationScheme,omitempty"`

	// Services that Nerve registered in ZooKeeper. Only this operator has it.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	NerveSDConfigs []NerveSDConfig `json:"nerveSDConfigs,omitempty"`

	// Services of a Nomad cluster (since Prometheus 2.37.0).
	//
	// +optional
	NomadSDConfigs []NomadSDConfig `json:"nomadSDConfigs,omitempty"`

	// Token endpoint to fetch an access token from.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`

	// Instances, hypervisors or load balancers of OpenStack.
	//
	// +optional
	OpenStackSDConfigs []OpenStackSDConfig `json:"openstackSDConfigs,omitempty"`

	// Virtual machines of Outscale (since Prometheus 3.12.0). Only this operator has it.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	OutscaleSDConfigs []OutscaleSDConfig `json:"outscaleSDConfigs,omitempty"`

	// Machines of OVHcloud (since Prometheus 2.40.0).
	//
	// +optional
	OVHCloudSDConfigs []OVHCloudSDConfig `json:"ovhcloudSDConfigs,omitempty"`

	// Parameters to add to the query string.
	//
	// +mapType=atomic
	// +optional
	Params map[string][]string `json:"params,omitempty"`

	// Resources of a PuppetDB (since Prometheus 2.31.0).
	//
	// +optional
	PuppetDBSDConfigs []PuppetDBSDConfig `json:"puppetDBSDConfigs,omitempty"`

	// Relabeling of targets before they are scraped. The operator's own steps come first.
	//
	// +kubebuilder:validation:MinItems=1
	// +optional
	RelabelConfigs []monitoringv1.RelabelConfig `json:"relabelings,omitempty"`

	// Machines of Scaleway (since Prometheus 2.26.0).
	//
	// +optional
	ScalewaySDConfigs []ScalewaySDConfig `json:"scalewaySDConfigs,omitempty"`

	// Protocol to use. Unset means http.
	//
	// +optional
	Scheme monitoringv1.Scheme `json:"scheme,omitempty"`

	// Name of a scrape class of the Prometheus. An unknown name rejects the object.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ScrapeClass string `json:"scrapeClass,omitempty"`

	// Time between two scrapes. Empty means the `scrapeInterval` of the Prometheus.
	//
	// +optional
	ScrapeInterval monitoringv1.Duration `json:"scrapeInterval,omitempty"`

	// Formats to ask the target for, most preferred first (since Prometheus 2.49.0).
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +optional
	ScrapeProtocols []monitoringv1.ScrapeProtocol `json:"scrapeProtocols,omitempty"`

	// How long a scrape may take. It must not be longer than the interval. Empty means the
	// `scrapeTimeout` of the Prometheus.
	//
	// +optional
	ScrapeTimeout monitoringv1.Duration `json:"scrapeTimeout,omitempty"`

	// Members of serversets in ZooKeeper. Only this operator has it.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	ServersetSDConfigs []ServersetSDConfig `json:"serversetSDConfigs,omitempty"`

	// Servers of STACKIT (since Prometheus 3.5.0). Only this operator has it.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	StackitSDConfigs []StackitSDConfig `json:"stackitSDConfigs,omitempty"`

	// Fixed lists of targets.
	//
	// +optional
	StaticConfigs []StaticConfig `json:"staticConfigs,omitempty"`

	// TLS settings of the client.
	//
	// +optional
	TLSConfig *monitoringv1.SafeTLSConfig `json:"tlsConfig,omitempty"`

	// Whether series with explicit timestamps go stale when they vanish from the answer (since Prometheus
	// 2.48.0).
	//
	// +optional
	TrackTimestampsStaleness *bool `json:"trackTimestampsStaleness,omitempty"`

	// Containers or compute nodes of Triton. Only this operator has it.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	TritonSDConfigs []TritonSDConfig `json:"tritonSDConfigs,omitempty"`

	// Exporters of systems that Uyuni manages (since Prometheus 2.31.0). Only this operator has it.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	UyuniSDConfigs []UyuniSDConfig `json:"uyuniSDConfigs,omitempty"`

	// Instances of Vultr (since Prometheus 2.36.0). Only this operator has it.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	VultrSDConfigs []VultrSDConfig `json:"vultrSDConfigs,omitempty"`
}
