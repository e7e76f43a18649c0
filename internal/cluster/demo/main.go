// Command demo shows the product on one machine: a Kubernetes cluster, the operator, a
// Prometheus, how long a change takes to become effective in it, an alert that arrives
// through an Alertmanager, and the web pages.
//
//	demo up      (make demo)
//	demo down    (make demo-down)
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) != 2 {
		usage()
	}
	var err error
	switch os.Args[1] {
	case "up":
		err = up(ctx)
	case "down":
		err = down(ctx)
	default:
		usage()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprint(os.Stderr, `usage: demo up|down

up    takes the cluster of KUBECONFIG; without it, kind and docker when both are
      on PATH; without them, starts a one-node Kubernetes on this machine (Linux,
      root). DEMO_ON=kind or DEMO_ON=node chooses between the last two. Builds and
      loads the images, installs the operator, applies deploy/examples, changes a
      rule and a monitor, and says how long each took until the running
      Prometheus showed it. Then an alert fires, and the log of the webhook that
      received it is printed (on a cluster of KUBECONFIG, where that receiver is
      not: until it is in Alertmanager). At the end "operator ui" serves the pages
      about all of it on this machine, until down. Running it again is fine.
      DEMO_DISCOVERY=central adds the discovery service and a Prometheus with two
      shards, and says which of them scrapes each new pod.
down  removes what up made: the whole cluster when up started it, otherwise the
      example and the operator.

The cluster of KUBECONFIG has to get the images from somewhere: push them with
  make images IMAGE=registry.example/firekeeper TAG=demo
and set IMAGE and TAG to the same values for the demo.
`)
	os.Exit(2)
}
