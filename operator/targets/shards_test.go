package targets

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// shardsOf returns the variables of n shards.
func shardsOf(n int) (out []map[string]string) {
	for i := range n {
		out = append(out, map[string]string{"SHARD": fmt.Sprint(i)})
	}
	return out
}

// sharded returns a job with static targets that shards share by their hash.
func sharded(targets string) string {
	return `
- job_name: a
  static_configs: [{targets: [` + targets + `]}]
  relabel_configs:
  - {source_labels: [__address__], target_label: __tmp_hash, modulus: 4, action: hashmod}
  - {source_labels: [__tmp_hash], regex: $(SHARD), action: keep}
  - {target_label: shard, replacement: "s$(SHARD)"}
`
}

// The static targets of a job are parsed once, not for each shard.
func TestManyShardsOfManyTargets(t *testing.T) {
	text := []byte(sharded(budgettest.Numbered(5000, `"t%d:1",`)))
	parse := func(shards int) func() {
		return func() {
			if _, err := ReadJobs(promconfig.JobText{Text: text, Origins: [][]promconfig.Origin{make([]promconfig.Origin, 3)}, Shards: shardsOf(shards)}); err != nil {
				t.Error(err)
			}
		}
	}
	budgettest.AtMost(t, "200 shards", 3*budgettest.Allocated(parse(1)), parse(200))
}

// A text is read to the same jobs whether it is parsed once or for each shard.
func TestShardsOfOneText(t *testing.T) {
	evaluate := func(text string) (out []Target) {
		return read(t, text, 3, shardsOf(4)...).Evaluate(Found{}).Targets()
	}
	text := sharded(budgettest.Numbered(50, `"t%d:1",`))
	once, each := evaluate(text), evaluate("# & is in a comment\n"+text)
	if diff := cmp.Diff(each, once); diff != "" {
		t.Error(diff)
	}
	for _, target := range once {
		if len(target.Shards) != 1 {
			t.Errorf("%s is on %v", target.URL, target.Shards)
		}
	}
	faulty := strings.Replace(text, "regex: $(SHARD)", "regex: ($(SHARD)", 1)
	if _, err := ReadJobs(promconfig.JobText{Text: []byte(faulty), Origins: [][]promconfig.Origin{make([]promconfig.Origin, 3)}, Shards: shardsOf(4)}); err == nil {
		t.Error("a faulty expression is accepted")
	}
}
