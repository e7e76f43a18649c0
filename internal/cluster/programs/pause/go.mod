// Builds the program of the pause image, which keeps a pod's namespaces alive.
module github.com/firekeeper-dev/firekeeper/internal/cluster/programs/pause

go 1.26.0
