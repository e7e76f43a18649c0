package insight_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
	"github.com/firekeeper-dev/firekeeper/operator/readers"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
)

const selectsPods = `
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: main, namespace: demo}
spec: {podMonitorSelector: {}}
`

// podMonitors returns n PodMonitors with a number of endpoints each.
func podMonitors(n, endpoints int, endpoint string) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "---\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: m%d, namespace: demo}\nspec: {selector: {}, podMetricsEndpoints: [%s]}\n",
			i, strings.Repeat(endpoint+", ", endpoints-1)+endpoint)
	}
	return []byte(b.String())
}

// A preview that exceeds a limit is rejected before the work is done, with the limit in the error.
func TestPreviewIsBounded(t *testing.T) {
	a := answers(t, loaded(t, []byte(selectsPods)), nil)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx       context.Context
		manifests []byte
		want      string
		is        func(error) bool
	}{
		"objects":  {t.Context(), podMonitors(101, 1, "{port: a}"), "101 objects decide what is scraped, 100 may at a time", apierrors.IsBadRequest},
		"jobs":     {t.Context(), podMonitors(11, 100, "{port: a}"), "there are more than 1000 jobs", apierrors.IsBadRequest},
		"regexps":  {t.Context(), podMonitors(30, 1, `{port: a, relabelings: [{action: keep, sourceLabels: [a], regex: '\pL{350}'}]}`), "the regular expressions of all jobs compile to too much", apierrors.IsBadRequest},
		"shards":   {t.Context(), append([]byte(strings.Replace(selectsPods, "spec: {", "spec: {shards: 1000, ", 1)), podMonitors(1, 1, `{port: a, relabelings: [{action: keep, sourceLabels: [a], regex: '\pL{10}'}]}`)...), "the regular expressions of all jobs compile to too much", apierrors.IsBadRequest},
		"patience": {gone, podMonitors(1, 1, "{port: a}"), "takes too long", apierrors.IsTimeout},
		"faults":   {t.Context(), podMonitors(60, 1, "{prt: a}"), "and 10 more", apierrors.IsBadRequest},
		"aliases":  {t.Context(), append(podMonitors(1, 1, "{port: a}"), "---\nspec: [&a "+strings.Repeat("hunter2", 70_000)+strings.Repeat(", *a", 2000)+"]\n"...), "yaml: the aliases up to here stand for more than 4 MiB", apierrors.IsBadRequest},
		"fine":     {t.Context(), podMonitors(100, 5, `{port: a, relabelings: [{action: keep, sourceLabels: [a], regex: '(.+)(?::\d+)?;\d+'}]}`), "", nil},
	} {
		_, err := a.Preview(tc.ctx, everything, tc.manifests)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !tc.is(err) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A slow preview does not block others indefinitely, ends if its caller disconnects, and leaves memory for other
// requests.
func TestPreviewsAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kinds, _ := setups()
		b := blocking{make(chan struct{}), make(chan struct{})}
		a := insight.New(insight.Parts{
			Reader: loaded(t, []byte(selectsPods)), Setups: kinds, Fresh: setups, Options: prometheus.Options{Workload: config}, Memory: inflight.New(100 << 20),
			Finder: func(readers.Reader, *discovery.Objects) preview.Finder { return b },
		})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		previewed := func(ctx context.Context) error {
			_, err := a.Preview(ctx, everything, podMonitors(1, 1, "{port: a}"))
			return err
		}
		go func() { ended <- previewed(ctx) }()
		<-b.began
		if release, err := a.Memory.Take(ctx, 39<<20, 0); err != nil {
			t.Errorf("memory for answers: %v", err)
		} else {
			release()
		}
		go func() { ended <- previewed(ctx) }()
		synctest.Wait()
		if err := previewed(t.Context()); !apierrors.IsTooManyRequests(err) {
			t.Errorf("a third: %v", err)
		}
		cancel()
		if err := <-ended; !apierrors.IsTimeout(err) {
			t.Errorf("that waits, and whose caller has gone: %v", err)
		}
		go func() { ended <- previewed(t.Context()) }()
		if err := <-ended; !apierrors.IsTooManyRequests(err) {
			t.Errorf("that waits for too long: %v", err)
		}
		close(b.until)
		if err := <-ended; !apierrors.IsTimeout(err) {
			t.Errorf("whose caller has gone: %v", err)
		}
		go func() { <-b.began }()
		if err := previewed(t.Context()); err != nil {
			t.Errorf("after they ended: %v", err)
		}
	})
}

// blocking is a finder that blocks until the channel until is closed.
type blocking struct{ began, until chan struct{} }

// Find implements [preview.Finder].
func (b blocking) Find(_ context.Context, jobs []targets.Job, _ *preview.Workload) ([]targets.Found, []string, error) {
	b.began <- struct{}{}
	<-b.until
	return make([]targets.Found, len(jobs)), nil, nil
}

// Manifests with a fault are not reconciled to name it, which takes the number of workloads times that of the objects.
func TestFaultsAreCheap(t *testing.T) {
	a := answers(t, loaded(t, resharded()), nil)
	var body strings.Builder
	for i := range 300 {
		fmt.Fprintf(&body, "apiVersion: monitoring.coreos.com/v1\nkind: Prometheus\nmetadata: {name: p%d, namespace: demo}\nspec: {probeSelector: {}}\n---\n", i)
		fmt.Fprintf(&body, "apiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: b%d, namespace: demo}\nspec: {prober: {url: 'bb:9115'}, targets: {staticConfig: {static: [a]}}}\n---\n", i)
	}
	body.WriteString("apiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: wrong, namespace: demo}\nspec: {modul: x}\n")
	budgettest.AtMost(t, "faults", int64(2000*body.Len()), func() {
		if _, err := a.Preview(t.Context(), everything, []byte(body.String())); !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), "spec.modul: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %.300v", err)
		}
	})
}
