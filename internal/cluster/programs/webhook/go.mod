// Builds a receiver of notifications, for tests and the demo.
module github.com/firekeeper-dev/firekeeper/internal/cluster/programs/webhook

go 1.26.0
