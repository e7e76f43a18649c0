package workload

// Where the reloader sidecars of a pod answer; with spec.listenLocal only inside the pod.
const (
	ConfigReloaderPort = reloaderPort
	RulesReloaderPort  = rulesPort
)
