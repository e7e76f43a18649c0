package outages

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/dev/scene/scenetest"
)

// record is how a target was scraped by the replicas with the same number, whose samples are one series for readers
// that leave out duplicates.
type record struct {
	// worst is the longest time between two scrapes, or since the last one.
	worst time.Duration
	since time.Time // the scrape before it
	// moves is how often another shard began to scrape it, extra the number of scrapes that one shard would not
	// have made.
	moves, extra int
}

// byReplica returns the scrapes until a time by the replicas with a number.
func byReplica(all []scenetest.Scrape, replica int, until time.Time) []scenetest.Scrape {
	return slices.DeleteFunc(slices.Clone(all), func(one scenetest.Scrape) bool {
		return !strings.HasSuffix(one.By, "-"+strconv.Itoa(replica)) || one.At.After(until)
	})
}

// recordOf returns the record of a target until a time.
func recordOf(all []scenetest.Scrape, replica int, interval time.Duration, until time.Time) (out record) {
	all = byReplica(all, replica, until)
	if len(all) == 0 {
		return record{worst: 1 << 62}
	}
	last := map[string]time.Time{all[0].By: all[0].At} // by pod
	for i, one := range all {
		next := until
		if i+1 < len(all) {
			next = all[i+1].At
		}
		if gap := next.Sub(one.At); gap > out.worst {
			out.worst, out.since = gap, one.At
		}
		if at, known := last[one.By]; i > 0 && all[i-1].By != one.By && (!known || one.At.Sub(at) > 5*interval/2) {
			out.moves++
		}
		last[one.By] = one.At
	}
	slots := all[len(all)-1].At.Sub(all[0].At).Round(interval)/interval + 1
	out.extra = max(0, len(all)-int(slots))
	return out
}

// scrapesOf parses scrapes such as "a-0@0 b-0@3": pods, and seconds since 1970.
func scrapesOf(t *testing.T, text string) (out []scenetest.Scrape) {
	t.Helper()
	for one := range strings.FieldsSeq(text) {
		by, second, _ := strings.Cut(one, "@")
		n, err := strconv.Atoi(second)
		must(t, err)
		out = append(out, scenetest.Scrape{At: time.Unix(int64(n), 0), By: by})
	}
	return out
}

// The record of a target shows gaps, moves and doubled scrapes of each replica.
func TestRecord(t *testing.T) {
	for text, want := range map[string]string{
		"a-0@0 a-0@3 a-0@6":                   "4s since 6, 0 moves, 0 more",
		"a-0@0 a-0@3 b-0@5 a-0@6 b-0@8":       "3s since 0, 1 moves, 1 more",
		"a-0@0 a-0@3 b-0@8":                   "5s since 3, 1 moves, 0 more",
		"a-0@0 a-1@1 a-1@4 a-1@7 a-0@8":       "8s since 0, 0 moves, 0 more",
		"a-0@0 b-0@2 b-0@5 b-0@8 a-0@9 b-0@9": "3s since 2, 2 moves, 2 more",
		"a-1@0":                               "never",
		"a-0@0 a-0@3 a-0@6 a-0@9 a-0@12":      "3s since 0, 0 moves, 0 more",
	} {
		r := recordOf(scrapesOf(t, text), 0, 3*time.Second, time.Unix(10, 0))
		got := fmt.Sprintf("%s since %d, %d moves, %d more", r.worst, r.since.Unix(), r.moves, r.extra)
		if r.worst > time.Hour {
			got = "never"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
