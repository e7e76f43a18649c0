package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/dev/bench/envelope"
	"github.com/firekeeper-dev/firekeeper/operator/dev/trial"
)

// Every part of the page can be measured, and nothing else.
func TestMeasures(t *testing.T) {
	for _, p := range envelope.Parts {
		if measures[p.Name] == nil {
			t.Errorf("nothing measures the part %s", p.Name)
		}
	}
	if len(measures) != len(envelope.Parts) {
		t.Errorf("%d parts are measured and %d written", len(measures), len(envelope.Parts))
	}
}

// Bad flags are errors before anything starts, and change no file.
func TestFlags(t *testing.T) {
	dir := t.TempDir()
	page := filepath.Join(dir, "page.md")
	if err := os.WriteFile(page, []byte("# Page\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string]string{
		"--operator: stat " + dir + "/none":                 "envelope --operator=" + dir + "/none",
		"enum value must be one of monitors,workloads,tena": "envelope --only=nothing --operator=" + page,
		"--page=" + page + ": no lines":                     "envelope --page=" + page + " --operator=" + page,
		"--page: open " + dir + "/none":                     "envelope --page=" + dir + "/none --operator=" + page,
		"--out: mkdir " + page:                              "envelope --page= --out=" + page + "/a/b --operator=" + page,
		`--sizes: "1000" is not of the form 100/100`:        "--sizes=1000 --operator=" + page,
		"--sizes: 10/10:3 is not possible: 10 is no mult":   "changes --sizes=10/10:3 --operator=" + page,
		"--samples: at least one is needed":                 "--samples=0 --operator=" + page,
		"--crds=" + dir + ": no manifests there":            "envelope --quick --out=" + dir + "/out.md --crds=" + dir + " --operator=" + page,
	} {
		if err := run(t.Context(), strings.Fields(args)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	if text, err := os.ReadFile(page); err != nil || string(text) != "# Page\n" {
		t.Errorf("the page is %q, %v", text, err)
	}
}

// Objects are shared out equally, each workload is in a namespace of its own, and selects the others' namespaces never.
func TestPlaces(t *testing.T) {
	s, err := prometheus.parseSize("200/40:20")
	if err != nil {
		t.Fatal(err)
	}
	labels := s.namespaces()
	if len(labels) != 50 {
		t.Errorf("%d namespaces", len(labels))
	}
	for i, n := range s.counts {
		of := map[string]int{}
		for k := range n {
			of[labels[s.namespaceOf(k)][tenantLabel]]++
		}
		for tenant := range s.owners {
			if got := of[ownerName(tenant)]; got != s.each(i) {
				t.Errorf("%s has %d of %d objects", ownerName(tenant), got, s.each(i))
			}
		}
	}
	for tenant := range s.owners {
		if got := labels[s.ownerNamespace(tenant)][tenantLabel]; got != ownerName(tenant) {
			t.Errorf("%s is in a namespace of %q", ownerName(tenant), got)
		}
	}
	raw, err := json.Marshal(s.newOwner(7))
	if err != nil || strings.Count(string(raw), `"matchLabels":{"tenant":"main-07"}`) != 3 {
		t.Errorf("%s, %v", raw, err)
	}
	whole := together(200, 40, 20)
	if whole.selecting() != 20 || s.selecting() != 1 || whole.ownerNamespace(3) != ownerNamespace || len(whole.namespaces()) != teams+1 {
		t.Errorf("workloads that select the same: %+v", whole)
	}
}

func TestHostMemory(t *testing.T) {
	if took := touch(); took <= 0 || took > time.Minute {
		t.Errorf("touching idle memory took %s", took)
	}
	ms := time.Millisecond
	for _, c := range []struct {
		touches []time.Duration
		want    string
	}{
		{nil, ""},
		{[]time.Duration{2 * ms, ms}, " 64 MiB that were idle for a second were touched again in 1 to 2 ms."},
		{[]time.Duration{40 * ms}, " 64 MiB that were idle for a second were touched again in 40 ms: where the host leaves idle memory alone, it takes 1 to 2 ms, and latencies and CPU times are lower."},
	} {
		if got := hostMemory(c.touches); got != c.want {
			t.Errorf("%v: %q, not %q", c.touches, got, c.want)
		}
	}
}

func TestMarks(t *testing.T) {
	var got []int
	mark{"changed-", "-times"}.each("a changed-12-times b changed-3-times,changed-x-times changed-4-time changed-12-times", func(i int) { got = append(got, i) })
	if !slices.Equal(got, []int{12, 3, 12}) {
		t.Errorf("%v", got)
	}
}

// No object changes twice, a tenth are of the second kind, and each change that an object has is noted once.
func TestBurst(t *testing.T) {
	s := together(900, 100, 1)
	b := &burst{measurement: &measurement{options: &options{subject: prometheus}, out: result{size: s}}, count: 1000, sent: make([]time.Time, 1000), took: make([]time.Duration, 1000)}
	next := b.pick()
	seen, kinds := map[string]bool{}, map[string]int{}
	for i := range b.count {
		kind, object := next(i)
		seen[fmt.Sprint(kind.one, object)] = true
		kinds[kind.one]++
	}
	if len(seen) != 1000 || kinds["rule"] != 100 {
		t.Errorf("%d objects of %v", len(seen), kinds)
	}
	b.sent[7] = time.Now()
	for range 2 {
		b.note(b.sent[7].Add(time.Second), "x tier-of-change-7- and changed-5000-times")
	}
	if b.seen != 1 || b.took[7] != time.Second {
		t.Errorf("%d seen, after %s", b.seen, b.took[7])
	}
}

// An object is stored with everything that the API server adds, but for what is its own.
func TestStored(t *testing.T) {
	const like = `{"apiVersion":"monitoring.coreos.com/v1","kind":"PrometheusRule","metadata":{"name":"a","namespace":"b","uid":"1","generation":1,` +
		`"labels":{"x":"y"},"managedFields":[{"manager":"bench"}]},"spec":{"groups":[]}}`
	raw, err := stored([]byte(like), rule(7), "team-09")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		APIVersion, Kind string
		Metadata         struct {
			Name, Namespace, UID string
			Generation           int
			Labels               map[string]string
			ManagedFields        []struct{ Manager string }
		}
		Spec struct{ Groups []struct{ Name string } }
	}
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	m := got.Metadata
	if got.Kind != "PrometheusRule" || m.Name != "alerts-00007" || m.Namespace != "team-09" || len(m.UID) != 36 || m.Generation != 1 || m.Labels["team"] != "team-07" ||
		m.Labels["x"] != "" || len(m.ManagedFields) != 1 || len(got.Spec.Groups) != 1 || got.Spec.Groups[0].Name != "alerts-00007.rules" {
		t.Errorf("%s", raw)
	}
}

// Every object is written once, in transactions that etcd accepts.
func TestPutAll(t *testing.T) {
	var mu sync.Mutex
	got := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(r.Body)
		var in struct {
			Success []struct{ RequestPut pair }
		}
		if err := json.Unmarshal(raw, &in); err != nil || r.URL.Path != "/v3/kv/txn" || len(in.Success) == 0 || len(in.Success) > 128 || len(raw) > 1_500_000*4/3 {
			t.Errorf("%s: %d bytes, %d objects, %v", r.URL.Path, len(raw), len(in.Success), err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, put := range in.Success {
			got[string(put.RequestPut.Key)+string(put.RequestPut.Value[:1])]++
		}
		fmt.Fprintf(w, `{"succeeded": %t}`, err == nil)
	}))
	defer server.Close()
	s := newStore(server.URL)
	most := 0
	err := s.putAll(t.Context(), 1, 1001, func(i int) (pair, error) {
		return pair{fmt.Appendf(nil, "key-%d=", i), []byte(strings.Repeat("v", 1+i%3*20_000))}, nil
	}, func(done int) {
		mu.Lock()
		defer mu.Unlock()
		most = max(most, done)
	})
	if err != nil || len(got) != 1000 || most != 1000 {
		t.Errorf("%d objects, %d, %v", len(got), most, err)
	}
	for key, n := range got {
		if n != 1 {
			t.Errorf("%s was written %d times", key, n)
		}
	}
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no space", http.StatusInsufficientStorage)
	}))
	defer failing.Close()
	one := func(int) (pair, error) { return pair{}, nil }
	if err := newStore(failing.URL).putAll(t.Context(), 0, 5, one, func(int) {}); err == nil || !strings.Contains(err.Error(), "no space") {
		t.Errorf("%v", err)
	}
}

