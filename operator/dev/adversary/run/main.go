// Command run attacks an installation with hostile objects and requests, and reports its findings.
//
//	run                                (make adversary)
//	run --objects 2000 --seed 7        (make adversary ARGS="--objects 2000 --seed 7")
//
// Exit codes: 0 without findings, 1 with findings or if the attack failed. docs/security.md explains the output.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kingpin/v2"

	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func run(ctx context.Context, args []string) int {
	o := adversary.Defaults()
	o.Log = os.Stderr
	app := kingpin.New("adversary", "Attacks an installation with hostile objects and requests.")
	app.Flag("objects", "Hostile objects to create; 0 is as many as --duration allows.").Default(fmt.Sprint(o.Objects)).IntVar(&o.Objects)
	app.Flag("seed", "Of what is made by chance: the same seed makes the same objects.").Default(fmt.Sprint(o.Seed)).Uint64Var(&o.Seed)
	app.Flag("from", "Number of the first object, to begin where another run has ended.").IntVar(&o.From)
	app.Flag("duration", "End after this time at the latest.").Default(o.Duration.String()).DurationVar(&o.Duration)
	app.Flag("batch", "Objects between two checks.").Default(fmt.Sprint(o.Batch)).IntVar(&o.Batch)
	app.Flag("alive", "Hostile objects that exist at the same time.").Default(fmt.Sprint(o.Alive)).IntVar(&o.Alive)
	app.Flag("workers", "Calls to the API server at the same time.").Default(fmt.Sprint(o.Workers)).IntVar(&o.Workers)
	app.Flag("restarts", "How often the API server and every process are killed and started again.").Default(fmt.Sprint(o.Restarts)).IntVar(&o.Restarts)
	app.Flag("requests", "Hostile HTTP requests per second; 0 is none.").Default(fmt.Sprint(o.Requests)).Float64Var(&o.Requests)
	app.Flag("bound", "Within which a change of the good tenant must be written.").Default(o.Bound.String()).DurationVar(&o.Bound)
	app.Flag("answer", "Within which a good HTTP request must be answered.").Default(o.Answer.String()).DurationVar(&o.Answer)
	app.Flag("minimise", "How long to look for the object behind a finding; 0 does not.").Default(o.Minimise.String()).DurationVar(&o.Minimise)
	app.Flag("bin", "Folder with the programs.").Default(o.Bin).StringVar(&o.Bin)
	app.Flag("promtool", "Build promtool where it is missing; otherwise configurations are read without most ways of discovery.").Default("true").BoolVar(&o.Promtool)
	app.Flag("out", "Folder for logs, findings and their manifests.").Default("bin/adversary").StringVar(&o.Out)
	alone := app.Flag("alone", "Without a cluster: give the objects to our own checks, the webhooks and the conversion in one process.").Bool()
	webhooks := app.Flag("webhooks", "Without a cluster: send requests to the webhooks alone, until --duration is over.").Bool()
	if _, err := app.Parse(args); err != nil {
		fmt.Fprintln(os.Stderr, "adversary:", err)
		return 1
	}
	attack := adversary.Run
	switch {
	case *alone:
		attack = adversary.Alone
	case *webhooks:
		attack = adversary.Webhooks
	}
	result, err := attack(ctx, o)
	fmt.Print(result.Text())
	if err != nil {
		fmt.Fprintln(os.Stderr, "adversary:", err)
		return 1
	}
	if len(result.Findings) > 0 {
		return 1
	}
	return 0
}
