package promworkload

// Names, port and path for access to the server of a pod.
const (
	ServerContainer = containerPrometheus
	ServerPort      = webPort
	RuntimeInfoPath = runtimeInfoPath
)
