package soak

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/cluster"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/clustertest"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs/programtest"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

var (
	lasts   = flag.Duration("for", 12*time.Second, "how long objects change")
	seed    = flag.Uint64("seed", 1, "of all random choices")
	tenants = flag.Int("tenants", 3, "number of tenants")
	record  = flag.Bool("record", false, "write figures.md, for docs/reliability.md")
)

// id is the ID of the operator, and the namespace of the shared workloads.
const id = "soak"

func TestMain(m *testing.M) {
	code := clustertest.Main(m)
	trial.Clean()
	os.Exit(code)
}

// run is everything that runs, and what was counted.
type run struct {
	t        *testing.T
	seed     uint64
	rand     *rand.Rand
	programs map[string]string

	environment              *trial.Environment
	operator                 *trial.Operator
	prometheus, alertmanager *pod
	alertmanagerURL          string
	receiver                 *receiver
	tenants                  []*tenant
	mirrors                  map[string]*trial.Mirror // by namespace
	watching                 watching
	usage                    usage

	changes, hostile int
	order            []int // of the next faults
	fault            string
	end              func() // of the current fault
	until            time.Time
	disturbed        map[string]int
}

func newRun(t *testing.T) *run {
	r := &run{t: t, seed: *seed, rand: rand.New(rand.NewPCG(*seed, 0)), programs: map[string]string{}, usage: usage{}, disturbed: map[string]int{}, mirrors: map[string]*trial.Mirror{}}
	versions := map[string]string{}
	for _, name := range []string{"prometheus", "alertmanager"} {
		r.programs[name] = programtest.Find(t, name)
		version, err := programs.Release(t.Context(), r.programs[name])
		must(t, err)
		versions[name] = "v" + version.String()
	}
	dir := t.TempDir()
	var reloaders []string
	for _, name := range []string{"config-reloader", "rules-reloader"} {
		path, err := trial.Build(dir, name)
		must(t, err)
		reloaders = append(reloaders, path)
	}
	r.environment = trial.Prepare(t, clustertest.Start(t, cluster.Options{ControllerManager: true}))
	r.receiver = newReceiver(t)
	r.alertmanagerURL = "http://" + freeAddress(t)
	r.environment.Apply(t, strings.NewReplacer(`"ID"`, id, "APISERVER", r.environment.Cluster.Host, "TOKEN", r.environment.Cluster.Token, "ALERTMANAGER", strings.TrimPrefix(r.alertmanagerURL, "http://"),
		"AMVERSION", versions["alertmanager"], "PROMETHEUS", versions["prometheus"]).Replace(shared))
	for n := range *tenants {
		r.tenants = append(r.tenants, r.newTenant(n))
	}
	r.operator = trial.NewOperator(t, r.environment, id)
	r.operator.Start(t)
	r.newPods(reloaders[0], reloaders[1])
	r.startKubelet(r.prometheus, r.alertmanager)
	r.startPods()
	t.Cleanup(func() {
		if t.Failed() {
			for _, p := range []*pod{r.prometheus, r.alertmanager} {
				for _, one := range []*trial.Process{&p.server, &p.config, &p.rules} {
					if one.Name != "" {
						t.Logf("%s: %s", one.Name, one.Log.Brief(20))
					}
				}
			}
		}
	})
	r.mirrors[id] = trial.NewMirror(t, r.environment, id)
	for _, tenant := range r.tenants {
		r.mirrors[tenant.namespace] = trial.NewMirror(t, r.environment, tenant.namespace)
	}
	return r
}

// settled waits until the operator is idle, and the servers run what all tenants have.
func (r *run) settled(when string) {
	r.t.Helper()
	r.operator.Idle(r.t)
	trial.Await(r.t, "what tenants have runs "+when, func() error {
		missing, _, _, err := r.poll(r.t.Context())
		if err == nil && len(missing) > 0 {
			err = fmt.Errorf("%q are missing", missing)
		}
		return err
	})
}

