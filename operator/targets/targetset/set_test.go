package targetset

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// read parses one job with a number of relabel steps.
func read(t testing.TB, text string, steps, shards int) *targets.Job {
	t.Helper()
	d := promconfig.JobText{Text: []byte(text), Origins: [][]promconfig.Origin{make([]promconfig.Origin, steps)}}
	for i := range steps {
		d.Origins[0][i].Path = fmt.Sprint("step ", i+1)
	}
	for i := range shards {
		d.Shards = append(d.Shards, map[string]string{"SHARD": fmt.Sprint(i)})
	}
	jobs, err := targets.ReadJobs(d)
	if err != nil {
		t.Fatal(err)
	}
	return &jobs[0]
}

// overlapping is a job in which several targets become equal, some of them on all shards.
const overlapping = `- job_name: a
  target_limit: %d
  static_configs: [{targets: ['a:1', 'b:1', 'a:1']}]
  relabel_configs:
  - {action: keep, source_labels: [app], regex: (web.*|)}
  - {action: drop, source_labels: [state], regex: gone}
  - {source_labels: [__address__], target_label: __tmp_hash, action: hashmod, modulus: 2}
  - {source_labels: [all, __tmp_hash], separator: '', regex: 'yes.', target_label: __tmp_hash, replacement: '$(SHARD)'}
  - {action: keep, source_labels: [__tmp_hash], regex: $(SHARD)}
  - {source_labels: [to], regex: (.+), target_label: __address__}
  - {action: labeldrop, regex: to|all|state|instance}
`

func randomGroup(r *rand.Rand, source string) *targetgroup.Group {
	of := func(words ...string) model.LabelValue { return model.LabelValue(words[r.Intn(len(words))]) }
	out := &targetgroup.Group{Source: source, Labels: model.LabelSet{"app": of("web", "web-2", "db")}}
	for range r.Intn(6) {
		out.Targets = append(out.Targets, model.LabelSet{"__address__": of("a:1", "b:1", "c:1", "d:1", "/x"), "to": of("", "", "x:1", "a:1"), "all": of("", "yes"), "state": of("", "", "", "gone")})
	}
	return out
}

// put adds a group as [Followed] does: without its targets if a step drops all of them.
func put(s *Set, key Key, group *targetgroup.Group) (changed bool) {
	d := s.job.Dropper()
	step := d.Step(d.Outline(group.Labels, func(name model.LabelName) bool {
		return slices.ContainsFunc(group.Targets, func(of model.LabelSet) bool { _, has := of[name]; return has })
	}))
	if step >= 0 && len(group.Targets) > 0 {
		return s.drop(key, drops{int32(step), int32(len(group.Targets))})
	}
	return s.Put(key, group)
}

// wanted returns the counts of a job that evaluates all groups at once.
func wanted(j *targets.Job, groups map[Key]*targetgroup.Group) Counts {
	var found targets.Found
	for _, key := range slices.SortedFunc(maps.Keys(groups), Key.Compare) {
		found.Groups = append(found.Groups, groups[key])
	}
	result := j.Evaluate(found)
	out := Counts{States: result.Counts(), Dropped: result.DroppedBy(), Shards: make([]int, j.Shards())}
	for shard := range out.Shards {
		out.Shards[shard] = result.OnShard(shard).Counts()[targets.Kept]
	}
	return out
}

// After any changes in any order, a set equals an evaluation of all groups at once.
func TestSetIsTheWhole(t *testing.T) {
	seen := map[targets.State]int{}
	for _, limit := range []int{0, 3} {
		j := read(t, fmt.Sprintf(overlapping, limit), 7, 2)
		for seed := range int64(8) {
			r := rand.New(rand.NewSource(seed))
			s, groups := newSet(j), map[Key]*targetgroup.Group{}
			for step := range 60 {
				key := Key{r.Intn(2), fmt.Sprint("svc/a/", r.Intn(5))}
				before := s.Counts()
				var changed bool
				if r.Intn(4) == 0 {
					delete(groups, key)
					changed = s.Put(key, nil)
				} else {
					groups[key] = randomGroup(r, key.Source)
					changed = put(s, key, groups[key])
				}
				got := s.Counts()
				if diff := cmp.Diff(wanted(j, groups), got); diff != "" {
					t.Fatalf("limit %d, seed %d, step %d: (-all at once +set)\n%s", limit, seed, step, diff)
				}
				if !changed && !cmp.Equal(before, got) {
					t.Fatal("a change is not reported")
				}
				if key, group := key, groups[key]; s.Put(key, group) {
					t.Fatal("the same group is a change")
				}
				for state, n := range got.States {
					seen[state] += n
				}
			}
			for key := range groups {
				s.Put(key, nil)
			}
			if n := len(s.parts) + len(s.wholes.pages) + len(s.holders.one) + len(s.holders.others); n != 1+2 {
				t.Errorf("%d parts and holders stay of the static targets", n)
			}
		}
	}
	for _, state := range []targets.State{targets.Kept, targets.Dropped, targets.Invalid, targets.Duplicate, targets.OverLimit} {
		if seen[state] == 0 {
			t.Errorf("no target is %s", state)
		}
	}
}
