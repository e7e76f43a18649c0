package v1

// ShardingStrategyMode is what decides which shard scrapes a target: a hash of its address, or the topology it
// runs in.
//
// +kubebuilder:validation:Enum=Address;Topology
type ShardingStrategyMode string

// Values of ShardingStrategyMode.
const (
	AddressShardingStrategyMode  ShardingStrategyMode = "Address"
	TopologyShardingStrategyMode ShardingStrategyMode = "Topology"
)

// WhenScaledRetentionType tells what happens to a shard that is no longer wanted.
//
// +kubebuilder:validation:Enum=Retain;Delete
type WhenScaledRetentionType string

// Values of WhenScaledRetentionType.
const (
	RetainWhenScaledRetentionType WhenScaledRetentionType = "Retain"
	DeleteWhenScaledRetentionType WhenScaledRetentionType = "Delete"
)

// ShardRetentionPolicy is what happens to shards that are no longer wanted.
type ShardRetentionPolicy struct {
	// Settings of shards that are kept.
	//
	// +optional
	Retain *RetainConfig `json:"retain,omitempty"`

	// Whether the shards are kept or deleted. Unset means Delete.
	//
	// +optional
	WhenScaled WhenScaledRetentionType `json:"whenScaled,omitempty"`
}

// RetainConfig bounds how long an unwanted shard is kept.
type RetainConfig struct {
	// How long the shard is kept after scaling down.
	//
	// +required
	RetentionPeriod Duration `json:"retentionPeriod"`
}

// ShardingStrategy is how targets are spread over shards.
//
// +kubebuilder:validation:XValidation:rule="!has(self.topology) || (has(self.mode) && self.mode == 'Topology')",message="topology can only be defined when mode is set to 'Topology'"
type ShardingStrategy struct {
	// What decides which shard scrapes a target. Unset means Address.
	//
	// +optional
	Mode ShardingStrategyMode `json:"mode,omitempty"`

	// Settings of the mode Topology.
	//
	// +optional
	Topology *ShardingTopology `json:"topology,omitempty"`
}

// ShardingTopology assigns shards to topology values, usually zones, so that targets are scraped from where
// they run.
type ShardingTopology struct {
	// Name of the external label that holds the topology value of a shard. Unset means `zone`, empty means no
	// such label.
	//
	// +optional
	ExternalLabelName *string `json:"externalLabelName,omitempty"`

	// Topology values. There must be at least as many shards.
	//
	// +listType=atomic
	// +optional
	Values []string `json:"values,omitempty"`
}
