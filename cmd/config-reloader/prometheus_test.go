//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/child"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs"
	"github.com/firekeeper-dev/firekeeper/internal/cluster/programs/programtest"
	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/dev/scene"
	"github.com/firekeeper-dev/firekeeper/operator/dev/scene/scenetest"
)

const (
	migrationJob = "podMonitor/demo/web/0"
	// interval is the scrape interval. A scrape belongs to the nearest slot, at most half an interval away.
	interval = 3 * time.Second
)

// TestMigration changes a Prometheus from its own discovery to central discovery and back, with the
// configuration that the operator generates. No target misses a scrape, and all keep their slots.
func TestMigration(t *testing.T) {
	if testing.Short() {
		t.Skip("takes two minutes of scrapes")
	}
	program := programtest.Find(t, "prometheus")
	version, err := programs.Release(t.Context(), program)
	must(t, err)
	m := newMigration(t)
	m.version = "v" + version.String()
	m.deliver("own")
	m.start(program)
	m.scraped("with its own discovery", 3)
	m.d.set(m.list("1-1", 0))
	reloadtest.Until(t, "the list", func() bool { return m.pod.get(migrationJob) == "200 "+m.groups(0) })

	for i, mode := range []string{"both", "central", "both", "own"} {
		m.deliver(mode)
		m.live(mode)
		m.scraped("in mode "+mode, 5)
		if i < 2 { // later, there is no discovery server
			m.reports("in mode "+mode, func(r targetreport.Report) bool {
				return r.Compared == 1 && len(r.Jobs) == 0 && r.Served == len(m.kept()) && r.Active == r.Served
			})
		}
		if mode == "central" {
			m.disagrees()
			m.centralChanges()
		}
	}
	m.checkScrapes()
	if n := m.process.Metric("reloader_targets_disagreements"); n != "0" {
		t.Errorf("%s disagreements at the end", n)
	}
}

// reports waits for a report, and expects no disagreement in the earlier ones.
func (m *migration) reports(when string, want func(targetreport.Report) bool) {
	m.t.Helper()
	seen := len(m.d.reports())
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
		all := m.d.reports()
		for _, r := range all[seen:] {
			if want(r) {
				return
			}
			if seen++; r.Disagreements() > 0 {
				m.t.Errorf("%s: %+v", when, r)
			}
		}
		if time.Now().After(end) {
			m.t.Fatalf("waited in vain for a report %s: %+v", when, all[max(0, len(all)-2):])
		}
	}
}

// disagrees sends a target that the relabelings in Prometheus drop.
func (m *migration) disagrees() {
	m.t.Helper()
	m.d.set(m.list("1-2", 1))
	m.reports("about a target", func(r targetreport.Report) bool { return r.Served == len(m.kept())+1 && r.Active == r.Served })
	failed := strings.Replace(m.list("1-3", 1), m.extra.Name+`","__meta_kubernetes_pod_container_name":"web","__meta_kubernetes_pod_container_port_name":"metrics","__meta_kubernetes_pod_phase":"Running"`,
		m.extra.Name+`","__meta_kubernetes_pod_container_name":"web","__meta_kubernetes_pod_container_port_name":"metrics","__meta_kubernetes_pod_phase":"Failed"`, 1)
	m.d.set(failed)
	m.reports("about a target that is dropped", func(r targetreport.Report) bool {
		return len(r.Jobs) == 1 && r.Jobs[0].Job == migrationJob && r.Jobs[0].Dropped != nil && r.Jobs[0].Dropped.Count == 1 && r.Jobs[0].Dropped.Names[0] == m.extra.Address && r.Disagreements() == 1
	})
	if n := m.process.Metric("reloader_targets_disagreements"); n != "1" {
		m.t.Errorf("%s disagreements", n)
	}
	m.d.set(m.list("1-4", 0))
	m.reports("about the last list", func(r targetreport.Report) bool { return r.Version == "1-4" && r.Compared == 1 && len(r.Jobs) == 0 })
}

// migration is a Prometheus with its config-reloader, an API server, a discovery server and targets.
type migration struct {
	t       *testing.T
	pod     *pod
	d       *discovery
	api     *httptest.Server
	vol     *volumetest.Volume
	url     string // of Prometheus
	version string
	targets []*scenetest.Target
	extra   *scenetest.Target // known only to the discovery server
	process *reloadtest.Process
	args    []string
}

