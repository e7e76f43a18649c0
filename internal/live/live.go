// Package live queries a running Prometheus or Alertmanager, and the webhook receiver of
// tests, through the API server, so that tests and the demo can measure how long a change
// takes to become effective.
//
//	proxy, err := live.StartProxy(ctx, kubectl, kubeconfig)
//	server := proxy.Prometheus("monitoring", "prometheus-k8s-0", 9090)
//	groups, err := server.RuleGroups(ctx)
//
// The rule queries work with a Thanos Ruler too, the series queries with a Thanos
// Querier.
package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/child"
)

// Proxy reaches pods through the API server. It is a running `kubectl proxy`.
type Proxy struct {
	url   string
	close func()
}

// Close stops the proxy and waits until it has exited.
func (p *Proxy) Close() { p.close() }

// StartProxy starts `kubectl proxy` on a free port. The proxy ends with ctx, with Close, and at the latest with this
// process, because it allows access to the cluster with the permissions of kubeconfig.
//
// kubeconfig: path; empty means kubectl's default.
func StartProxy(ctx context.Context, kubectl, kubeconfig string) (*Proxy, error) {
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, kubectl, "proxy", "--port=0")
	child.DiesWithUs(cmd)
	cmd.Env = os.Environ()
	if kubeconfig != "" {
		cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
	}
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		cancel()
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("kubectl proxy: %w", err)
	}
	// "Starting to serve on 127.0.0.1:36001"
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		cancel()
		return nil, errors.Join(fmt.Errorf("kubectl proxy: %w: %s", err, stderr.String()), cmd.Wait())
	}
	fields := strings.Fields(line)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // it is killed, so the status has no information
	}()
	return &Proxy{url: "http://" + fields[len(fields)-1], close: func() { cancel(); <-ended }}, nil
}

// Patch applies a JSON merge patch to an object. Unlike `kubectl patch`, it returns as soon as the API server has stored it.
//
// path: "/apis/GROUP/VERSION/namespaces/NAMESPACE/RESOURCE/NAME".
func (p *Proxy) Patch(ctx context.Context, path, patch string) error {
	return sendAs(ctx, http.MethodPatch, p.url+path, "application/merge-patch+json", strings.NewReader(patch), nil)
}

// Prometheus returns a client of the server in a pod.
func (p *Proxy) Prometheus(namespace, pod string, port int) *Prometheus {
	return &Prometheus{base: p.base(namespace, pod, port)}
}

func (p *Proxy) base(namespace, pod string, port int) string {
	return fmt.Sprintf("%s/api/v1/namespaces/%s/pods/%s:%d/proxy", p.url, namespace, pod, port)
}

// Prometheus is a client of one server.
type Prometheus struct{ base string }

const requestTimeout = 10 * time.Second

// get decodes the data field of an API response.
func (p *Prometheus) get(ctx context.Context, path string, data any) error {
	return get(ctx, p.base+path, &struct{ Data any }{data})
}

// get decodes a JSON response.
func get(ctx context.Context, address string, answer any) error {
	return send(ctx, http.MethodGet, address, nil, answer)
}

// send sends a request with a JSON body and decodes the JSON response unless answer is nil.
func send(ctx context.Context, method, address string, body io.Reader, answer any) error {
	return sendAs(ctx, method, address, "application/json", body, answer)
}

func sendAs(ctx context.Context, method, address, contentType string, body io.Reader, answer any) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s %s: %s: %.300s", method, req.URL.Path, resp.Status, text)
	}
	if answer == nil {
		return nil
	}
	return json.Unmarshal(text, answer)
}

// RuleGroup is a loaded rule group.
type RuleGroup struct {
	Name, File string
	Rules      []struct{ Name, Query, Health, LastError string }
}

// RuleGroups returns the loaded rule groups, all of them or those with the given names.
func (p *Prometheus) RuleGroups(ctx context.Context, names ...string) ([]RuleGroup, error) {
	var data struct{ Groups []RuleGroup }
	err := p.get(ctx, "/api/v1/rules?"+url.Values{"rule_group[]": names}.Encode(), &data)
	return data.Groups, err
}

// HasRule reports whether a loaded rule has the expression.
func (p *Prometheus) HasRule(ctx context.Context, expr string) (bool, error) {
	groups, err := p.RuleGroups(ctx)
	for _, g := range groups {
		for _, r := range g.Rules {
			if r.Query == expr {
				return true, nil
			}
		}
	}
	return false, err
}

// Target is one active target.
type Target struct {
	ScrapePool, ScrapeURL, Health, LastError, ScrapeInterval string
	Labels                                                   map[string]string
}

// Targets returns the active targets.
func (p *Prometheus) Targets(ctx context.Context) ([]Target, error) {
	var data struct{ ActiveTargets []Target }
	err := p.get(ctx, "/api/v1/targets?state=active", &data)
	return data.ActiveTargets, err
}

// Config returns the loaded configuration as YAML.
func (p *Prometheus) Config(ctx context.Context) (string, error) {
	var data struct{ YAML string }
	err := p.get(ctx, "/api/v1/status/config", &data)
	return data.YAML, err
}

// Alertmanagers returns the addresses to which the server sends alerts, "<host>:<port>".
func (p *Prometheus) Alertmanagers(ctx context.Context) ([]string, error) {
	var data struct {
		ActiveAlertmanagers []struct{ URL string }
	}
	err := p.get(ctx, "/api/v1/alertmanagers", &data)
	var out []string
	for _, a := range data.ActiveAlertmanagers {
		u, parseErr := url.Parse(a.URL)
		if parseErr != nil {
			return nil, errors.Join(err, parseErr)
		}
		out = append(out, u.Host)
	}
	return out, err
}

// Sample is a series in the result of an instant query.
type Sample struct {
	Metric map[string]string
	Value  float64
}

// Query returns the result of an instant query that is a vector.
func (p *Prometheus) Query(ctx context.Context, expr string) (out []Sample, err error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Value  [2]any // time, and the value as a string
		}
	}
	if err := p.get(ctx, "/api/v1/query?query="+url.QueryEscape(expr), &data); err != nil {
		return nil, err
	}
	for _, r := range data.Result {
		text, _ := r.Value[1].(string)
		value, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", expr, err)
		}
		out = append(out, Sample{r.Metric, value})
	}
	return out, nil
}

// Series returns the number of series in the result of an instant query.
func (p *Prometheus) Series(ctx context.Context, expr string) (int, error) {
	result, err := p.Query(ctx, expr)
	return len(result), err
}

// Until polls until check returns true, and returns how long that took. An error of check
// counts as false. On a timeout the last one is returned.
func Until(ctx context.Context, limit time.Duration, check func(context.Context) (bool, error)) (time.Duration, error) {
	start := time.Now()
	outer := ctx
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	tick := time.NewTicker(pollPeriod)
	defer tick.Stop()
	var last error
	for {
		ok, err := check(ctx)
		if ok {
			return time.Since(start), nil
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			if outer.Err() != nil {
				return time.Since(start), fmt.Errorf("interrupted: %w", outer.Err())
			}
			if last == nil {
				last = errors.New("the answer was no")
			}
			return time.Since(start), fmt.Errorf("not within %s: %w", limit, last)
		case <-tick.C:
		}
	}
}

// pollPeriod is the poll interval, and so the resolution, of Until.
const pollPeriod = 20 * time.Millisecond
