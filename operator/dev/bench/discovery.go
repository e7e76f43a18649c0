package main

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kingpin/v2"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
)

// discovery is the command discovery.
type discovery struct {
	*options
	prometheus, reloader, allocator    string
	jobs, endpoints, shards, followers int
	rate                               float64
	length                             time.Duration
	samples                            int

	bed     *bed
	dir     string
	version string // of Prometheus
	changed int    // number of changes so far
	rows    []row
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
	if d.bed, err = d.newBed(ctx, false); err != nil { // controllers would delete pods without a node
		return err
	}
	defer func() { err = errors.Join(err, d.bed.end()) }()
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

// fill creates a Prometheus, a ServiceMonitor per job, and the pods and Services that they find.
func (d *discovery) fill(ctx context.Context) error {
	for _, name := range []string{demo, "firekeeper"} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := d.bed.kube.CoreV1().Namespaces().Create(ctx, ns, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	for _, name := range []string{"default", "prometheus"} {
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := d.bed.kube.CoreV1().ServiceAccounts(demo).Create(ctx, account, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := d.bed.allowDiscovery(ctx); err != nil {
		return err
	}
	crds := d.bed.crds[v1.SchemeGroupVersion]
	if err := crds.Post().Namespace(demo).Resource("prometheuses").Body(d.owner("own")).Do(ctx).Error(); err != nil {
		return err
	}
	for i := range d.jobs {
		if err := crds.Post().Namespace(demo).Resource("servicemonitors").Body(d.monitor(i)).Do(ctx).Error(); err != nil {
			return err
		}
	}
	return d.bed.storeServices(ctx, d.jobs*d.endpoints, d.jobs, d.service, d.say)
}

func (d *discovery) owner(mode string) *v1.Prometheus {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: demo, Name: "main", Annotations: map[string]string{wellknown.AnnotationTargetDiscovery: mode}}}
	p.Spec.Version, p.Spec.Shards, p.Spec.ServiceAccountName = d.version, new(int32(d.shards)), "prometheus"
	p.Spec.ServiceDiscoveryRole, p.Spec.ServiceMonitorSelector = v1.EndpointSliceRole, &metav1.LabelSelector{}
	p.Spec.ScrapeInterval = "1000h" // only discovery is measured
	return p
}

func (d *discovery) monitor(i int) *v1.ServiceMonitor {
	m := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: demo, Name: fmt.Sprintf("app-%04d", i)}}
	m.Spec.Selector.MatchLabels = map[string]string{"app": m.Name}
	m.Spec.Endpoints = []v1.Endpoint{{Port: "http"}}
	return m
}

// service returns the Service and the EndpointSlice of a job.
func (d *discovery) service(i int) (corev1.Service, discoveryv1.EndpointSlice) {
	name := d.monitor(i).Name
	meta := metav1.ObjectMeta{Namespace: demo, Name: name, UID: types.UID(fmt.Sprintf("22222222-3333-4444-5555-%012d", i)), Labels: map[string]string{"app": name}}
	slice := discoveryv1.EndpointSlice{ObjectMeta: meta, AddressType: discoveryv1.AddressTypeIPv4, Ports: []discoveryv1.EndpointPort{{Name: new("http"), Port: new(int32(8080)), Protocol: new(corev1.ProtocolTCP)}}}
	slice.Labels = map[string]string{discoveryv1.LabelServiceName: name}
	for k := range d.endpoints {
		pod := discoverytest.TypicalPod(i*d.endpoints + k)
		slice.Endpoints = append(slice.Endpoints, discoveryv1.Endpoint{Addresses: []string{pod.Status.PodIP}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			NodeName: new(pod.Spec.NodeName), TargetRef: &corev1.ObjectReference{Kind: "Pod", Namespace: demo, Name: pod.Name}})
	}
	service := corev1.Service{ObjectMeta: meta}
	service.Spec.Ports = []corev1.ServicePort{{Name: "http", Port: 80}}
	return service, slice
}

// change gives the first endpoint of a slice an address that it never had, and returns the job.
func (d *discovery) change(ctx context.Context, address func(n int) string) (job int, err error) {
	d.changed++
	job = d.changed % d.jobs
	patch := fmt.Sprintf(`[{"op":"replace","path":"/endpoints/0/addresses/0","value":%q}]`, address(d.changed))
	_, err = d.bed.kube.DiscoveryV1().EndpointSlices(demo).Patch(ctx, d.monitor(job).Name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	return job, err
}

func anyAddress(n int) string { return fmt.Sprintf("10.200.%d.%d", n>>8, n&255) }

// churn changes slices at the rate, for the length.
func (d *discovery) churn(ctx context.Context) error {
	tick := time.NewTicker(time.Duration(float64(time.Second) / d.rate))
	defer tick.Stop()
	for end := time.Now().Add(d.length); time.Now().Before(end); {
		if _, err := d.change(ctx, anyAddress); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// load has the cumulative numbers of watches and of bytes sent by the API server.
type load struct{ watches, bytes float64 }

var sample = regexp.MustCompile(`(?m)^(\w+)(\{[^}]*\})? (\S+)$`)

// load reads the metrics of the API server: open watches, and the bytes of events and of lists.
func (b *bed) load(ctx context.Context) (out load, err error) {
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
		l, err = d.bed.load(ctx)
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
	return d.bed.crds[v1.SchemeGroupVersion].Patch(types.MergePatchType).Namespace(demo).Resource("prometheuses").Name("main").
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
	address, err := freeAddress()
	if err != nil {
		return nil, 0, err
	}
	began := time.Now()
	p, err := d.command(d.bed, address, "discovery", "--targets-listen-address=127.0.0.1:0", "--leader-elect-namespace=firekeeper")
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
	c, err := d.bed.kube.CoreV1().ConfigMaps("firekeeper").Get(ctx, "firekeeper-discovery-ca", metav1.GetOptions{})
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
	before, err := d.bed.load(ctx)
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
	now, err := d.bed.load(ctx)
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

// listURL returns the URL of the list of a job.
func (d *discovery) listURL(sd string, job int) string {
	return "http://" + sd + "/sd/" + url.PathEscape(d.jobName(job))
}

func (d *discovery) jobName(job int) string {
	return "serviceMonitor/" + demo + "/" + d.monitor(job).Name + "/0"
}
