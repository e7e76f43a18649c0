package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"

	"github.com/alecthomas/kingpin/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// discovery is the command discovery.
type discovery struct {
	*options
	prometheus, reloader, allocator    string
	jobs, endpoints, shards, followers int
	rate                               float64
	length                             time.Duration
	samples                            int

	controlPlane *controlPlane
	dir          string
	version      string // of Prometheus
	changed      int    // number of changes so far
	rows         []row
}

// row is a line of the table.
type row struct{ what, own, central, allocator string }

func bindDiscovery(cmd *kingpin.CmdClause, o *options) *discovery {
	d := &discovery{options: o}
	cmd.Flag("prometheus", "Prometheus to measure. Empty leaves the servers out and measures the discovery service alone.").StringVar(&d.prometheus)
	cmd.Flag("config-reloader", "config-reloader beside it.").Default("bin/config-reloader").StringVar(&d.reloader)
	cmd.Flag("allocator", "Target allocator of the OpenTelemetry operator to measure, too. Empty leaves it out.").StringVar(&d.allocator)
	cmd.Flag("jobs", "Number of ServiceMonitors, each with a Service.").Default("300").IntVar(&d.jobs)
	cmd.Flag("endpoints", "Number of endpoints of each Service.").Default("15").IntVar(&d.endpoints)
	cmd.Flag("shards", "Number of shards, the first of which is measured.").Default("4").IntVar(&d.shards)
	cmd.Flag("followers", "Number of further pods that follow their lists in the end.").Default("200").IntVar(&d.followers)
	cmd.Flag("rate", "EndpointSlices that change per second.").Default("2").FloatVar(&d.rate)
	cmd.Flag("length", "How long to measure, without changes and with them.").Default("1m").DurationVar(&d.length)
	cmd.Flag("latencies", "Changes to time until they are in the list on loopback.").Default("20").IntVar(&d.samples)
	cmd.Flag("out", "File for the table. Empty means standard output.").StringVar(&d.out)
	return d
}

// run measures everything and writes the table.
func (d *discovery) run(ctx context.Context) (err error) {
	if d.dir, err = os.MkdirTemp("", "bench-discovery-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(d.dir)) }()
	d.version = "v3.5.0" // of which nothing is measured
	if d.prometheus != "" {
		release, err := programs.Release(ctx, d.prometheus)
		if err != nil {
			return fmt.Errorf("--prometheus: %w", err)
		}
		d.version = "v" + release.String()
	}
	d.versions = &versions{}
	if d.controlPlane, err = d.newControlPlaneAlone(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.controlPlane.end()) }()
	if err := d.fill(ctx); err != nil {
		return err
	}
	if err := d.servers(ctx); err != nil {
		return err
	}
	if d.allocator != "" {
		if err := d.measureAllocator(ctx); err != nil {
			return err
		}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s Prometheus %s, %d jobs, %d endpoints, %d shards, %g changes per second.\n\n| | own | central | target allocator |\n|---|---|---|---|\n", d.versions.measured(time.Now()),
		d.version, d.jobs, d.jobs*d.endpoints, d.shards, d.rate)
	for _, r := range d.rows {
		fmt.Fprintf(&out, "| %s | %s | %s | %s |\n", r.what, r.own, r.central, r.allocator)
	}
	if d.out == "" {
		_, err := fmt.Print(out.String())
		return err
	}
	return os.WriteFile(d.out, []byte(out.String()), 0o644)
}

// load has the cumulative numbers of watches and of bytes sent by the API server.
type load struct{ watches, bytes float64 }

var sample = regexp.MustCompile(`(?m)^(\w+)(\{[^}]*\})? (\S+)$`)

