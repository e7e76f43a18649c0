package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"

	monitoringv1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// HetznerRole is the Hetzner API to use: the cloud (with `authorization`) or dedicated servers (with
// `basicAuth`). The letter case does not matter.
//
// +kubebuilder:validation:Enum=hcloud;Hcloud;robot;Robot
type HetznerRole string

// Values of HetznerRole.
const (
	HetznerRoleHcloud HetznerRole = "hcloud"
	HetznerRoleRobot  HetznerRole = "robot"
)

// OVHService is the kind of OVHcloud machine that becomes targets.
//
// +kubebuilder:validation:Enum=VPS;DedicatedServer
type OVHService string

// Values of OVHService.
const (
	OVHServiceVPS             OVHService = "VPS"
	OVHServiceDedicatedServer OVHService = "DedicatedServer"
)

// ScalewayRole is the kind of Scaleway machine that becomes targets.
//
// +kubebuilder:validation:Enum=Instance;Baremetal
type ScalewayRole string

// Values of ScalewayRole.
const (
	ScalewayRoleInstance  ScalewayRole = "Instance"
	ScalewayRoleBaremetal ScalewayRole = "Baremetal"
)

// DigitalOceanSDConfig asks DigitalOcean for droplets (since Prometheus 2.20.0; an older one rejects the object).
// The API token goes into `authorization`.
type DigitalOceanSDConfig struct {
	HTTPTransport `json:",inline"`

	// Authorization header to send.
	//
	// +optional
	Authorization *monitoringv1.SafeAuthorization `json:"authorization,omitempty"`

	// Token endpoint to fetch an access token from.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`
}

// HetznerSDConfig asks Hetzner for servers (since Prometheus 2.21.0): the cloud with a token in `authorization`,
// dedicated servers with `basicAuth`.
type HetznerSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Label selector by which the cloud returns only some servers (since Prometheus 3.5.0; an older one rejects
	// the object).
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	LabelSelector string `json:"labelSelector,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// API to use.
	//
	// +required
	Role HetznerRole `json:"role"`
}

// IonosSDConfig asks IONOS Cloud for servers (since Prometheus 2.36.0; an older one rejects the object).
type IonosSDConfig struct {
	HTTPTransport `json:",inline"`

	// Authorization header with the API token. It is needed, but ignored if `oauth2` is set.
	//
	// +required
	Authorization monitoringv1.SafeAuthorization `json:"authorization"`

	// ID of the virtual data center to look in.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	DatacenterID string `json:"datacenterID"`

	// Token endpoint to fetch an access token from.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`
}

// LinodeSDConfig asks Linode for instances (since Prometheus 2.28.0; an older one rejects the object). The API
// token goes into `authorization`.
type LinodeSDConfig struct {
	HTTPTransport `json:",inline"`

	// Authorization header to send.
	//
	// +optional
	Authorization *monitoringv1.SafeAuthorization `json:"authorization,omitempty"`

	// Token endpoint to fetch an access token from.
	//
	// +optional
	OAuth2 *monitoringv1.OAuth2 `json:"oauth2,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Region to look in, such as `eu-central` (since Prometheus 2.52.0). Empty means all.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region string `json:"region,omitempty"`

	// Text around and between the tags in the label that holds all of them. Empty means `,`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	TagSeparator string `json:"tagSeparator,omitempty"`
}

// OVHCloudSDConfig asks OVHcloud for dedicated servers or virtual private servers (since Prometheus 2.40.0; an
// older one rejects the object).
type OVHCloudSDConfig struct {
	// Key of the API application. It is not secret.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	ApplicationKey string `json:"applicationKey"`

	// Secret key with the secret of the API application; the value must not be empty.
	//
	// +required
	ApplicationSecret corev1.SecretKeySelector `json:"applicationSecret"`

	// Secret key with the consumer key; the value must not be empty.
	//
	// +required
	ConsumerKey corev1.SecretKeySelector `json:"consumerKey"`

	// API to ask: `ovh-eu`, `ovh-ca`, `ovh-us` or a URL. Empty means `ovh-eu`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Kind of machine that becomes targets.
	//
	// +required
	Service OVHService `json:"service"`
}

// ScalewaySDConfig asks Scaleway for instances or bare metal servers (since Prometheus 2.26.0; an older one
// rejects the object).
type ScalewaySDConfig struct {
	HTTPTransport `json:",inline"`

	// Access key: SCW and 17 capital letters or digits. It is not secret.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	AccessKey string `json:"accessKey"`

	// URL of the API. Empty means `https://api.scaleway.com`.
	//
	// +kubebuilder:validation:Pattern=`^https?://.+$`
	// +optional
	APIURL string `json:"apiURL,omitempty"`

	// Text that the name of a server must have.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	NameFilter string `json:"nameFilter,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// ID of the project, a UUID.
	//
	// +kubebuilder:validation:MinLength=1
	// +required
	ProjectID string `json:"projectID"`

	// Time between two refreshes of the target list, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval monitoringv1.Duration `json:"refreshInterval,omitempty"`

	// Kind of machine that becomes targets.
	//
	// +required
	Role ScalewayRole `json:"role"`

	// Secret key with the secret key of the API, a UUID.
	//
	// +required
	SecretKey corev1.SecretKeySelector `json:"secretKey"`

	// Tags a server must have, all of them.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	TagsFilter []string `json:"tagsFilter,omitempty"`

	// Zone to look in, such as `nl-ams-1`. Empty means `fr-par-1`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Zone string `json:"zone,omitempty"`
}
