package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// inARow returns the number of changes of each kind.
func inARow() int {
	if isLong() {
		return 25
	}
	return 8
}

// inARowPause is the time between a change that is live and the next one.
const inARowPause = 100 * time.Millisecond

// delivery is how a change reached the pods, as the operator reports it.
type delivery struct {
	Objects                   []struct{ Kind, Name string }
	Noticed, Started, Written time.Time
	Pods, Patches             int
	Annotated, OnDisk, Loaded struct {
		Pods int
		At   time.Time
	}
}

// deliveries returns the last changes of the Prometheus "web", the last one first.
func (s space) deliveries(ctx context.Context, o *operator) ([]delivery, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, o.url+"/apis/monitoring.coreos.com/v1/namespaces/"+s.name+"/prometheuses/web/overview", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	var out struct{ Deliveries []delivery }
	if err := json.Unmarshal(body, &out); err != nil {
		return nil, fmt.Errorf("%s: %s", resp.Status, body)
	}
	return out.Deliveries, nil
}

// patched returns how often the operator has patched pods.
func (o *operator) patched(t *testing.T) int {
	t.Helper()
	page, err := o.metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := regexp.MustCompile(`(?m)^prometheus_operator_pod_nudges_total\{controller="prometheus",result="ok"\} (\d+)`).FindStringSubmatch(page)
	if got == nil {
		t.Fatal("no number of patches")
	}
	n, err := strconv.Atoi(got[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// merge changes an object with a merge patch, without starting a program.
func (s space) merge(t *testing.T, resource, name, patch string) {
	t.Helper()
	err := s.kube.CoreV1().RESTClient().Patch(types.MergePatchType).AbsPath("/apis/monitoring.coreos.com/v1/namespaces", s.name, resource, name).
		Body([]byte(patch)).Do(t.Context()).Error()
	if err != nil {
		t.Fatal(err)
	}
}

// Changes that are each made right after the last one is live are each delivered by one patch of the pod, unless the
// kubelet is late, and the operator knows when each of them was loaded. They take almost a second each, because the
// kubelet syncs a pod, and the operator patches it, about once per second.
func TestChangesInARow(t *testing.T) {
	n := start(t)
	s := n.space(t, "in-a-row")
	o := s.operatorOf(t, "--config-reloader-cpu-limit=0", "--web.api=open", "--log-level=debug")
	s.web(t, "replicas: 1")
	s.rolledOut(t, "web", webPods[0])
	until(t, "the configuration is applied", patience, func(context.Context) (bool, error) {
		return strings.Contains(s.in(t, "get", "prometheus", "web", "-o", "jsonpath="+`{.status.conditions[?(@.type=="ConfigApplied")].status}`), "True"), nil
	})
	server, before := s.server(webPods[0], "http"), o.patched(t)
	for _, kind := range []struct {
		name   string
		change func(i int) shows
	}{
		{"rule", func(i int) shows {
			expr := fmt.Sprintf("vector(%d)", 1000+i)
			s.merge(t, "prometheusrules", "app", fmt.Sprintf(`{"spec":{"groups":[{"name":"first","rules":[{"record":"up:sum","expr":%q}]}]}}`, expr))
			return showsRule(expr)
		}},
		{"monitor", func(i int) shows {
			label := fmt.Sprintf("e2e_label_%d_", i)
			s.merge(t, "servicemonitors", "app", fmt.Sprintf(`{"spec":{"targetLabels":[%q]}}`, label))
			return showsConfig(label)
		}},
	} {
		var took []time.Duration
		for i := range inARow() {
			began := time.Now()
			shows := kind.change(i)
			for live := false; !live; {
				live, _ = shows(t.Context(), server)
				if time.Since(began) > patience {
					t.Fatalf("%s %d is not live", kind.name, i)
				}
			}
			took = append(took, time.Since(began).Round(time.Millisecond))
			time.Sleep(inARowPause) // the pace of the measurement, nothing is waited for
		}
		slices.Sort(took)
		t.Logf("%s: median %s, worst of %d %s: %v", kind.name, took[len(took)/2], len(took), took[len(took)-1], took)
	}
	var last []delivery
	until(t, "all changes are known to be loaded", patience, func(ctx context.Context) (bool, error) {
		var err error
		last, err = s.deliveries(ctx, o)
		return len(last) > 0 && !slices.ContainsFunc(last, func(d delivery) bool { return d.Loaded.Pods < 1 }), fmt.Errorf("%+v %w", last, err)
	})
	for _, d := range last {
		at := func(to time.Time) time.Duration { return to.Sub(d.Noticed).Round(time.Millisecond) }
		t.Logf("%s: started %s, written %s, annotated %s, on disk %s, loaded %s, %d patches", d.Objects[0].Kind, at(d.Started), at(d.Written), at(d.Annotated.At), at(d.OnDisk.At), at(d.Loaded.At), d.Patches)
	}
	if patches, changes := o.patched(t)-before, 2*inARow(); patches < changes || patches > changes+changes/4 { // some kubelets are late
		t.Errorf("%d patches for %d changes", patches, changes)
	}
}
