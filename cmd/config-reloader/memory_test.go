//go:build linux

package main

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/internal/parts"
	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/internal/volume/volumetest"
)

// container is a memory cgroup with an in-memory volume, like those of the kubelet.
type container struct {
	t       *testing.T
	program string
	dir     string // path of the cgroup
	v2      bool
	out     string // path of the output in the volume
	vol     *volumetest.Volume
}

// containers is the number of containers so far.
var containers atomic.Int64

// newContainer returns a container. It skips the test if no cgroup can be created.
func newContainer(t *testing.T, limit int64) *container {
	t.Helper()
	c := &container{t: t, vol: volumetest.New(t)}
	name := fmt.Sprintf("config-reloader-test-%d-%d", os.Getpid(), containers.Add(1))
	for _, root := range []string{"/sys/fs/cgroup/memory", "/sys/fs/cgroup"} {
		c.dir, c.v2 = filepath.Join(root, name), root == "/sys/fs/cgroup"
		if os.Mkdir(c.dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(c.dir) })
		if os.WriteFile(filepath.Join(c.dir, c.file("memory.limit_in_bytes", "memory.max")), []byte(strconv.FormatInt(limit, 10)), 0o600) == nil {
			c.mount(limit)
			return c
		}
	}
	t.Skip("needs a memory cgroup, of version 1 or 2, in which this user may make others")
	return nil
}

func (c *container) file(v1, v2 string) string {
	if c.v2 {
		return v2
	}
	return v1
}

func (c *container) mount(limit int64) {
	dir := c.t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size="+strconv.FormatInt(2*limit, 10)); err != nil {
		c.t.Skipf("needs a volume in memory: %v", err)
	}
	c.t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			c.t.Error(err)
		}
	})
	c.out = filepath.Join(dir, "prometheus.env.yaml")
	// Swap would prevent the out-of-memory kill of a container without swap.
	_ = os.WriteFile(filepath.Join(c.dir, c.file("memory.swappiness", "memory.swap.max")), []byte("0"), 0o600)
	c.program = programFile(c.t)
}

// programFile builds the program, because the test binary with the race detector needs
// more memory.
func programFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "config-reloader")
	build := exec.Command("go", "build", "-o", file, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	return file
}

// command returns the command that runs the program in the cgroup.
func (c *container) command(args ...string) *exec.Cmd {
	args = append([]string{"-c", `echo $$ > "$CGROUP" && exec "$0" "$@"`, c.program, "--listen-address=127.0.0.1:0",
		"--config-file=" + c.vol.Path(key), "--config-envsubst-file=" + c.out, "--watched-dir=" + c.vol.Dir}, args...)
	cmd := exec.Command("/bin/sh", args...)
	cmd.Env = append(os.Environ(), "POD_NAME=prometheus-k8s-3", "CGROUP="+filepath.Join(c.dir, "cgroup.procs"))
	return cmd
}

// once runs the init container and returns its log.
func (c *container) once() (string, error) {
	log, err := c.command("--watch-interval=0").CombinedOutput()
	return string(log), err
}

func (c *container) value(v1, v2 string) string {
	b, err := os.ReadFile(filepath.Join(c.dir, c.file(v1, v2)))
	must(c.t, err)
	return strings.TrimSpace(string(b))
}

// survived fails the test if the kernel has killed a process.
func (c *container) survived(what string) {
	c.t.Helper()
	for line := range strings.Lines(c.value("memory.oom_control", "memory.events")) {
		if n, ok := strings.CutPrefix(line, "oom_kill "); ok && strings.TrimSpace(n) != "0" {
			c.t.Fatalf("%s: killed for memory", what)
		}
	}
	c.t.Logf("%s: at most %s bytes", what, c.value("memory.max_usage_in_bytes", "memory.peak"))
}

// holds checks the files that the server reads. This needs no memory of the container,
// because pages are charged to the process that has written them.
func (c *container) holds(what string, text func(io.Writer), rules int64) {
	c.t.Helper()
	want := sha256.New()
	text(want)
	got := sha256.New()
	f, err := os.Open(c.out)
	must(c.t, err)
	defer f.Close()
	_, err = io.Copy(got, f)
	must(c.t, err)
	if !bytes.Equal(want.Sum(nil), got.Sum(nil)) {
		c.t.Fatalf("%s: the output is something else", what)
	}
	var total int64
	files, err := filepath.Glob(filepath.Join(filepath.Dir(c.out), "rules", "*.yaml"))
	must(c.t, err)
	for _, file := range files {
		info, err := os.Stat(file)
		must(c.t, err)
		total += info.Size()
	}
	if total != rules {
		c.t.Fatalf("%s: %d bytes of rules, want %d", what, total, rules)
	}
}

