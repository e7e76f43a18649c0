package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

const metricsIntro = `# Metrics

Written by ` + "`make generate`" + ` from what the running programs expose. Series without labels, and those of labels
with a fixed set of values, exist from the start. All programs also expose ` + "`go_*`" + `, ` + "`process_*`" + `
and ` + "`promhttp_*`" + `, which the Go client library documents.
`

// metricsPage runs each program and lists what it exposes.
func metricsPage(ctx context.Context, p *programs) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(metricsIntro)
	for _, name := range programNames {
		families, err := p.exposed(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(&out, "\n## %s\n\n| name | type | labels | meaning |\n|---|---|---|---|\n", name)
		for _, metric := range slices.Sorted(maps.Keys(families)) {
			if f := families[metric]; !common(metric) {
				fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", metric,
					strings.ToLower(f.GetType().String()), labelsOf(f), cell(f.GetHelp()))
			}
		}
	}
	return out.Bytes(), nil
}

// common reports whether a metric comes with the client library.
func common(metric string) bool {
	for _, p := range []string{"go_", "process_", "promhttp_"} {
		if strings.HasPrefix(metric, p) {
			return true
		}
	}
	return false
}

// labelsOf lists the labels that any series of the family has.
func labelsOf(f *dto.MetricFamily) string {
	names := map[string]bool{}
	for _, m := range f.GetMetric() {
		for _, l := range m.GetLabel() {
			names["`"+l.GetName()+"`"] = true
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}

// settled names, for each program, a metric that shows up only after its work
// was done once; then all others are there.
var settled = map[string]string{
	"operator":        "prometheus_operator_managed_resources",
	"config-reloader": "reloader_last_reload_successful",
	"rules-reloader":  "configmap_reload_requests_total",
}

// exposed runs a program against servers of ours until it has done its work
// once, and returns what it then exposes.
func (p *programs) exposed(ctx context.Context, name string) (map[string]*dto.MetricFamily, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	api := httptest.NewServer(http.HandlerFunc(answerAPI))
	defer api.Close()
	reloaded := httptest.NewServer(http.HandlerFunc(answerReload))
	defer reloaded.Close()
	dir, err := os.MkdirTemp(p.dir, name+"-")
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "prometheus.yaml")
	if err := os.WriteFile(config, []byte("global: {}\n"), 0o644); err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	args := map[string][]string{
		"operator": {"--web.listen-address=" + address, "--apiserver=" + api.URL},
		"config-reloader": {"--listen-address=" + address, "--reload-url=" + reloaded.URL + "/-/reload",
			"--config-file=" + config, "--config-envsubst-file=" + filepath.Join(dir, "out.yaml")},
		"rules-reloader": {"--web.listen-address=" + address, "--webhook-url=" + reloaded.URL + "/-/reload", "--volume-dir=" + dir},
	}
	var log bytes.Buffer
	cmd := p.command(ctx, name, args[name]...)
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	families, err := scrapeUntil(ctx, "http://"+address+"/metrics", settled[name])
	cancel()
	_ = cmd.Wait() // we ended it
	if err != nil {
		return nil, fmt.Errorf("%w; it wrote:\n%s", err, log.Bytes())
	}
	return families, nil
}

// answerReload is a Prometheus that is ready and reloads everything.
func answerReload(w http.ResponseWriter, r *http.Request) {
	if strings.HasSuffix(r.URL.Path, "/status/runtimeinfo") {
		answer(w, http.StatusOK, map[string]any{"status": "success", "data": map[string]any{
			"reloadConfigSuccess": true, "lastConfigTime": time.Now().UTC().Format(time.RFC3339),
		}})
	}
}

// freeAddress is an address that nobody listens on at the moment.
func freeAddress() (string, error) {
	s := httptest.NewUnstartedServer(nil)
	address := s.Listener.Addr().String()
	return address, s.Listener.Close()
}

// scrapeUntil scrapes until a metric has a series that tells of finished work.
func scrapeUntil(ctx context.Context, url, metric string) (map[string]*dto.MetricFamily, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		families, err := scrape(ctx, url)
		switch {
		case err != nil:
		case done(families[metric]):
			return families, nil
		default:
			err = fmt.Errorf("%s did not appear", metric)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-tick.C:
		}
	}
}

// done reports whether the family has a series, and for a single one that it
// is not zero: a gauge that says 0 from the start is no news.
func done(f *dto.MetricFamily) bool {
	switch m := f.GetMetric(); {
	case len(m) == 0:
		return false
	case len(m) == 1:
		return m[0].GetGauge().GetValue()+m[0].GetCounter().GetValue() > 0
	default:
		return true
	}
}

func scrape(ctx context.Context, url string) (map[string]*dto.MetricFamily, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	return parser.TextToMetricFamilies(resp.Body)
}
