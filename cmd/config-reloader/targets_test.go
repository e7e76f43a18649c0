package main

import (
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/reload/reloadtest"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// discovery is a fake discovery server. It sends its lines to each new connection, followed by those that send adds.
type discovery struct {
	*httptest.Server
	mu     sync.Mutex
	token  string // the accepted token
	lines  string // for new connections
	asked  []string
	events chan string
	said   []targetreport.Report
	// heard is called for each report.
	heard       func(targetreport.Report)
	inventories []map[string]targetreport.InventoryTarget // by "JOB ADDRESS"
}

func newDiscovery(t testing.TB, token, lines string) *discovery {
	d := &discovery{token: token, lines: lines, events: make(chan string)}
	d.Server = httptest.NewTLSServer(d)
	t.Cleanup(func() { d.CloseClientConnections(); d.Close() })
	return d
}

func (d *discovery) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	token, lines := d.token, d.lines
	if r.Method == http.MethodGet {
		d.asked = append(d.asked, r.Header.Get("Authorization")+" "+r.URL.RequestURI())
	}
	d.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer "+token {
		http.Error(w, "the token is not valid", http.StatusUnauthorized)
		return
	}
	switch {
	case r.Method == http.MethodPost && r.URL.Path == targetreport.InventoryPath:
		d.inventory(w, r)
		return
	case r.Method == http.MethodPost:
		d.report(w, r)
		return
	}
	out := io.Writer(w)
	flush := w.(http.Flusher).Flush
	if r.Header.Get("Accept-Encoding") == "gzip" {
		w.Header().Set("Content-Encoding", "gzip")
		gz := gzip.NewWriter(w)
		out, flush = gz, func() { gz.Flush(); w.(http.Flusher).Flush() }
	}
	for {
		if _, err := io.WriteString(out, lines); err != nil {
			return
		}
		flush()
		select {
		case <-r.Context().Done():
			return
		case lines = <-d.events:
		case <-time.After(10 * time.Second):
			lines = `{"ping":{"version":"1-1"}}` + "\n"
		}
	}
}

func (d *discovery) report(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var report targetreport.Report
	if err == nil {
		report, err = targetreport.Decode(body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.said = append(d.said, report)
	if d.heard != nil {
		d.heard(report)
	}
}

func (d *discovery) inventory(w http.ResponseWriter, r *http.Request) {
	got := map[string]targetreport.InventoryTarget{}
	err := targetreport.ReadInventory(r.Body, func(targetreport.Inventory) error { return nil },
		func(job, address string, t targetreport.InventoryTarget) error { got[job+" "+address] = t; return nil })
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inventories = append(d.inventories, got)
}

// inventoried returns the inventories so far.
func (d *discovery) inventoried() []map[string]targetreport.InventoryTarget {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.inventories)
}

// reports returns the reports so far.
func (d *discovery) reports() []targetreport.Report {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.said)
}

func (d *discovery) requests() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.asked)
}

func (d *discovery) ca(t testing.TB, file string) {
	must(t, os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: d.Certificate().Raw}), 0o644))
}

// anotherCA returns a CA that has not signed the certificate of the server.
func anotherCA(t testing.TB) []byte {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// fullList returns the lines of a list with one job.
func fullList(version, job, groups string) string {
	return fmt.Sprintf("{\"begin\":{\"version\":%q,\"full\":true,\"jobs\":1}}\n{\"job\":%q,\"groups\":%s}\n{\"end\":{\"version\":%q}}\n", version, job, groups, version)
}

const aJob = "serviceMonitor/demo/web/0"

// pod is a folder with the files of a pod, and the loopback address for Prometheus.
type pod struct {
	dir, listen, server string
	list                string // --targets-file
}

func newPod(t testing.TB, d *discovery, token string) *pod {
	p := &pod{dir: t.TempDir(), listen: freePort(t), server: d.URL}
	p.list = p.file("targets.json.gz")
	d.ca(t, p.file("ca.crt"))
	must(t, os.WriteFile(p.file("token"), []byte(token), 0o600))
	must(t, os.WriteFile(p.file("config"), []byte("global: {}\n"), 0o600))
	return p
}

func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer l.Close()
	return l.Addr().String()
}

func (p *pod) file(name string) string { return filepath.Join(p.dir, name) }

func (p *pod) args() []string {
	return []string{
		"--config-file=" + p.file("config"), "--targets-server=" + p.server, "--targets-token-file=" + p.file("token"),
		"--targets-ca-file=" + p.file("ca.crt"), "--targets-listen=" + p.listen, "--targets-file=" + p.list,
		"--reload-url=http://127.0.0.1:1/-/reload",
	}
}