// plain returns a configuration of this size in bytes. Configurations with different
// seeds have no line in common.
func plain(size int64, seed string) func(io.Writer) {
	return func(w io.Writer) {
		var line []byte
		for n, left := 0, size; left > 0; n++ {
			line = fmt.Appendf(line[:0], "- job_name: %s-%d\n", seed, n)
			line = line[:min(int64(len(line)), left)]
			left -= int64(len(line))
			_, _ = w.Write(line)
		}
	}
}

func compressed(t *testing.T, write func(io.Writer)) []byte {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	must(t, err)
	write(z)
	must(t, z.Close())
	return b.Bytes()
}

const ruleFiles = 10

// content returns the files of the Secret volume: the configuration and, unless rules is
// 0, rule files of this size in bytes.
func content(t *testing.T, plainText func(io.Writer), seed string, rules int64) map[string]string {
	t.Helper()
	config := compressed(t, plainText)
	files := map[string]string{key: string(config)}
	if rules == 0 {
		return files
	}
	archive := compressed(t, func(w io.Writer) {
		to := tar.NewWriter(w)
		for i := range ruleFiles {
			must(t, to.WriteHeader(&tar.Header{Name: fmt.Sprintf("r%d.yaml", i), Mode: 0o644, Size: rules / ruleFiles}))
			plain(rules/ruleFiles, fmt.Sprintf("%s-r%d", seed, i))(to)
		}
		must(t, to.Close())
	})
	list := parts.List{Version: parts.Version}
	add := func(stream parts.Stream, name string, b []byte) parts.Stream {
		sum := sha256.Sum256(b)
		files[name] = string(b)
		return append(stream, parts.File{Name: name, SHA256: hex.EncodeToString(sum[:])})
	}
	first := len(config) / 2
	list.Config = add(list.Config, key, config[:first])
	for i := 1; first < len(config); i++ {
		end := min(first+1<<20, len(config))
		list.Config = add(list.Config, parts.ConfigName(i), config[first:end])
		first = end
	}
	for i := 1; len(archive) > 0; i++ {
		end := min(1<<20, len(archive))
		list.Rules = add(list.Rules, parts.RulesName(i), archive[:end])
		archive = archive[end:]
	}
	text, err := list.Encode()
	must(t, err)
	files[parts.ListName] = string(text)
	return files
}

// The largest configuration that the operator writes for a memory limit works in a
// container with this limit: in the init container, in the sidecar, after a change of the
// whole content, and after a restart. 50Mi is the default limit. The last case has a
// configuration of 100 MB.
func TestLargestConfigurationInItsLimit(t *testing.T) {
	if testing.Short() {
		t.Skip("writes hundreds of megabytes")
	}
	for name, c := range map[string]struct {
		limit, rules int64 // 1/rules of the total are rules; 0 for none
	}{
		"the default limit":            {50 << 20, 0},
		"the default limit with rules": {50 << 20, 3},
		"a small limit":                {24 << 20, 0},
		"100 MB":                       {footprint.MinLimit(100_000_000), 0},
	} {
		t.Run(name, func(t *testing.T) {
			box := newContainer(t, c.limit)
			room := footprint.MaxPlain(c.limit)
			var rules int64
			if c.rules > 0 {
				rules = room / c.rules / ruleFiles / 4096 * 4096 * ruleFiles
				room -= ruleFiles * footprint.InMemoryVolume(rules/ruleFiles)
			}
			size := room/4096*4096 - 4096 // one page for the inode of the file
			if name == "100 MB" && size < 100_000_000-8192 {
				t.Fatalf("%d bytes fit", size)
			}
			changes := 2
			if size > 100_000_000-8192 {
				changes = 1 // takes as long as all other cases together
			}
			box.run(size, rules, changes)
		})
	}
}

func (c *container) run(size, rules int64, changes int) {
	t := c.t
	first := plain(size, "first")
	c.vol.Swap(content(t, first, "first", rules))
	for _, what := range []string{"first start", "second start"} {
		if log, err := c.once(); err != nil {
			t.Fatalf("%s: %v\n%s", what, err, log)
		}
		c.survived(what)
		c.holds(what, first, rules)
	}
	for i := range changes {
		seed := fmt.Sprintf("start-%d", i)
		text := plain(size, seed)
		c.vol.Swap(content(t, text, seed, rules))
		if log, err := c.once(); err != nil {
			t.Fatalf("start with another: %v\n%s", err, log)
		}
		c.survived("start with another")
		c.holds("start with another", text, rules)
	}
	last := c.sidecar(size, rules, changes)
	// A configuration that is too large is rejected: the last output is kept, and no
	// process is killed.
	c.vol.Swap(content(t, plain(size+footprint.MaxPlain(0)/512, "large"), "large", rules))
	if log, err := c.once(); err == nil || !strings.Contains(log, "--config-reloader-memory-limit") {
		t.Errorf("what is too large: %v\n%s", err, log)
	}
	c.survived("too large")
	c.holds("too large", last, rules)
}

