package insight_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/golden"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/preview"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/status"
	"github.com/firekeeper-dev/firekeeper/operator/engine/delivery"
	"github.com/firekeeper-dev/firekeeper/operator/engine/timeline"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// TestAnswers runs requests on the clusters in golden files.
//
//	cluster.yaml   the objects of the cluster
//	rights         permissions of the caller, one per line ("get prometheuses demo"); default: all
//	refuses        resources that the reader may not list
//	counts         target counts of workloads as JSON, by "Kind namespace/name"
//	loads          configurations that pods run as JSON, by "namespace/pod"
//	changes        last changes of Prometheus objects as JSON, by "namespace/name"
//	want/PATH      the response to a request, see ask
func TestAnswers(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c golden.Case, name string) ([]byte, error) {
		text, _ := c.Input("cluster.yaml")
		s := loaded(t, text)
		if refuses, ok := c.Input("refuses"); ok {
			s.refuses = strings.Split(strings.TrimSpace(string(refuses)), "\n")
		}
		rights := everything
		if lines, ok := c.Input("rights"); ok {
			rights = strings.Split(strings.TrimSpace(string(lines)), "\n")
		}
		var known insight.TargetSource
		if text, ok := c.Input("counts"); ok {
			known = countsOf(t, text)
		}
		a := answers(t, s, known)
		if text, ok := c.Input("loads"); ok {
			a.Loaded = loadsOf(t, text)
		}
		if text, ok := c.Input("changes"); ok {
			a.Timeline = changesOf(t, text)
		}
		answer, err := ask(t, a, rights, c, name)
		if err != nil {
			return []byte("error: " + err.Error() + "\n"), nil
		}
		out, err := encode(answer)
		for _, secret := range []string{"canary", "cnry"} {
			if i := strings.Index(string(out), secret); i >= 0 {
				t.Errorf("%s: the answer has a credential: …%s", name, out[max(0, i-200):min(len(out), i+60)])
			}
		}
		return out, err
	})
}

// ask performs the request of a path: "overview", "sources/prometheuses/demo/main?state=rejected".
func ask(t *testing.T, a insight.Answers, rights access.Rights, c golden.Case, path string) (any, error) {
	t.Helper()
	u, err := url.Parse(path)
	if err != nil {
		t.Fatal(err)
	}
	q, ctx := u.Query(), t.Context()
	page := insight.Page{Filter: q.Get("filter"), Limit: 100, Continue: q.Get("continue")}
	if q.Has("limit") {
		page.Limit, _ = strconv.Atoi(q.Get("limit"))
	}
	words := strings.Split(u.Path, "/")
	var o insight.Object
	if len(words) == 4 {
		o = insight.Object{Row: catalog.Word(words[1]), NamespacedName: types.NamespacedName{Namespace: words[2], Name: words[3]}}
	}
	switch words[0] {
	case "overview":
		return a.Overview(ctx, rights, insight.OverviewQuery{Page: page})
	case "workload":
		return a.Workload(ctx, rights, o)
	case "sources":
		return a.Sources(ctx, rights, o, insight.SourceQuery{Page: page, State: status.State(q.Get("state")), Kind: q.Get("kind")})
	case "rollout":
		return a.Rollout(ctx, rights, o, page)
	case "config":
		return a.Config(ctx, rights, o, insight.ConfigQuery{Page: page})
	case "explain":
		return a.Explain(ctx, rights, o)
	case "routes":
		return a.Routes(ctx, rights, o.NamespacedName, q["label"])
	case "preview":
		manifests, _ := c.Input("preview.yaml")
		return a.Preview(ctx, rights, manifests)
	}
	return nil, fmt.Errorf("nothing is called %s", path)
}

// loadsOf returns the loaded configurations of Prometheus pods.
func loadsOf(t *testing.T, text []byte) func(*catalog.Row, types.NamespacedName) delivery.Loaded {
	t.Helper()
	var in map[string]delivery.Loaded
	if err := json.Unmarshal(text, &in); err != nil {
		t.Fatal(err)
	}
	return func(of *catalog.Row, pod types.NamespacedName) delivery.Loaded {
		if of != catalog.Prometheus {
			return delivery.Loaded{}
		}
		return in[pod.String()]
	}
}

// changesOf returns the last changes of Prometheus objects.
func changesOf(t *testing.T, text []byte) func(*catalog.Row, types.NamespacedName) []timeline.Change {
	t.Helper()
	var in map[string][]timeline.Change
	if err := json.Unmarshal(text, &in); err != nil {
		t.Fatal(err)
	}
	return func(of *catalog.Row, key types.NamespacedName) []timeline.Change {
		if of != catalog.Prometheus {
			return nil
		}
		return in[key.String()]
	}
}

// counts is a TargetSource with fixed counts.
type counts map[string]*insight.TargetCounts

func countsOf(t *testing.T, text []byte) counts {
	t.Helper()
	var in map[string]struct {
		Counts   preview.Counts
		PerShard []int
		Unsynced bool
		Objects  map[string]preview.Counts
	}
	if err := json.Unmarshal(text, &in); err != nil {
		t.Fatal(err)
	}
	out := counts{}
	for w, c := range in {
		own := &insight.TargetCounts{Counts: c.Counts, PerShard: c.PerShard, Synced: !c.Unsynced, Objects: map[catalog.Ref]preview.Counts{}}
		for name, n := range c.Objects {
			kind, key, _ := strings.Cut(name, " ")
			namespace, name, _ := strings.Cut(key, "/")
			own.Objects[catalog.Ref{Kind: kind, Namespace: namespace, Name: name}] = n
		}
		out[w] = own
	}
	return out
}

// Targets implements [insight.TargetSource].
func (counts) Targets(context.Context, access.Rights, insight.TargetQuery) (*insight.Targets, error) {
	return &insight.Targets{}, nil
}

// Target implements [insight.TargetSource].
func (counts) Target(context.Context, access.Rights, insight.Object, string, string, string) (*insight.Trace, error) {
	return &insight.Trace{}, nil
}

// Counts implements [insight.TargetSource].
func (c counts) Counts(w catalog.Ref) *insight.TargetCounts { return c[w.String()] }

// encode encodes a response as indented JSON without HTML escapes.
func encode(answer any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(answer)
	return out.Bytes(), err
}
