package promworkload

// Port and path for access to the server of a pod.
const (
	ServerPort      = webPort
	RuntimeInfoPath = runtimeInfoPath
)