// sidecar runs the sidecar through changes of the whole content, and returns the last
// configuration.
func (c *container) sidecar(size, rules int64, changes int) (text func(io.Writer)) {
	t := c.t
	server := reloadtest.New(t, func() error {
		_, err := os.Stat(c.out)
		return err
	})
	cmd := c.command("--reload-url="+server.ReloadURL(), "--watch-interval=1h")
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	must(t, cmd.Start())
	defer func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the sidecar: %v\n%s", err, log.String())
		}
	}()
	server.Wait(t, "the first reload", func(s reloadtest.Stats) bool { return s.Loaded > 0 })
	for i := range changes {
		seed := fmt.Sprintf("sidecar-%d", i)
		text = plain(size, seed)
		before := server.Stats().Loaded
		c.vol.Swap(content(t, text, seed, rules))
		server.Wait(t, "a reload after "+seed, func(s reloadtest.Stats) bool { return s.Loaded > before })
		c.survived("change in the sidecar")
		c.holds("change in the sidecar", text, rules)
	}
	return text
}

// The list of 5,000 targets of 0.5 KB each fits into a container of 15 MiB, in one job or in as many jobs as targets.
func TestTargetsFitIntoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for comparisons with Prometheus")
	}
	for _, jobs := range []int{300, 1} {
		t.Run(fmt.Sprint(jobs, " jobs"), func(t *testing.T) {
			t.Parallel()
			c := newContainer(t, 15<<20)
			d := newDiscovery(t, "one", manyTargets(jobs, 5000))
			p := newPod(t, d, "one")
			p.list = filepath.Join(filepath.Dir(c.out), "targets.json.gz")
			c.vol.Swap(map[string]string{key: "global: {}\n"})
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/api/v1/query" {
					writeSeries(w, jobs, 5000)
					return
				}
				writeActive(w, jobs, 5000)
			}))
			t.Cleanup(server.Close)
			args := p.args()
			args[len(args)-1] = "--reload-url=" + server.URL + "/-/reload"
			cmd := c.command(append(args[1:], "--targets-report-interval=2s")...)
			var log logtest.Log
			cmd.Stdout, cmd.Stderr = &log, &log
			defer func() {
				if t.Failed() {
					t.Log(log.Brief(20))
				}
			}()
			must(t, cmd.Start())
			defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
			last := fmt.Sprint("serviceMonitor/demo/web/", jobs-1)
			reloadtest.Until(t, "the list", func() bool { return strings.HasPrefix(p.get(last), "200 ") })
			for range 3 {
				for i := range jobs {
					p.get(fmt.Sprint("serviceMonitor/demo/web/", i))
				}
			}
			// Prometheus requests all jobs until its targets were compared.
			for end := time.Now().Add(2 * time.Minute); ; time.Sleep(2 * time.Second) {
				for i := range jobs {
					p.get(fmt.Sprint("serviceMonitor/demo/web/", i))
				}
				all := d.reports()
				if n := len(all); n > 0 && all[n-1].Compared == jobs && all[n-1].Active == all[n-1].Served && all[n-1].Served >= 5000 {
					break
				}
				if time.Now().After(end) {
					t.Fatalf("waited in vain for a report: %+v", all[max(0, len(all)-1):])
				}
			}
			c.survived("the comparison with Prometheus")
			d.events <- watchMany(jobs, 5000) + `{"ask":"inventory"}` + "\n"
			reloadtest.Until(t, "an inventory", func() bool { return len(d.inventoried()) > 0 })
			if n := len(d.inventoried()[0]); n < 5000 || d.inventoried()[0]["serviceMonitor/demo/web/0 10.0.0.0:8080"].Series == nil {
				t.Errorf("%d targets in the inventory, or no series", n)
			}
			reloadtest.Until(t, "reports about watched targets", func() bool {
				all := d.reports()
				return all[len(all)-1].Watch == 1 && len(all[len(all)-1].Scraped) == targetreport.MaxWatchUnits
			})
			c.survived("the inventory, and many watched targets")
			for range 3 { // the whole list once more, as after a reconnect
				d.events <- manyTargets(jobs, 5000)
			}
			d.events <- manyTargets(jobs, 5000) + fullList("1-2", last, "[]")
			reloadtest.Until(t, "the last list", func() bool { return p.get(last) == "200 []" })
			c.survived("5,000 targets")
			for line := range strings.Lines(read(t, fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))) {
				if strings.HasPrefix(line, "VmHWM") || strings.HasPrefix(line, "VmRSS") || strings.HasPrefix(line, "RssAnon") {
					t.Log(strings.TrimSpace(line)) // with the pages of the executable, which are not charged to the container
				}
			}
		})
	}
}