func newMigration(t *testing.T) *migration {
	m := &migration{t: t, vol: volumetest.New(t), url: "http://" + freePort(t), extra: scenetest.NewTarget(t)}
	for range 12 { // with fewer, all can be on one of two shards
		m.targets = append(m.targets, scenetest.NewTarget(t))
	}
	m.d = newDiscovery(t, "one", "")
	m.pod = newPod(t, m.d, "one")
	m.api = httptest.NewServer(http.HandlerFunc(m.serveAPI))
	t.Cleanup(func() { m.api.CloseClientConnections(); m.api.Close() })
	args := m.pod.args()
	m.args = append(args[1:len(args)-1], "--config-file="+m.vol.Path(key), "--config-envsubst-file="+m.pod.file("prometheus.yaml"),
		"--watched-dir="+m.vol.Dir, "--reload-url="+m.url+"/-/reload", "--targets-report-interval=5s")
	return m
}

// deliver puts the configuration of shard 0 of 2 into the volume.
func (m *migration) deliver(mode string) {
	m.t.Helper()
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "k8s",
		Annotations: map[string]string{wellknown.AnnotationTargetDiscovery: mode}}}
	p.Spec.Version = m.version
	p.Spec.Shards, p.Spec.ScrapeInterval = new(int32(2)), v1.Duration(interval.String())
	monitor := &v1.PodMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
	monitor.Spec.Selector.MatchLabels = map[string]string{"app": "web"}
	// Prometheus adds __meta_url to the targets of the list. As a label, it would end their scrapes.
	seen := []v1.RelabelConfig{{Action: "labelmap", Regex: "__meta_(url|kubernetes_pod_phase)"}}
	monitor.Spec.PodMetricsEndpoints = []v1.PodMetricsEndpoint{{Port: "metrics", RelabelConfigs: seen}}
	config, err := scene.Config{Prometheus: p, PodMonitors: []*v1.PodMonitor{monitor}, APIServer: m.api.URL, Lists: m.pod.listen}.Text()
	must(m.t, err)
	m.vol.Swap(map[string]string{key: gz(m.t, config)})
}

// start runs config-reloader and Prometheus.
func (m *migration) start(program string) {
	m.process = reloadtest.Start(m.t, func(ctx context.Context, listen string, log io.Writer) int {
		return run(ctx, append([]string{"--listen-address=" + listen}, m.args...), []string{"POD_NAME=prometheus-k8s-0", "SHARD=0"}, log, log)
	})
	m.process.Until("the configuration", func() bool { _, err := os.Stat(m.pod.file("prometheus.yaml")); return err == nil })
	cmd := exec.Command(program, "--config.file="+m.pod.file("prometheus.yaml"), "--storage.tsdb.path="+filepath.Join(m.t.TempDir(), "data"),
		"--web.listen-address="+strings.TrimPrefix(m.url, "http://"), "--web.enable-lifecycle", "--scrape.discovery-reload-interval=1s")
	log := &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = log, log
	child.DiesWithUs(cmd)
	must(m.t, cmd.Start())
	m.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if m.t.Failed() {
			m.t.Logf("Prometheus:\n%s", log)
		}
	})
}

// live waits until Prometheus runs the configuration of a mode.
func (m *migration) live(mode string) {
	m.t.Helper()
	m.process.Until("the configuration of mode "+mode, func() bool {
		text := read(m.t, m.pod.file("prometheus.yaml"))
		own, listed := strings.Contains(text, "kubernetes_sd_configs"), strings.Contains(text, "http_sd_configs")
		return own == (mode != "central") && listed == (mode != "own") && m.process.Report().Ready
	})
}

// kept returns the targets that this shard keeps by hash, which are those that were scraped at least once.
func (m *migration) kept() (out []*scenetest.Target) {
	for _, target := range m.targets {
		if len(target.Scrapes()) > 0 {
			out = append(out, target)
		}
	}
	return out
}

// scraped waits until each kept target was scraped some more times.
func (m *migration) scraped(when string, times int) {
	m.t.Helper()
	reloadtest.Until(m.t, "a first scrape "+when, func() bool { return len(m.kept()) > 0 })
	before := map[*scenetest.Target]int{}
	for _, target := range m.targets {
		before[target] = len(target.Scrapes())
	}
	reloadtest.Until(m.t, "scrapes "+when, func() bool {
		return !slices.ContainsFunc(m.kept(), func(s *scenetest.Target) bool { return len(s.Scrapes()) < before[s]+times })
	})
}

