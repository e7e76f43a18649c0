package targets

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// wantsInventory compares the next inventory with the wanted one.
func (r *reported) wantsInventory(what, want string) {
	r.t.Helper()
	text, err := r.inventory(r.t.Context(), r.now)
	must(r.t, err)
	var head targetreport.Inventory
	var lines []string
	must(r.t, targetreport.ReadInventory(bytes.NewReader(text), func(i targetreport.Inventory) error { head = i; return nil },
		func(job, address string, target targetreport.InventoryTarget) error {
			line := job + " " + address
			if target.Series != nil {
				line += fmt.Sprintf(" %d series", *target.Series)
			}
			if target.Scraped {
				line += " scraped"
			}
			lines = append(lines, line)
			return nil
		}))
	slices.Sort(lines)
	got := head.Version
	if head.Blind {
		got += " blind"
	}
	if diff := cmp.Diff(want, got+": "+strings.Join(lines, ", ")); diff != "" {
		r.t.Errorf("%s: %s", what, diff)
	}
}

// An inventory has all targets of the list, with their state in Prometheus.
func TestInventory(t *testing.T) {
	r := newReported(t)
	r.prometheus.Query = r.prometheus.Targets.ResolveReference(&url.URL{Path: "/api/v1/query"})
	r.active = append(r.active, "a 10.0.0.2:80 b") // with other labels
	r.wantsInventory("before Prometheus requests anything", "3-7: a 10.0.0.1:80, a 10.0.0.2:80, b 10.0.0.1:80")
	r.pass(5*time.Second, "a", "b")
	r.scrapedAt(r.now.Add(time.Hour))
	r.series = map[string]string{"a 10.0.0.1:80": "412", "a 10.0.0.2:80": "5", "a 10.0.0.2:80 b": "7", "own 10.0.0.9:80": "9000"}
	r.wantsInventory("scraped", "3-7: a 10.0.0.1:80 412 series scraped, a 10.0.0.2:80 12 series scraped, b 10.0.0.1:80 scraped")
	r.failing = map[string]bool{"a 10.0.0.1:80": true}
	r.series["a 10.0.0.1:80"] = "0"
	r.wantsInventory("with a target that is down", "3-7: a 10.0.0.1:80 scraped, a 10.0.0.2:80 12 series scraped, b 10.0.0.1:80 scraped")
	r.scrapes["a 10.0.0.2:80 b"] = time.Time{}
	r.wantsInventory("one of two is not scraped", "3-7: a 10.0.0.1:80 scraped, a 10.0.0.2:80 12 series, b 10.0.0.1:80 scraped")
	r.series["a 10.0.0.1:80"] = "many"
	r.wantsInventory("an answer that is not of Prometheus", "3-7: a 10.0.0.1:80 scraped, a 10.0.0.2:80, b 10.0.0.1:80 scraped")
	r.series = nil // an agent
	r.wantsInventory("without a query", "3-7: a 10.0.0.1:80 scraped, a 10.0.0.2:80, b 10.0.0.1:80 scraped")
	must(t, feedAt(r.list, r.now, `{"begin":{"version":"3-8","from":"3-7","jobs":1}}{"job":"a","groups":[{"targets":["10.0.0.1:80","10.0.0.1:80"]}]}{"end":{"version":"3-8"}}`))
	r.wantsInventory("changed", "3-8: a 10.0.0.1:80, b 10.0.0.1:80 scraped")
	for what, set := range map[string]*bool{"away": &r.down, "refused": &r.refuse} {
		*set = true
		r.wantsInventory(what, "3-8 blind: a 10.0.0.1:80, b 10.0.0.1:80")
		*set = false
	}
	r.prometheus.Targets = nil
	r.wantsInventory("unknown", "3-8 blind: a 10.0.0.1:80, b 10.0.0.1:80")
}

// The memory for the targets of Prometheus is limited.
func TestInventoryOfTooMany(t *testing.T) {
	r := newReported(t)
	_, jobs := r.list.snapshot()
	for most, want := range map[int]string{3: "<nil>", 2: "too many targets"} {
		a := newAssessment(maphash.MakeSeed(), most)
		err := a.query(t.Context(), r.prometheus, jobs, nil)
		if got := fmt.Sprint(err); !strings.Contains(got, want) || len(a.targets) != most {
			t.Errorf("at most %d: %d, %v", most, len(a.targets), err)
		}
	}
}