// writeActive writes the active targets of Prometheus for the list of manyTargets, with 3 KB of labels each, as its own
// discovery finds them.
func writeActive(w io.Writer, jobs, n int) {
	labels := strings.Repeat(`"__meta_kubernetes_pod_annotation_example":"0123456789012345678901234567890123456789",`, 33)
	out := bufio.NewWriter(w)
	defer out.Flush()
	separator := `{"status":"success","data":{"activeTargets":[`
	for j := range jobs {
		for i := range n/jobs + 1 {
			fmt.Fprintf(out, `%s{"discoveredLabels":{%s"__address__":"10.%d.%d.%d:8080"},"labels":%s,"scrapePool":"serviceMonitor/demo/web/%d","health":"up","lastScrape":"2999-01-01T00:00:00Z"}`,
				separator, labels, j%256, i>>8, i%256, labelsOfTarget(j, i, ""), j)
			separator = ","
		}
	}
	fmt.Fprint(out, `],"droppedTargets":[]}}`)
}

// labelsOfTarget returns the labels of a target after relabeling.
func labelsOfTarget(j, i int, more string) string {
	return fmt.Sprintf(`{%s"job":"web-%d","instance":"10.%d.%d.%d:8080","namespace":"demo","pod":"web-%d-0123456789-%d","endpoint":"metrics","service":"web-%d"}`, more, j, j%256, i>>8, i%256, j, i, j)
}

// writeSeries writes the response to a query for a metric that each of the targets has.
func writeSeries(w io.Writer, jobs, n int) {
	out := bufio.NewWriter(w)
	defer out.Flush()
	separator := `{"status":"success","data":{"resultType":"vector","result":[`
	for j := range jobs {
		for i := range n/jobs + 1 {
			fmt.Fprintf(out, `%s{"metric":%s,"value":[1764230400.123,"412"]}`, separator, labelsOfTarget(j, i, `"__name__":"scrape_samples_post_metric_relabeling",`))
			separator = ","
		}
	}
	fmt.Fprint(out, `]}}`)
}

// watchMany returns a watch of as many targets as possible.
func watchMany(jobs, n int) string {
	var units []string
	for j := range jobs {
		for i := range n/jobs + 1 {
			units = append(units, fmt.Sprintf(`{"id":"u%d-%d","targets":{"serviceMonitor/demo/web/%d":["10.%d.%d.%d:8080"]}}`, j, i, j, j%256, i>>8, i%256))
		}
	}
	return `{"watch":{"seq":1,"units":[` + strings.Join(units[:targetreport.MaxWatchUnits], ",") + "]}}\n"
}

// manyTargets returns a full list of n targets of about 0.5 KB.
func manyTargets(jobs, n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{\"begin\":{\"version\":\"1-1\",\"full\":true,\"jobs\":%d}}\n", jobs)
	for j := range jobs {
		separator := fmt.Sprintf("{\"job\":\"serviceMonitor/demo/web/%d\",\"groups\":[", j)
		for i := range n/jobs + 1 {
			sum := sha256.Sum256(fmt.Append(nil, j, i))
			id := hex.EncodeToString(sum[:])
			fmt.Fprintf(&b, `%s{"targets":["10.%d.%d.%d:8080"],"labels":{"__meta_kubernetes_namespace":"demo","__meta_kubernetes_service_name":"web-%d",`+
				`"__meta_kubernetes_pod_name":"web-%d-%s-%s","__meta_kubernetes_pod_node_name":"node-%s.example.com","__meta_kubernetes_endpoint_port_name":"metrics",`+
				`"__meta_kubernetes_pod_container_name":"web","__meta_kubernetes_pod_uid":"%s","__meta_kubernetes_pod_label_app_kubernetes_io_name":"web",`+
				`"__meta_kubernetes_pod_ready":"true"}}`, separator, j%256, i>>8, i%256, j, j, id[:8], id[8:13], id[13:16], id[16:48])
			separator = ","
		}
		b.WriteString("]}\n")
	}
	b.WriteString("{\"end\":{\"version\":\"1-1\"}}\n")
	return b.String()
}