// progress prints the counts so far.
func (r *run) progress(began time.Time) {
	r.watching.mu.Lock()
	defer r.watching.mu.Unlock()
	memory := ""
	if samples := r.usage["operator"]; len(samples) > 0 {
		last := samples[len(samples)-1].values
		memory = fmt.Sprintf(", operator with %.0f goroutines and %.0f MiB", last[0], last[3])
	}
	fmt.Fprintf(os.Stderr, "%s: %d changes, %d alerts under way, %d jobs and %d groups of rules loaded, %d polls%s %s\n",
		time.Since(began).Round(time.Second), r.changes, len(r.receiver.left()), r.watching.jobs, r.watching.rules, r.watching.polls, memory, r.fault)
}

// soak changes objects under faults for a while.
func (r *run) soak(began time.Time, lasts time.Duration, kills bool) {
	next, told := time.Now(), time.Now()
	for end := time.Now().Add(lasts); time.Now().Before(end); {
		r.change()
		r.endFault()
		if r.end == nil && time.Now().After(next) {
			r.beginFault(kills)
			next = r.until.Add(time.Duration(r.rand.IntN(4000)) * time.Millisecond)
		}
		if time.Since(told) > 5*time.Second {
			told = time.Now()
			r.look(r.t.Context())
			r.progress(began)
		}
		time.Sleep(time.Duration(r.rand.IntN(400)) * time.Millisecond) // users pause, too
	}
	r.heal()
}

// What many tenants have is present all the time, in the files and in the servers, and each alert arrives. At the end,
// everything is as a new operator makes it. Our processes do not grow.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute, with an API server")
	}
	t.Logf("seed %d", *seed)
	r := newRun(t)
	r.settled("at the start")
	trial.Await(t, "the first alert of each tenant", func() error {
		if n := r.receiver.anchored(); n < len(r.tenants) {
			return fmt.Errorf("those of %d of %d have come", n, len(r.tenants))
		}
		return nil
	})
	r.mirrors[id].Begin()
	ctx, stop := context.WithCancel(t.Context())
	watched := make(chan struct{})
	go func() { defer close(watched); r.watch(ctx) }()
	began := time.Now()
	r.soak(began, *lasts/2, true)
	r.operator.Idle(t)
	calm := time.Now()
	r.soak(began, *lasts/2, false)
	ended := time.Now()
	r.settled("at the end")
	trial.Await(t, "all alerts", func() error {
		if left := r.receiver.left(); len(left) > 0 {
			return fmt.Errorf("%q have not come", left)
		}
		return nil
	})
	stop()
	<-watched
	life := r.mirrors[id].Begin()
	r.lost(life)
	trends := r.usage.trends(calm.Add(ended.Sub(calm) / 5))
	for _, one := range trends {
		if one.over && *lasts >= 10*time.Minute {
			t.Errorf("%s: %s grew from %.1f to %.1f, more than %.1f", one.process, one.measure, one.first, one.last, one.bound)
		}
	}
	objects := r.compare()
	text := r.figures(ended.Sub(began), objects, trends)
	fmt.Fprintln(os.Stderr, text)
	if *record && !t.Failed() {
		must(t, os.WriteFile("figures.md", []byte(text), 0o644))
	}
}

// lost reports what was missing for a while.
func (r *run) lost(life trial.Life) {
	for atom := range life.Missing {
		if strings.Contains(atom, "anchor") {
			r.t.Errorf("%s was missing for a while", atom)
		}
	}
	for _, m := range r.watching.missing {
		r.t.Errorf("the servers were without %s for a while", m)
	}
	for _, name := range r.receiver.resolved {
		r.t.Errorf("%s ended, which fires all the time", name)
	}
	for _, text := range r.receiver.foreign {
		r.t.Errorf("an alert at another tenant's receiver: %s", text)
	}
	if r.watching.polls == 0 {
		r.t.Error("the servers never answered")
	}
}

