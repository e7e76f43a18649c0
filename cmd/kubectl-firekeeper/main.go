// Command kubectl-firekeeper is a plugin of kubectl: it has the commands of the operator
// that are for people, and not the operator.
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
	code := commands.Plugin(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