// get returns the response to Prometheus for a job.
func (p *pod) get(job string) string {
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := c.Get("http://" + p.listen + "/sd/" + url.PathEscape(job))
	if err != nil {
		return "unreachable"
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", res.StatusCode, strings.TrimSpace(string(b)))
}

func (p *pod) until(t testing.TB, want string) {
	t.Helper()
	reloadtest.Until(t, want, func() bool { return p.get(aJob) == want })
}

// The list is received and updated, and survives a restart while the server is unreachable.
func TestTargetsFromServer(t *testing.T) {
	d := newDiscovery(t, "one", fullList("1-1", aJob, `[{"targets":["10.0.0.7:8080"]}]`))
	p := newPod(t, d, "one")
	process := start(t, p.args()...)
	p.until(t, `200 [{"targets":["10.0.0.7:8080"]}]`)
	d.events <- fmt.Sprintf(`{"begin":{"version":"1-2","from":"1-1","jobs":1}}{"job":%q,"groups":[]}{"end":{"version":"1-2"}}`+"\n", aJob)
	p.until(t, `200 []`)
	if got := p.get("podMonitor/demo/other/0"); !strings.HasPrefix(got, "503 ") {
		t.Errorf("a job that is not in the list: %s", got)
	}
	for series, want := range map[string]string{
		"reloader_targets_leader": "1", "reloader_targets_sequence": "2", "reloader_targets_jobs": "1",
		"reloader_targets_connected": "1", "reloader_targets_connections_total": "1", "reloader_targets_updates_total": "2",
		`reloader_targets_errors_total{reason="disk"}`: "0",
	} {
		if got := process.Metric(series); got != want {
			t.Errorf("%s is %q, want %s", series, got, want)
		}
	}
	process.End()
	d.CloseClientConnections()
	d.Close()
	process = start(t, p.args()...)
	p.until(t, `200 []`)
	process.Until("a failed connection", func() bool { return process.Metric(`reloader_targets_errors_total{reason="unreachable"}`) != "0" })
	p.until(t, `200 []`)
}

// Token and CA are read for each connection.
func TestTargetsFilesAreRotated(t *testing.T) {
	d := newDiscovery(t, "two", fullList("1-1", aJob, `[]`))
	p := newPod(t, d, "one")
	must(t, os.WriteFile(p.file("ca.crt"), []byte("no certificate"), 0o600))
	process := start(t, p.args()...)
	process.Until("the error about the CA", func() bool { return strings.Contains(process.Log.String(), "no certificate in "+p.file("ca.crt")) })
	must(t, os.WriteFile(p.file("ca.crt"), anotherCA(t), 0o600))
	process.Until("the error about the certificate", func() bool { return strings.Contains(process.Log.String(), "certificate signed by unknown authority") })
	if len(d.requests()) > 0 {
		t.Error("the token was sent to a server whose certificate is not valid")
	}
	d.ca(t, p.file("ca.crt"))
	process.Until("the error about the token", func() bool { return strings.Contains(process.Log.String(), "401 Unauthorized: the token is not valid") })
	must(t, os.WriteFile(p.file("token"), []byte("two\n"), 0o600))
	p.until(t, `200 []`)
	if strings.Contains(process.Log.String(), "Bearer") || strings.Contains(process.Log.String(), "two") {
		t.Error("the log has the token")
	}
	asked := d.requests()
	if first, last := asked[0], asked[len(asked)-1]; first != "Bearer one /v1/assignments?have=" || last != "Bearer two /v1/assignments?have=" {
		t.Errorf("requests %q … %q", first, last)
	}
}

func TestTargetsFlags(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--targets-server=http://discovery --targets-file=f", "--targets-server: must be an https URL"},
		{"--targets-server=https://discovery", "--targets-file: required with --targets-server"},
		{"--targets-server=https://discovery --targets-file=f --targets-listen=:8082", "must be a loopback address"},
		{"--targets-server=https://discovery --targets-file=f --targets-listen=10.0.0.1:8082", "must be a loopback address"},
		{"--targets-server=https://discovery --targets-file=f --targets-listen=8082", "--targets-listen: "},
	} {
		var out strings.Builder
		if code := run(context.Background(), strings.Fields(c.args), nil, &out, &out); code != 2 || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: exit code %d, %s", c.args, code, &out)
		}
	}
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer busy.Close()
	var out strings.Builder
	args := []string{"--targets-server=https://discovery", "--targets-file=f", "--targets-listen=" + busy.Addr().String()}
	if code := run(context.Background(), args, nil, &out, &out); code != 1 || !strings.Contains(out.String(), "address already in use") {
		t.Errorf("a port in use: exit code %d, %s", code, &out)
	}
}

// set changes the lines for new connections, and sends them to the open one.
func (d *discovery) set(lines string) {
	d.mu.Lock()
	d.lines = lines
	d.mu.Unlock()
	d.events <- lines
}
