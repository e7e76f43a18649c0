// Command operator runs Prometheus on Kubernetes: it turns the objects of
// monitoring.coreos.com into StatefulSets, Secrets and ConfigMaps.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/firekeeper-dev/firekeeper/cmd/commands"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal kills
	code := commands.Operator(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
