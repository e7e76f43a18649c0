package v1

// ShardingStrategyMode is an enumeration.
//
// +kubebuilder:validation:Enum=Address;Topology
type ShardingStrategyMode string

// Values of ShardingStrategyMode.
const (
	AddressShardingStrategyMode  ShardingStrategyMode = "Address"
	TopologyShardingStrategyMode ShardingStrategyMode = "Topology"
)

// WhenScaledRetentionType is an enumeration.
//
// +kubebuilder:validation:Enum=Retain;Delete
type WhenScaledRetentionType string

// Values of WhenScaledRetentionType.
const (
	RetainWhenScaledRetentionType WhenScaledRetentionType = "Retain"
	DeleteWhenScaledRetentionType WhenScaledRetentionType = "Delete"
)

// ShardRetentionPolicy holds settings.
type ShardRetentionPolicy struct {
	// Retain is a setting.
	//
	// +optional
	Retain *RetainConfig `json:"retain,omitempty"`

	// WhenScaled is a setting.
	//
	// +optional
	WhenScaled WhenScaledRetentionType `json:"whenScaled,omitempty"`
}

// RetainConfig holds settings.
type RetainConfig struct {
	// RetentionPeriod is a setting.
	//
	// +required
	RetentionPeriod Duration `json:"retentionPeriod"`
}

// ShardingStrategy holds settings.
//
// +kubebuilder:validation:XValidation:rule="!has(self.topology) || (has(self.mode) && self.mode == 'Topology')",message="topology can only be defined when mode is set to 'Topology'"
type ShardingStrategy struct {
	// Mode is a setting.
	//
	// +optional
	Mode ShardingStrategyMode `json:"mode,omitempty"`

	// Topology is a setting.
	//
	// +optional
	Topology *ShardingTopology `json:"topology,omitempty"`
}

// ShardingTopology holds settings.
type ShardingTopology struct {
	// ExternalLabelName is a setting.
	//
	// +optional
	ExternalLabelName *string `json:"externalLabelName,omitempty"`

	// Values is a setting.
	//
	// +listType=atomic
	// +optional
	Values []string `json:"values,omitempty"`
}
