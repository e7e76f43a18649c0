package wellknown

// How a pod with central discovery receives its targets. The server reads them from config-reloader.
const (
	// TargetsAddress is where config-reloader serves the targets of the pod, on loopback.
	TargetsAddress = "127.0.0.1:8082"
	// TargetsPath is followed by the escaped name of a job.
	TargetsPath = "/sd/"
	// DiscoveryAudience is the audience of the tokens with which pods authenticate to the discovery
	// service.
	DiscoveryAudience = "firekeeper-discovery"
)