// Writes of the operator are counted, once, and those of others and questions about permissions are not.
func TestAuditLog(t *testing.T) {
	a, args, err := newAuditLog()
	if err != nil || len(args) == 0 {
		t.Fatal(err)
	}
	add := func(lines ...string) {
		t.Helper()
		f, err := os.OpenFile(a.file(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(strings.Join(lines, "\n")); err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		got, err := a.writes()
		if err != nil || fmt.Sprint(got) != want {
			t.Errorf("%v, %v, want %s", got, err, want)
		}
	}
	event := func(verb, agent, object string) string {
		return fmt.Sprintf(`{"verb": %q, "userAgent": %q, "objectRef": {%s}}`, verb, agent, object)
	}
	add(event("update", "PrometheusOperator/0.1.0", `"resource": "secrets"`), event("patch", "bench/v0", `"resource": "servicemonitors"`),
		event("create", "PrometheusOperator/0.1.0", `"resource": "selfsubjectaccessreviews", "apiGroup": "authorization.k8s.io"`),
		event("update", "PrometheusOperator/0.1.0", `"resource": "prometheuses", "subresource": "status"`), `{"verb": "upd`)
	check("map[update prometheuses/status:1 update secrets:1]")
	add(`ate", "userAgent": "PrometheusOperator/0.1.0", "objectRef": {"resource": "configmaps"}}`, "")
	check("map[update configmaps:1]")
	check("map[]")
	add("not JSON\n")
	if _, err := a.writes(); err == nil {
		t.Error("a broken log is read")
	}
	if err := a.remove(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(a.dir); !os.IsNotExist(err) {
		t.Errorf("%v", err)
	}
}

// The whole command works against a real API server, at small sizes (two minutes; on demand).
func TestQuick(t *testing.T) {
	if os.Getenv("FIREKEEPER_LOAD") == "" {
		t.Skip("set FIREKEEPER_LOAD=1 for a run of make envelope at small sizes")
	}
	dir := t.TempDir()
	program, err := trial.Build(dir, "operator")
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "envelope.md")
	if err := run(context.Background(), []string{"envelope", "--quick", "--operator=" + program, "--crds=../../../deploy/crds", "--out=" + out}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range envelope.Parts {
		if !strings.Contains(string(text), "### "+p.Title) {
			t.Errorf("no part %s in\n%s", p.Name, text)
		}
	}
	for line := range strings.Lines(string(text)) {
		if cells, is := strings.CutPrefix(line, "| writes of the restart | "); is && strings.Trim(cells, "0 |\n") != "" {
			t.Errorf("a restart writes: %s", line)
		}
	}
}