// load reads the metrics of the API server: open watches, and the bytes of events and of lists.
func (b *controlPlane) load(ctx context.Context) (out load, err error) {
	text, err := b.Kubectl(ctx, "get", "--raw", "/metrics")
	if err != nil {
		return out, err
	}
	for _, m := range sample.FindAllStringSubmatch(string(text), -1) {
		n, err := strconv.ParseFloat(m[3], 64)
		if err != nil {
			return out, err
		}
		switch {
		case m[1] == "apiserver_longrunning_requests" && strings.Contains(m[2], `verb="WATCH"`):
			out.watches += n
		case m[1] == "apiserver_watch_events_sizes_sum",
			m[1] == "apiserver_response_sizes_sum" && strings.Contains(m[2], `verb="LIST"`):
			out.bytes += n
		}
	}
	return out, nil
}

// spent has the consumption of a set of processes in one phase.
type spent struct {
	cpu   time.Duration // per second
	bytes float64       // of the API server, per second
	rss   int
}

// during measures processes while do runs.
func (d *discovery) during(ctx context.Context, do func(context.Context) error, of ...*process) (out spent, err error) {
	read := func() (cpu time.Duration, rss int, l load, err error) {
		for _, p := range of {
			u, err := p.kernelUsage()
			if err != nil {
				return 0, 0, l, err
			}
			cpu, rss = cpu+u.cpu, rss+u.rss
		}
		l, err = d.controlPlane.load(ctx)
		return cpu, rss, l, err
	}
	cpu, _, before, err := read()
	if err != nil {
		return out, err
	}
	began := time.Now()
	if err := do(ctx); err != nil {
		return out, err
	}
	took := time.Since(began).Seconds()
	after, rss, now, err := read()
	return spent{time.Duration(float64(after-cpu) / took), (now.bytes - before.bytes) / took, rss}, err
}

// annotate sets who discovers the targets.
func (d *discovery) annotate(ctx context.Context, mode string) error {
	return d.controlPlane.crds[v1.SchemeGroupVersion].Patch(types.MergePatchType).Namespace(demo).Resource("prometheuses").Name("main").
		Body(fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, wellknown.AnnotationTargetDiscovery, mode)).Do(ctx).Error()
}

// service is the running discovery service.
type service struct {
	*process
	address string // for pods
	roots   *x509.CertPool
	caFile  string
}

var listensTLS = regexp.MustCompile(`msg="Listening on" address=(127\.0\.0\.1:\d+) tls=true`)

// startService starts the discovery service and waits until it has all targets.
func (d *discovery) startService(ctx context.Context) (s *service, took time.Duration, err error) {
	address, err := ports.Address()
	if err != nil {
		return nil, 0, err
	}
	began := time.Now()
	p, err := d.command(d.controlPlane, address, "discovery", "--targets-listen-address=127.0.0.1:0", "--leader-elect-namespace=firekeeper")
	if err != nil {
		return nil, 0, err
	}
	s = &service{process: p, caFile: filepath.Join(d.dir, "ca.crt"), roots: x509.NewCertPool()}
	if err := p.answering(ctx, "/readyz"); err != nil {
		return nil, 0, errors.Join(fmt.Errorf("%w; the end of its log:\n%s", err, p.tail()), p.stop())
	}
	took = time.Since(began)
	log, err := os.ReadFile(p.log.Name())
	found := listensTLS.FindAllSubmatch(log, -1)
	if err == nil && len(found) == 0 {
		err = errors.New("the discovery service does not listen for pods")
	}
	if err != nil {
		return nil, 0, errors.Join(err, p.stop())
	}
	s.address = string(found[len(found)-1][1])
	c, err := d.controlPlane.kube.CoreV1().ConfigMaps("firekeeper").Get(ctx, "firekeeper-discovery-ca", metav1.GetOptions{})
	if err != nil {
		return nil, 0, errors.Join(err, p.stop())
	}
	s.roots.AppendCertsFromPEM([]byte(c.Data["ca.crt"]))
	return s, took, os.WriteFile(s.caFile, []byte(c.Data["ca.crt"]), 0o600)
}

