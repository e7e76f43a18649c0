package outages

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/internal/cluster/ports"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/dev/scene"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

// shard is a pod of the Prometheus.
type shard struct {
	w                    *environment
	number, replica      int
	reloader, prometheus trial.Process
	balancer             *scene.Balancer
	vol                  *volumetest.Volume
	dir                  string
	url, metrics, sd     string // of Prometheus, and of config-reloader for people and for Prometheus
	restarts             []span // of Prometheus
	leader, sequence     float64
}

func freeAddress(t testing.TB) string {
	address, err := ports.Address()
	must(t, err)
	return address
}

// startShard runs a pod.
func (w *environment) startShard(number, replica int) *shard {
	t := w.t
	s := &shard{w: w, number: number, replica: replica, vol: volumetest.New(t), dir: t.TempDir(), balancer: newBalancer(w),
		url: "http://" + freeAddress(t), metrics: freeAddress(t), sd: freeAddress(t)}
	w.createPod(pod(s.pod(), "prometheus", corev1.ContainerPort{ContainerPort: 9090}, map[string]string{wellknown.LabelShard: strconv.Itoa(number)}, w.set(number)))
	w.tokenOf(s.pod(), wellknown.DiscoveryAudience, s.file("token"))
	w.tokenOf(s.pod(), "", s.file("api-token"))
	s.reloader = trial.Process{Name: "config-reloader of " + s.pod(), Env: []string{
		"POD_NAME=" + s.pod(), "SHARD=" + strconv.Itoa(number), "HTTPS_PROXY=" + s.balancer.URL,
	}, Args: []string{w.configReloader, "--listen-address=" + s.metrics, "--config-file=" + s.vol.Path("prometheus.yaml.gz"), "--config-envsubst-file=" + s.file("prometheus.yaml"),
		"--watched-dir=" + s.vol.Dir, "--reload-url=" + s.url + "/-/reload", "--targets-server=https://firekeeper-discovery.firekeeper.svc:8443", "--targets-token-file=" + s.file("token"),
		"--targets-ca-file=" + w.caFile, "--targets-listen=" + s.sd, "--targets-file=" + s.file("targets.json.gz"), "--targets-report-interval=5s",
		"--targets-inventory-interval=" + cmp.Or(w.inventories, 5*time.Minute).String()}}
	s.prometheus = trial.Process{Name: "Prometheus of " + s.pod(), Args: append([]string{w.program, "--config.file=" + s.file("prometheus.yaml"),
		"--web.listen-address=" + strings.TrimPrefix(s.url, "http://"), "--web.enable-lifecycle", "--scrape.discovery-reload-interval=" + w.applies.String()}, s.storage()...)}
	t.Cleanup(s.reloader.Kill)
	t.Cleanup(s.prometheus.Kill)
	s.deliver(w.mode)
	s.reloader.Start(s.w.t)
	within(t, time.Minute, "the configuration", func() error { _, err := os.Stat(s.file("prometheus.yaml")); return err })
	s.prometheus.Start(s.w.t)
	return s
}

// storage returns the flags of Prometheus about its storage. An agent forgets series that it does not scrape any more after
// minutes, not hours, as time is compressed.
func (s *shard) storage() []string {
	if s.w.agent {
		return []string{"--agent", "--storage.agent.path=" + s.file("data"), "--storage.agent.no-lockfile", "--storage.agent.wal-truncate-frequency=1m"}
	}
	return []string{"--storage.tsdb.path=" + s.file("data"), "--storage.tsdb.no-lockfile"}
}

// stop ends the pod.
func (s *shard) stop() {
	s.prometheus.Kill()
	s.reloader.Kill()
	s.w.deletePod(s.pod())
}

// pod returns the name of the pod.
func (s *shard) pod() string { return fmt.Sprint(s.w.set(s.number), "-", s.replica) }

func (s *shard) file(name string) string { return filepath.Join(s.dir, name) }

