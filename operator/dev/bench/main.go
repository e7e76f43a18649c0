// Command bench measures the operator against a real API server.
//
//	bench                       (make bench-cluster)
//	bench --sizes 1000/200 --samples 20 --profiles out
//	bench --kind alertmanager   (AlertmanagerConfigs)
//
// For each size it starts a control plane without nodes, creates the objects, starts the operator as a process and
// times single changes: from sending the patch until a watch delivers the change in the Secret or ConfigMap of every
// workload. CPU and memory of the operator are read from the kernel, and its number of API calls from its metrics. The
// result is a Markdown table.
//
//	main.go subject.go   flags; what can be measured
//	prometheus.go alertmanager.go
//	                     what is created and changed
//	bed.go               the control plane
//	process.go           the operator and its resource usage
//	watch.go measure.go  detection of a change; the steps
//	table.go             the result
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
	crds     string
	profiles string
	keep     string
	out      string
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
	var kind, sizes string
	app := kingpin.New("bench", "Measures the operator against a real API server.")
	app.Flag("kind", "Workload to measure: prometheus (changes of monitors and rules) or alertmanager (changes of AlertmanagerConfigs).").
		Default("prometheus").EnumVar(&kind, subjectNames()...)
	app.Flag("sizes", "What to create, comma separated: MONITORS/RULE OBJECTS or ALERTMANAGERCONFIGS, and xN for N workloads. "+
		"Empty means "+prometheus.sizes+" or "+alertmanager.sizes+".").StringVar(&sizes)
	app.Flag("samples", "Changes to time, of each kind of objects.").Default("30").IntVar(&o.samples)
	app.Flag("pause", "Time between two changes, so that what follows one does not slow the next. 0 is as long as the operator leaves between two writes of a configuration of this size.").Default("0s").DurationVar(&o.pause)
	app.Flag("idle", "How long to watch the operator doing nothing.").Default("20s").DurationVar(&o.idle)
	app.Flag("operator", "Program to measure.").Default("bin/operator").StringVar(&o.operator)
	app.Flag("operator-arg", "One more argument for it. Repeatable.").StringsVar(&o.args)
	app.Flag("crds", "Folder with the CustomResourceDefinitions.").Default("deploy/crds").StringVar(&o.crds)
	app.Flag("profiles", "Folder for profiles of the operator (CPU during the changes, memory at the end). Empty means none.").StringVar(&o.profiles)
	app.Flag("keep", "Folder for the last configuration of each size, and the rules that come with it, to look at or to check. Empty means none.").StringVar(&o.keep)
	app.Flag("out", "File for the table. Empty means standard output.").StringVar(&o.out)
	if _, err := app.Parse(args); err != nil {
		return err
	}
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
	if _, err := os.Stat(o.operator); err != nil {
		return fmt.Errorf("--operator: %w; make build makes it", err)
	}
	return o.measureAll(ctx)
}

// measureAll measures each size and writes the table of the results so far, also after an error.
func (o *options) measureAll(ctx context.Context) error {
	var results []result
	var failed error
	for _, s := range o.sizes {
		r, err := o.measure(ctx, s)
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