// groups returns the list of this shard, with some of the targets that only the discovery server knows.
func (m *migration) groups(extra int) string {
	return groupsOf(append(m.kept(), []*scenetest.Target{m.extra}[:extra]...)...)
}

// groupsOf returns a list of targets.
func groupsOf(targets ...*scenetest.Target) string {
	var out []string
	for _, target := range targets {
		out = append(out, fmt.Sprintf(`{"targets":[%q],"labels":{"__meta_kubernetes_namespace":"demo","__meta_kubernetes_pod_name":%q,`+
			`"__meta_kubernetes_pod_container_name":"web","__meta_kubernetes_pod_container_port_name":"metrics","__meta_kubernetes_pod_phase":"Running",`+
			`"__meta_kubernetes_pod_label_app":"web","__meta_kubernetes_pod_labelpresent_app":"true"}}`, target.Address, target.Name))
	}
	return "[" + strings.Join(out, ",") + "]"
}

func (m *migration) list(version string, extra int) string {
	return fullList(version, migrationJob, m.groups(extra))
}

// centralChanges adds and removes a target only in the list, and then stops the server.
func (m *migration) centralChanges() {
	m.t.Helper()
	scraping := func() int {
		res, err := http.Get(m.url + "/api/v1/targets?state=active&scrapePool=" + migrationJob)
		must(m.t, err)
		defer res.Body.Close()
		var a struct {
			Data struct {
				Active []any `json:"activeTargets"`
			} `json:"data"`
		}
		must(m.t, json.NewDecoder(res.Body).Decode(&a))
		return len(a.Data.Active)
	}
	own := len(m.kept())
	m.d.set(m.list("1-5", 1))
	reloadtest.Until(m.t, "the target of the list", func() bool { return len(m.extra.Scrapes()) > 0 && scraping() == own+1 })
	m.d.set(m.list("1-6", 0))
	reloadtest.Until(m.t, "the target to go", func() bool { return scraping() == own })
	m.d.CloseClientConnections()
	m.d.Close()
	m.process.Until("the lost server", func() bool { return m.process.Metric("reloader_targets_connected") == "0" })
	m.scraped("without a discovery server", 3)
	if n := scraping(); n != own {
		m.t.Errorf("%d targets without a discovery server, want %d", n, own)
	}
}

// checkScrapes checks that each kept target has one scrape in each of its slots.
func (m *migration) checkScrapes() {
	kept := m.kept()
	if len(kept) == len(m.targets) {
		m.t.Errorf("all %d targets are on one of two shards", len(kept))
	}
	for _, target := range kept {
		times := target.Scrapes()
		first, gap, off := times[0], time.Duration(0), time.Duration(0)
		for i := 1; i < len(times); i++ {
			slot := math.Round(float64(times[i].Sub(first)) / float64(interval))
			gap = max(gap, times[i].Sub(times[i-1]))
			off = max(off, (times[i].Sub(first) - time.Duration(slot)*interval).Abs())
			if int(slot) != i {
				m.t.Fatalf("%s: scrape %d is in slot %d: %v", target.Address, i, int(slot), times)
			}
		}
		m.t.Logf("%s: %d scrapes in as many slots, the longest gap %v, at most %v from the slot", target.Address, len(times), gap, off)
	}
}

// serveAPI serves the pods of the targets like an API server.
func (m *migration) serveAPI(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case !strings.HasSuffix(r.URL.Path, "/pods"):
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":404,"reason":"NotFound"}`)
		return
	case r.URL.Query().Get("sendInitialEvents") != "":
		w.WriteHeader(http.StatusUnprocessableEntity) // clients list instead
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":422,"reason":"Invalid"}`)
		return
	case r.URL.Query().Get("watch") != "":
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	var items []string
	for _, target := range m.targets {
		_, port, _ := net.SplitHostPort(target.Address)
		items = append(items, fmt.Sprintf(`{"metadata":{"namespace":"demo","name":%q,"uid":%q,"labels":{"app":"web"}},`+
			`"spec":{"nodeName":"n","containers":[{"name":"web","image":"i","ports":[{"name":"metrics","protocol":"TCP","containerPort":%s}]}]},`+
			`"status":{"phase":"Running","podIP":"127.0.0.1"}}`, target.Name, target.Name, port))
	}
	fmt.Fprintf(w, `{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[%s]}`, strings.Join(items, ","))
}
