package promworkload

// How others reach the server of a pod.
const (
	ServerContainer = containerPrometheus
	ServerPort      = webPort
	RuntimeInfoPath = runtimeInfoPath
)