// servers measures a server with its own discovery, then with the discovery service.
func (d *discovery) servers(ctx context.Context) (err error) {
	var own, central *phases
	if d.prometheus != "" {
		if own, err = d.measureServer(ctx, "own", nil); err != nil {
			return err
		}
	}
	if err := d.annotate(ctx, "central"); err != nil {
		return err
	}
	before, err := d.controlPlane.load(ctx)
	if err != nil {
		return err
	}
	s, took, err := d.startService(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := wait(ctx, 15*time.Second); err != nil {
		return err
	}
	now, err := d.controlPlane.load(ctx)
	if err != nil {
		return err
	}
	if d.prometheus != "" {
		if central, err = d.measureServer(ctx, "central", s); err != nil {
			return err
		}
		d.compare(own, central)
	}
	d.add("discovery service: complete after the start", "", fmt.Sprintf("%.1f s", took.Seconds()))
	d.add("discovery service: watches", "", fmt.Sprintf("%.0f", now.watches-before.watches))
	d.add("discovery service: read until it was complete", "", mb(int(now.bytes-before.bytes)))
	if err := d.consumption(ctx, s.process, func(what, central string) { d.add(what, "", central) }); err != nil {
		return err
	}
	if d.followers > 0 {
		return d.follow(ctx, s)
	}
	return nil
}

// consumption measures a service without changes and with them.
func (d *discovery) consumption(ctx context.Context, p *process, add func(what, value string)) error {
	idle, err := d.during(ctx, func(ctx context.Context) error { return wait(ctx, d.length) }, p)
	if err != nil {
		return err
	}
	add("discovery service: CPU without changes", perSecond(idle.cpu))
	busy, err := d.during(ctx, d.churn, p)
	if err != nil {
		return err
	}
	add("discovery service: CPU with changes", perSecond(busy.cpu))
	add("discovery service: received with changes", fmt.Sprintf("%.1f kB/s", busy.bytes/1000))
	u, err := p.kernelUsage()
	if err != nil {
		return err
	}
	add("discovery service: memory / at most", mb(u.rss)+" / "+mb(u.top))
	return nil
}

const latencyRow = "from a single change to the list, p50 / slowest"

// compare adds the lines about one pod.
func (d *discovery) compare(own, central *phases) {
	d.add("pod: watches", fmt.Sprintf("%.0f", own.load.watches), fmt.Sprintf("%.0f", central.load.watches))
	d.add("pod: read until targets were complete", mb(int(own.load.bytes)), mb(int(central.load.bytes)))
	d.add("pod: CPU without changes", perSecond(own.idle.cpu), perSecond(central.idle.cpu))
	d.add("pod: CPU with changes", perSecond(own.busy.cpu), perSecond(central.busy.cpu)+fmt.Sprintf(" (1/%.1f)", float64(own.busy.cpu)/float64(max(1, central.busy.cpu))))
	d.add("pod: memory of Prometheus", mb(own.rss), mb(central.rss))
	d.add("pod: memory of config-reloader", mb(own.reloaderRSS), mb(central.reloaderRSS))
	d.add("API server: sent to the pod with changes", fmt.Sprintf("%.1f kB/s", own.busy.bytes/1000), "0")
	d.add(latencyRow, "", quantiles(central.took))
	d.add("the same while others change", "", quantiles(central.busyTook))
}

func (d *discovery) add(what, own, central string) {
	d.say("%s: %s", what, strings.Join(slices.DeleteFunc([]string{own, central}, func(s string) bool { return s == "" }), ", "))
	d.rows = append(d.rows, row{what, own, central, ""})
}

// beside adds the value of the target allocator to a line.
func (d *discovery) beside(what, value string) {
	d.say("%s: %s", what, value)
	for i := range d.rows {
		if d.rows[i].what == what {
			d.rows[i].allocator = value
			return
		}
	}
	d.rows = append(d.rows, row{what, "", "", value})
}

// quantiles returns the median and the maximum of times.
func quantiles(took []time.Duration) string {
	return fmt.Sprintf("%s / %s", ms(quantile(took, 0.5)), ms(quantile(took, 1)))
}

func perSecond(d time.Duration) string {
	return fmt.Sprintf("%.1f ms/s", float64(d)/float64(time.Millisecond))
}