// settle waits until all changes have their effect. After outages, kube-controller-manager and the mirrors pause for
// up to a minute between attempts to read, so that they are replaced.
func (r *run) settle() {
	r.t.Helper()
	restart, err := r.environment.Cluster.Crash("kube-controller-manager")
	must(r.t, err)
	must(r.t, restart(r.t.Context()))
	for namespace := range r.mirrors {
		r.mirrors[namespace] = trial.NewMirror(r.t, r.environment, namespace)
	}
	trial.Await(r.t, "garbage is collected, and what failed under faults is repeated", func() error {
		for namespace, m := range r.mirrors {
			state := m.Snapshot()
			if key := trial.Garbage(state); key != "" {
				return fmt.Errorf("in %s, the owner of %s does not exist", namespace, key)
			}
			text, err := json.Marshal(state)
			if err != nil {
				return err
			}
			if bytes.Contains(text, []byte(`"reason":"ReconciliationFailed"`)) { // an invalid object has another reason
				return fmt.Errorf("a workload in %s waits for its next attempt", namespace)
			}
		}
		return nil
	})
	r.operator.Idle(r.t)
	r.rest()
}

// compare deletes everything that the operator has written, lets a new one write it again, and returns the number of
// objects.
func (r *run) compare() (objects int) {
	r.settle()
	before := map[string]trial.State{}
	for namespace, m := range r.mirrors {
		before[namespace] = m.Snapshot()
		objects += len(before[namespace])
	}
	r.operator.Kill()
	for namespace := range r.mirrors {
		background := metav1.DeletePropagationBackground
		for _, resource := range []string{"secrets", "configmaps", "services", "statefulsets"} {
			err := r.environment.Objects.Resource(trial.KindOf(r.t, resource)).Namespace(namespace).DeleteCollection(r.t.Context(),
				metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=prometheus-operator"})
			must(r.t, err)
		}
	}
	r.rest()
	r.operator.Start(r.t)
	r.operator.Idle(r.t)
	for namespace, m := range r.mirrors {
		ctx, cancel := context.WithTimeout(r.t.Context(), trial.Deadline)
		if _, err := m.Reaches(ctx, before[namespace], nil); err != nil {
			r.t.Errorf("a new operator makes something else in %s: %v", namespace, err)
		}
		cancel()
	}
	return objects
}

// rest waits until nothing changes, while garbage is collected.
func (r *run) rest() {
	for _, m := range r.mirrors {
		ctx, cancel := context.WithTimeout(r.t.Context(), trial.Deadline)
		must(r.t, m.Rests(ctx, 3*time.Second))
		cancel()
	}
}

// figures returns the tables.
func (r *run) figures(took time.Duration, objects int, trends []trend) string {
	var b strings.Builder
	total := 0
	for _, n := range r.disturbed {
		total += n
	}
	fmt.Fprintf(&b, "`make soak DURATION=%s TENANTS=%d SEED=%d`:\n\n", *lasts, len(r.tenants), r.seed)
	b.WriteString("| what | count |\n|---|---|\n")
	row := func(what string, format string, values ...any) {
		fmt.Fprintf(&b, "| %s | %s |\n", what, fmt.Sprintf(format, values...))
	}
	row("time", "%s", took.Round(time.Second))
	row("tenants", "%d", len(r.tenants))
	row("changes", "%d, of which %d are hostile objects", r.changes, r.hostile)
	row("faults", "%d of %d kinds", total, len(r.disturbed))
	row("looks into the servers", "%d, and %d without an answer", r.watching.polls, r.watching.failed)
	row("jobs, groups of rules and receivers that stay, missing in a server", "%d of %d", len(r.watching.missing), 3*len(r.tenants))
	row("alerts that had to arrive", "%d", len(r.receiver.expected))
	row("of those, not delivered", "%d", len(r.receiver.left()))
	row("slowest first delivery", "%s", r.receiver.slowest.Round(time.Second))
	row("alerts that fire all the time, and were resolved", "%d", len(r.receiver.resolved))
	row("longest pause of their messages, each 30 s", "%s", r.receiver.gap.Round(time.Second))
	row("objects that equal those of a new operator", "%d", objects)
	b.WriteString("\nFaults: ")
	for i, name := range slices.Sorted(maps.Keys(r.disturbed)) {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %d", name, r.disturbed[name])
	}
	b.WriteString(".\n\n" + table(trends))
	return b.String()
}
