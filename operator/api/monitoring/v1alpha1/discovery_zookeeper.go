package v1alpha1

// ServersetSDConfig watches Twitter serversets in ZooKeeper. Only this operator has it.
type ServersetSDConfig struct {
	ZooKeeperWatch `json:",inline"`
}

// NerveSDConfig watches services that Airbnb's Nerve registered in ZooKeeper. Only this operator has it.
type NerveSDConfig struct {
	ZooKeeperWatch `json:",inline"`
}

// ZooKeeperWatch is a watch on paths of ZooKeeper. There is neither TLS nor authentication.
type ZooKeeperWatch struct {
	// Paths to watch, each with everything below. They begin with a slash.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:Pattern=`^/.*`
	// +required
	Paths []string `json:"paths"`

	// ZooKeeper servers as host or host and port. The port is 2181 where it is left out.
	//
	// +kubebuilder:validation:MinItems=1
	// +listType=set
	// +kubebuilder:validation:items:MinLength=1
	// +required
	Servers []string `json:"servers"`

	// Timeout of the ZooKeeper session, such as `10s`; more than zero. Empty means 10s.
	//
	// +optional
	Timeout PositiveDuration `json:"timeout,omitempty"`
}
