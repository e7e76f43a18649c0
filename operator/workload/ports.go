package workload

// Ports of the reloader sidecars of a pod; with spec.listenLocal they are only reachable in the pod.
const (
	ConfigReloaderPort = reloaderPort
	RulesReloaderPort  = rulesPort
)
