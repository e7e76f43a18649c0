package allocation_test

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	v1alpha1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// The key, zone and hash of a target determine the shard on which its job keeps it.
func TestPlacementIsThatOfTheSteps(t *testing.T) {
	single, everywhere, zoned, keyed := 0, 0, 0, 0
	for seed := range uint64(80) {
		r := random{rand.New(rand.NewPCG(seed, 2))}
		d := r.compiled(t)
		jobs, err := targets.ReadJobs(d)
		if err != nil {
			t.Fatalf("%v\n%s", err, d.Text)
		}
		zones := map[string]bool{}
		for _, variables := range d.Shards {
			zones[variables["TOPOLOGY_ZONE"]] = true
		}
		result, _ := jobs[0].Group(r.group())
		for i, row := range result.Rows {
			p, ok := result.Placement(i)
			if ok != (row.State == targets.Kept) {
				t.Fatalf("seed %d: %t for a target that is %s", seed, ok, row.State)
			}
			switch {
			case !ok:
			case p.Everywhere:
				everywhere++ // unless other targets have the same labels
			default:
				single++
				if p.Zone != "" {
					zoned++
				}
				if p.Key != row.Label("__address__") {
					keyed++
				}
				hash := strconv.Itoa(result.Hash(p.Key, max(1, len(d.Shards)/len(zones))))
				var want []int
				for shard, variables := range d.Shards {
					position, in := variables["INZONE_SHARD"]
					if !in {
						position = variables["SHARD"]
					}
					if hash == position && (!in || variables["TOPOLOGY_ZONE"] == p.Zone) {
						want = append(want, shard)
					}
				}
				if !slices.Equal(want, row.Shards) {
					t.Fatalf("seed %d: %+v is on shards %v, and by its hash on %v\n%s", seed, p, row.Shards, want, d.Text)
				}
			}
		}
	}
	if min(single, everywhere, zoned, keyed) < 50 {
		t.Errorf("%d on one shard, %d on all, %d with a zone, %d with another key: too few to show anything", single, everywhere, zoned, keyed)
	}
}

// A claim is a number of series. Jobs that hash themselves have no placement.
func TestPlacementOf(t *testing.T) {
	p := &v1.Prometheus{ObjectMeta: metav1.ObjectMeta{Namespace: "monitoring", Name: "k8s"}}
	read(t, "{shards: 3}", &p.Spec)
	s, err := promconfig.ServerSettings(p, promconfig.Capabilities{})
	if err != nil {
		t.Fatal(err)
	}
	for steps, want := range map[string]string{
		"[{sourceLabels: [claim], targetLabel: __tmp_shard_weight}, {targetLabel: __tmp_hash, replacement: k}]": "k 700, k none, k none, k none",
		"[]": "a:1 none, b:1 none, c:1 none, d:1 none",
		"[{sourceLabels: [__address__], targetLabel: __tmp_own, modulus: 3, action: hashmod}, {sourceLabels: [__tmp_own], regex: $(SHARD), action: keep}]": "not placed, not placed, not placed, not placed",
	} {
		m := &v1alpha1.ScrapeConfig{ObjectMeta: metav1.ObjectMeta{Namespace: "demo", Name: "web"}}
		read(t, "{relabelings: "+steps+"}", &m.Spec)
		f := promconfig.CompileScrapeConfig(m, s.WithOrigins(), &assets.Static{})
		if f.Err != nil {
			t.Fatal(f.Err)
		}
		jobs, err := targets.ReadJobs(promconfig.JobText{Text: f.YAML, Origins: f.Origins, Shards: s.ShardVariables()})
		if err != nil {
			t.Fatal(err)
		}
		result, _ := jobs[0].Group(&targetgroup.Group{Targets: []model.LabelSet{
			{"__address__": "a:1", "claim": "700"}, {"__address__": "b:1", "claim": "-1"}, {"__address__": "c:1", "claim": "many"}, {"__address__": "d:1"},
		}})
		got := ""
		for i := range result.Rows {
			if i > 0 {
				got += ", "
			}
			switch p, ok := result.Placement(i); {
			case !ok:
				got += "not placed"
			case p.Claim == nil:
				got += p.Key + " none"
			default:
				got += p.Key + " " + strconv.FormatUint(*p.Claim, 10)
			}
		}
		if got != want {
			t.Errorf("%s: %s, want %s", steps, got, want)
		}
	}
}

// A few units of one series each are divided evenly: fractions of a series are not rounded down.
func TestFillWithFewSeries(t *testing.T) {
	for _, first := range []int{3, 4, 6} {
		p := allocation.New([]allocation.Shard{{Name: "a"}, {Name: "b"}, {Name: "c"}})
		for i := range first * 2 {
			id := allocation.ID{Namespace: "demo", Key: strconv.Itoa(i)}
			p.Put(allocation.Unit{ID: id, Weight: allocation.WeightOf(1)})
			p.Assign(id, []string{"a", "b"}[i%2])
		}
		p.Settle(allocation.Limits{Fill: true})
		for _, l := range p.Loads() {
			if even := first * 2 / 3; l.Units < even || l.Units > even+1 {
				t.Errorf("%d units: %s has %d", first*2, l.Shard, l.Units)
			}
		}
	}
}
