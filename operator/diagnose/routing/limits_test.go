package routing

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
)

// The size of a report is known before it is encoded, at least within a factor of two.
func TestBytesAreThoseOfTheReport(t *testing.T) {
	receivers := "receivers:\n- name: r0\n- {name: r1, webhook_configs: [{url: 'http://a'}, {url: 'http://b'}]}\n- {name: r2, webhook_configs: [{url: 'http://a'}]}\n"
	rules := "inhibit_rules:\n- {source_matchers: [x=y], target_matchers: [a=1], equal: [a, b, c]}\n- {target_matchers: ['a=~.+'], source_matchers: ['<=\"\\\\\"']}\n"
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 2))
		c := parsed(t, strings.ReplaceAll(randomTree(r), "receivers: [{name: r0}, {name: r1}, {name: r2}]\n", receivers)+rules)
		q := Question{Labels: Labels{"a": "1"}, At: at, All: true}
		report := func(most int) (Report, error) {
			if seed%2 == 0 {
				return c.TreeWithin(Limits{Bytes: most}, at, Origins{File: "a"})
			}
			return c.RouteWithin(Limits{Bytes: most}, q, Origins{File: "a"})
		}
		whole, err := report(0)
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(whole)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := report(len(text) / 2); !errors.Is(err, ErrBytes) {
			t.Errorf("seed %d: half of %d bytes: %v\n%s", seed, len(text), err, text)
		}
		if _, err := report(2 * len(text)); err != nil {
			t.Errorf("seed %d: twice %d bytes: %v\n%s", seed, len(text), err, text)
		}
	}
}

// A report does not go on beyond its limits.
func TestMatchingIsLimited(t *testing.T) {
	routes := strings.Repeat("  - {matchers: ['a=~\"(.?){1000}\"'], continue: true}\n", 20)
	c := parsed(t, "route:\n  receiver: a\n  routes:\n"+routes+"receivers: [{name: a}]\n")
	for length, want := range map[int]error{1: nil, 100: ErrMatching} {
		q := Question{Labels: Labels{"a": model.LabelValue(strings.Repeat("x", length))}, At: at}
		out, err := c.RouteWithin(Limits{Matching: 1_000_000}, q, Origins{File: "a"})
		if !errors.Is(err, want) {
			t.Errorf("%d characters: %v", length, err)
		}
		if n := len(out.Route.Routes); (n == 20) != (want == nil) {
			t.Errorf("%d characters: %d routes match", length, n)
		}
	}
}
