//go:build linux

package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/logging/logtest"
	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

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
