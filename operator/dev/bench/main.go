// Command bench measures the operator against a real API server.
//
//	bench                       (make bench-cluster)
//	bench --sizes 1000/200 --samples 20 --profiles out
//	bench --kind alertmanager   (AlertmanagerConfigs)
//	bench envelope              (make envelope: everything that grows, up to 200,000 monitors)
//	bench discovery             (make bench-discovery: central discovery and that of servers)
//
// For each size it starts a control plane without nodes, creates the objects, starts the operator as a process and
// times single changes: from sending the patch until a watch delivers the change in the Secret or ConfigMap of every
// workload. CPU and memory of the operator are read from the kernel, and its number of API calls from its metrics. The
// result is a Markdown table.
//
//	main.go subject.go place.go
//	                     flags; what can be measured; in which namespaces it is
//	prometheus.go alertmanager.go
//	                     what is created and changed
//	controlplane.go bulk.go audit.go
//	                     the control plane; many objects at once; the operator's writes
//	process.go           the operator and its resource usage
//	watch.go measure.go restart.go
//	                     detection of a change; the steps
//	table.go             the result
//	envelope.go machine.go grow.go sustained.go pods.go following.go
//	                     bench envelope, and its parts
//	discovery.go discovery_objects.go scraper.go followers.go
//	                     bench discovery: the steps; the objects; a Prometheus and its config-reloader; many pods
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kingpin/v2"
)

// options holds the flags.
type options struct {
	subject  *subject
	sizes    []size
	samples  int
	pause    time.Duration
	idle     time.Duration
	operator string
	args     []string
	memory   string // GOMEMLIMIT of the operator; empty for that of this process
	crds     string
	profiles string
	keep     string
	out      string
	restart  bool      // also measure a restart
	versions *versions // set when a control plane has started; nil leaves them out
	log      io.Writer
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	o := options{log: os.Stderr}
	app := kingpin.New("bench", "Measures the operator against a real API server.")
	app.Flag("operator", "Program to measure.").Default("bin/operator").StringVar(&o.operator)
	app.Flag("operator-arg", "One more argument for it. Repeatable.").StringsVar(&o.args)
	app.Flag("crds", "Folder with the CustomResourceDefinitions.").Default("deploy/crds").StringVar(&o.crds)
	app.Flag("profiles", "Folder for profiles of the operator (CPU during the changes, memory at the end). Empty means none.").StringVar(&o.profiles)
	changes := bindChanges(app.Command("changes", "Time single changes at chosen sizes.").Default(), &o)
	whole := bindEnvelope(app.Command("envelope", "Measure everything that grows, at growing sizes, and write the table of docs/performance.md."), &o)
	central := bindDiscovery(app.Command("discovery", "Compare central discovery with the discovery of the servers themselves."), &o)
	command, err := app.Parse(args)
	if err != nil {
		return err
	}
	if _, err := os.Stat(o.operator); err != nil {
		return fmt.Errorf("--operator: %w; make build makes it", err)
	}
	switch command {
	case "envelope":
		return whole.run(ctx)
	case "discovery":
		return central.run(ctx)
	}
	return changes(ctx)
}

// bindChanges declares the flags of the command changes, and returns it.
func bindChanges(cmd *kingpin.CmdClause, o *options) func(context.Context) error {
	var kind, sizes string
	cmd.Flag("kind", "Workload to measure: prometheus (changes of monitors and rules) or alertmanager (changes of AlertmanagerConfigs).").
		Default("prometheus").EnumVar(&kind, subjectNames()...)
	cmd.Flag("sizes", "What to create, comma separated: MONITORS/RULE OBJECTS or ALERTMANAGERCONFIGS, and xN for N workloads that all select them, or :N for N Prometheus objects that share them out. "+
		"Empty means "+prometheus.sizes+" or "+alertmanager.sizes+".").StringVar(&sizes)
	cmd.Flag("samples", "Changes to time, of each kind of objects.").Default("30").IntVar(&o.samples)
	cmd.Flag("pause", "Time between two changes, so that what follows one does not slow the next. 0 is as long as the operator leaves between two writes of a configuration of this size.").Default("0s").DurationVar(&o.pause)
	cmd.Flag("idle", "How long to watch the operator doing nothing.").Default("20s").DurationVar(&o.idle)
	cmd.Flag("keep", "Folder for the last configuration of each size, and the rules that come with it, to look at or to check. Empty means none.").StringVar(&o.keep)
	cmd.Flag("memory", "GOMEMLIMIT of the operator, such as 4GiB; it holds objects up to a fifth of it. Empty means that of this process; without any, the operator assumes 512 MiB.").StringVar(&o.memory)
	cmd.Flag("restart", "Also restart the operator at the end, and say how long it takes and what it writes.").BoolVar(&o.restart)
	cmd.Flag("out", "File for the table. Empty means standard output.").StringVar(&o.out)
	return func(ctx context.Context) error {
		o.subject = subjects[kind]
		for text := range strings.SplitSeq(cmp.Or(sizes, o.subject.sizes), ",") {
			s, err := o.subject.parseSize(text)
			if err != nil {
				return fmt.Errorf("--sizes: %w", err)
			}
			o.sizes = append(o.sizes, s)
		}
		if o.samples < 1 {
			return errors.New("--samples: at least one is needed")
		}
		return o.measureAll(ctx)
	}
}

// measureAll measures each size and writes the table of the results so far, also after an error.
func (o *options) measureAll(ctx context.Context) error {
	var results []result
	var failed error
	for _, s := range o.sizes {
		r, err := o.measure(ctx, s, (*measurement).steps)
		if err != nil {
			failed = fmt.Errorf("%s: %w", s, err)
			break
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		return failed
	}
	text := o.subject.table(results)
	if o.out == "" {
		_, err := fmt.Print(text)
		return errors.Join(failed, err)
	}
	return errors.Join(failed, os.WriteFile(o.out, []byte(text), 0o644))
}

func (o *options) say(format string, args ...any) {
	fmt.Fprintf(o.log, "bench: "+format+"\n", args...)
}

// definitions returns the file names of the CRDs.
func (o *options) definitions() ([]string, error) {
	files, err := filepath.Glob(filepath.Join(o.crds, "*.yaml"))
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("--crds=%s: no manifests there", o.crds)
	}
	return files, err
}
