package truth

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v2"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/discoverytest"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/lister"
)

// seeds returns the number of random scenarios.
func seeds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("FIREKEEPER_TRUTH")
	if text == "" {
		return 5
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("FIREKEEPER_TRUTH is a number of scenarios: %v", err)
	}
	return n
}

// tally counts the compared targets.
type tally struct {
	mu       sync.Mutex
	states   map[targets.State]int
	shards   int
	active   int
	dropped  int
	rejected int
}

func (c *tally) add(states map[targets.State]int, ours []map[string]seen, rejected int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for state, n := range states {
		c.states[state] += n
	}
	c.rejected += rejected
	for _, shard := range ours {
		c.shards++
		for _, job := range shard {
			c.active += len(job.Active)
			c.dropped += job.Dropped
		}
	}
}

// batch is the number of scenarios that share a cluster and servers, because those need seconds to start and to discover.
const batch = 5

// The operator's result for random workloads matches the targets of Prometheus.
func TestRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real servers, which -short leaves out")
	}
	n := seeds(t)
	for _, release := range releases(t) {
		t.Run(release.version, func(t *testing.T) {
			total := &tally{states: map[targets.State]int{}}
			t.Run("scenarios", func(t *testing.T) {
				for first := 0; first < n; first += batch {
					t.Run(strconv.Itoa(first), func(t *testing.T) {
						t.Parallel()
						compareScenarios(t, release, first, total)
					})
				}
			})
			t.Logf("%d scenarios, %d shards: %d active and %d dropped targets compared; states %v; %d monitors rejected",
				n, total.shards, total.active, total.dropped, total.states, total.rejected)
			for _, state := range []targets.State{targets.Kept, targets.Dropped} {
				if total.states[state] < 10*n {
					t.Errorf("only %d targets of %d scenarios are %s", total.states[state], n, state)
				}
			}
		})
	}
}

// compareScenarios compares the scenarios of a batch in one cluster.
func compareScenarios(t *testing.T, p program, first int, total *tally) {
	t.Helper()
	api := &discoverytest.Server{}
	var features []string
	if first/batch%3 == 1 {
		features = []string{"no-default-scrape-port"} // a feature of Prometheus 2
	}
	var scenarios []*input
	for i := range batch {
		r := random{rand.New(rand.NewPCG(uint64(first+i), 1)), t, fmt.Sprintf("w%d-", i)}
		api.Add(r.cluster()...)
		if i == 0 {
			api.Add(r.nodes()...)
		}
		scenarios = append(scenarios, r.workload(features...))
	}
	h := httptest.NewServer(api)
	t.Cleanup(h.Close)
	t.Cleanup(h.CloseClientConnections) // runs before Close, which would wait for open watches
	kube, err := kubernetes.NewForConfig(&rest.Config{Host: h.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	compare(t, p, scenarios, lister.Cluster{Kube: kube}, kubeconfig(h.URL), total)
}

// compare compares scenarios in a cluster. There is one server for each shard number.
func compare(t *testing.T, p program, scenarios []*input, cluster lister.Cluster, kubeconfig string, total *tally) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(file, []byte(kubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	var want []map[string]seen // by shard
	var docs [][]yaml.MapSlice
	for _, w := range scenarios {
		c, rejected := w.compile(t, p.version)
		for _, err := range rejected {
			t.Logf("rejected: %v", err)
		}
		ours, states := c.ours(t.Context(), t, cluster, w.prometheus.Namespace, "prometheus")
		total.add(states, ours, len(rejected))
		for shard, jobs := range ours {
			if shard == len(want) {
				want, docs = append(want, map[string]seen{}), append(docs, nil)
			}
			maps.Copy(want[shard], jobs)
			docs[shard] = append(docs[shard], c.forShard(t, shard, file, w.prometheus.Namespace))
		}
	}
	var servers []server
	for shard := range want {
		servers = append(servers, p.run(t, merge(t, docs[shard]...), scenarios[0].prometheus.Spec.EnableFeatures...))
	}
	for shard, got := range settle(t, servers, want) {
		if diff := cmp.Diff(got, want[shard]); diff != "" {
			t.Errorf("shard %d (-Prometheus +ours)\n%s\n%s", shard, diff, keep(t, merge(t, docs[shard]...)))
		}
	}
}

// keep saves a configuration for debugging.
func keep(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(os.TempDir(), fmt.Sprintf("truth-%d.yaml", os.Getpid()))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err.Error()
	}
	return "the configuration is in " + path
}