// deliver puts the configuration into the volume, as the operator generates it.
func (s *shard) deliver(mode string) {
	t := s.w.t
	t.Helper()
	meta := metav1.ObjectMeta{Namespace: "demo", Name: "main", Annotations: map[string]string{wellknown.AnnotationTargetDiscovery: mode}}
	c := scene.Config{Lists: s.sd, APIServer: s.w.cluster.Host, TokenFile: s.file("api-token"), CAFile: s.w.cluster.CAFile}
	var fields *v1.CommonPrometheusFields
	if s.w.agent {
		c.Agent = &v1alpha1.PrometheusAgent{ObjectMeta: meta}
		fields = &c.Agent.Spec.CommonPrometheusFields
	} else {
		c.Prometheus = &v1.Prometheus{ObjectMeta: meta}
		fields = &c.Prometheus.Spec.CommonPrometheusFields
	}
	fields.Version = s.w.version
	fields.Shards, fields.ScrapeInterval = new(int32(s.w.numShards)), v1.Duration(s.w.interval.String())
	if s.w.remoteWrite != "" {
		fields.RemoteWrite = []v1.RemoteWriteSpec{{URL: s.w.remoteWrite}}
	}
	monitor := &v1.PodMonitor{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
	monitor.Spec.Selector.MatchLabels = map[string]string{"app": "web"}
	monitor.Spec.PodMetricsEndpoints = []v1.PodMetricsEndpoint{{Port: "metrics", Params: map[string][]string{"by": {thisPod}}}}
	c.PodMonitors = []*v1.PodMonitor{monitor}
	config, err := c.Text()
	must(t, err)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = io.WriteString(z, strings.ReplaceAll(config, thisPod, s.pod()))
	must(t, errors.Join(err, z.Close()))
	s.vol.Swap(map[string]string{"prometheus.yaml.gz": packed.String()})
}

// runs checks that Prometheus runs the configuration of a mode.
func (s *shard) runs(mode string) error {
	var status struct{ Data struct{ YAML string } }
	if err := get(s.url+"/api/v1/status/config", &status); err != nil {
		return err
	}
	own, listed := strings.Contains(status.Data.YAML, "kubernetes_sd_configs"), strings.Contains(status.Data.YAML, "http_sd_configs")
	if own != (mode != "central") || listed != (mode != "own") {
		return fmt.Errorf("%s runs another configuration than that of mode %s", s.prometheus.Name, mode)
	}
	return nil
}

// active returns the addresses that Prometheus scrapes.
func (s *shard) active() (out []string, err error) {
	var a struct {
		Data struct {
			ActiveTargets []struct{ Labels map[string]string }
		}
	}
	err = get(s.url+"/api/v1/targets?state=active&scrapePool="+url.QueryEscape(job), &a)
	for _, one := range a.Data.ActiveTargets {
		out = append(out, one.Labels["instance"])
	}
	slices.Sort(out)
	return out, err
}

// values returns metrics of config-reloader about targets, of one moment.
func (s *shard) values(names ...string) (map[string]float64, error) {
	var page string
	if err := get("http://"+s.metrics+"/metrics", &page); err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, name := range names {
		found := regexp.MustCompile(`(?m)^reloader_targets_` + name + ` (\S+)$`).FindStringSubmatch(page)
		if found == nil {
			return nil, errors.New("no metric reloader_targets_" + name)
		}
		value, err := strconv.ParseFloat(found[1], 64)
		if err != nil {
			return nil, err
		}
		out[name] = value
	}
	return out, nil
}

// listed returns the response to Prometheus for the job.
func (s *shard) listed() (text string, err error) {
	err = get("http://"+s.sd+"/sd/"+url.PathEscape(job), &text)
	return text, err
}

// delivered checks that Prometheus has discovered the targets of the list. In mode both, it has those of its own
// discovery, too, which must not go before.
func (s *shard) delivered() error {
	text, err := s.listed()
	if err != nil {
		return err
	}
	want := strings.Count(text, `"targets":`)
	if s.w.mode == "both" {
		want += len(s.w.shards) // pods without the label
		for _, one := range s.w.targets {
			if one.until.IsZero() {
				want++
			}
		}
	}
	var page string
	if err := get(s.url+"/metrics", &page); err != nil {
		return err
	}
	found := regexp.MustCompile(`(?m)^prometheus_sd_discovered_targets{config="` + job + `",[^}]*} (\d+)$`).FindStringSubmatch(page)
	if found == nil || found[1] != strconv.Itoa(want) {
		return fmt.Errorf("%s has discovered %v targets, want %d", s.prometheus.Name, found, want)
	}
	return nil
}

// connected checks that the pod follows its list, and that the version only goes back when config-reloader is killed, which
// has on disk what it has reported at least.
func (s *shard) connected() error {
	values, err := s.values("connected", "leader", "sequence", "disagreements")
	if err != nil {
		return err
	}
	if values["disagreements"] != 0 {
		s.w.t.Errorf("%s: %v disagreements", s.reloader.Name, values["disagreements"])
	}
	if values["leader"] < s.leader || values["leader"] == s.leader && values["sequence"] < s.sequence {
		s.w.t.Errorf("%s went from list %.0f-%.0f to %.0f-%.0f", s.reloader.Name, s.leader, s.sequence, values["leader"], values["sequence"])
	}
	s.leader, s.sequence = values["leader"], values["sequence"]
	if values["connected"] != 1 {
		return fmt.Errorf("%s is not connected", s.reloader.Name)
	}
	return nil
}

// killPrometheus kills Prometheus and what else is given, and starts all after a while.
func (s *shard) killPrometheus(down time.Duration, others ...*trial.Process) {
	s.w.t.Helper()
	from := time.Now()
	s.restarts = append(s.restarts, span{from, from.Add(time.Hour)})
	s.prometheus.Kill()
	for _, p := range others {
		p.Kill()
	}
	s.leader, s.sequence = 0, 0
	time.Sleep(down)
	for _, p := range others {
		p.Start(s.w.t)
	}
	s.prometheus.Start(s.w.t)
	within(s.w.t, time.Minute, s.prometheus.Name+" is ready", func() error {
		var text string
		return get(s.url+"/-/ready", &text)
	})
	s.restarts[len(s.restarts)-1].to = time.Now()
	s.w.killed[s.pod()] = append(s.w.killed[s.pod()], s.restarts[len(s.restarts)-1]) // of earlier pods with this name, too
}
