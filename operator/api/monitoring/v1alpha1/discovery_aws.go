package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// AWSRole is the service of AWS whose objects become targets. MSK needs Prometheus 3.10.0, ElastiCache and RDS 3.11.0.
//
// +kubebuilder:validation:Enum=EC2;Lightsail;ECS;MSK;ElastiCache;RDS
type AWSRole string

// Values of AWSRole.
const (
	AWSRoleEC2         AWSRole = "EC2"
	AWSRoleLightsail   AWSRole = "Lightsail"
	AWSRoleECS         AWSRole = "ECS"
	AWSRoleMSK         AWSRole = "MSK"
	AWSRoleElastiCache AWSRole = "ElastiCache"
	AWSRoleRDS         AWSRole = "RDS"
)

// AWSSDConfig asks one of several services of AWS. Only this operator has it.
//
// +kubebuilder:validation:XValidation:rule="(has(self.basicAuth) ? 1 : 0) + (has(self.authorization) ? 1 : 0) + (has(self.oauth2) ? 1 : 0) <= 1",message="at most one of basicAuth, authorization, or oauth2 can be configured"
// +kubebuilder:validation:XValidation:rule="has(self.accessKey) == has(self.secretKey)",message="accessKey and secretKey must be set together"
// +kubebuilder:validation:XValidation:rule="!has(self.externalID) || has(self.roleARN)",message="externalID can only be used when roleARN is specified"
// +kubebuilder:validation:XValidation:rule="!has(self.filters) || self.role in ['EC2', 'RDS']",message="filters can only be used with the roles EC2 and RDS"
// +kubebuilder:validation:XValidation:rule="!has(self.clusters) || !(self.role in ['EC2', 'Lightsail'])",message="clusters can only be used with the roles ECS, MSK, ElastiCache and RDS"
type AWSSDConfig struct {
	HTTPTransport   `json:",inline"`
	HTTPCredentials `json:",inline"`

	// Secret key with the AWS access key ID. Only together with `secretKey`; without both the default chain of
	// the AWS SDK is used.
	//
	// +optional
	AccessKey *corev1.SecretKeySelector `json:"accessKey,omitempty"`

	// Names or ARNs of clusters to look in. Empty means all of the region. Roles ECS, MSK, ElastiCache and RDS only.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +optional
	Clusters []string `json:"clusters,omitempty"`

	// URL of the API, if it is not the one of AWS.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// External ID to assume the role with (since Prometheus 3.12.0). Only together with `roleARN`.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	ExternalID string `json:"externalID,omitempty"`

	// Filters of the API, by which it returns only some objects. Names must be unique. Roles EC2 and (since Prometheus
	// 3.13.0) RDS only.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +optional
	Filters []Filter `json:"filters,omitempty"`

	// Port to scrape the discovered addresses at. Unset means 80.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port *int32 `json:"port,omitempty"`

	// Name of a profile of the shared AWS configuration in the Prometheus container.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Profile string `json:"profile,omitempty"`

	// Time between two refreshes, such as `1m`; more than zero. Empty means 60s.
	//
	// +optional
	RefreshInterval PositiveDuration `json:"refreshInterval,omitempty"`

	// Region to look in. Empty means the value of `AWS_REGION` of container `prometheus` in the workload, and rejects the
	// object without one, because a server elsewhere than on AWS would refuse its whole configuration.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Region string `json:"region,omitempty"`

	// Service whose objects become targets.
	//
	// +required
	Role AWSRole `json:"role"`

	// ARN of a role to assume.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	RoleARN string `json:"roleARN,omitempty"`

	// Secret key with the AWS secret access key. Only together with `accessKey`.
	//
	// +optional
	SecretKey *corev1.SecretKeySelector `json:"secretKey,omitempty"`
}
