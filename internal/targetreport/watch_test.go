package targetreport

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A watch that fits is accepted by the pod, and its answer fits into a report with any number of jobs.
func TestWatch(t *testing.T) {
	for name, unit := range map[string]func(i int) WatchUnit{
		"small": func(i int) WatchUnit {
			return WatchUnit{fmt.Sprintf("%016d", i), map[string][]string{"a": {"10.0.0.7:8080"}}}
		},
		"many targets": func(i int) WatchUnit {
			return WatchUnit{fmt.Sprint("u", i), map[string][]string{"a": slices.Repeat([]string{"b"}, 600), "c": {"d"}}}
		},
		"large": func(i int) WatchUnit {
			return WatchUnit{fmt.Sprint("u", i), map[string][]string{strings.Repeat("<", MaxName): {strings.Repeat("\x01", MaxName)}}}
		},
	} {
		w := Watch{Seq: 1<<64 - 1}
		for i := 0; w.Add(unit(i)); i++ {
		}
		text, err := json.Marshal(w)
		if err != nil {
			t.Fatal(err)
		}
		got, err := DecodeWatch(text)
		if err != nil || cmp.Diff(w.Units, got.Units) != "" || got.Seq != w.Seq {
			t.Errorf("%s: %d units of %d, %v", name, len(got.Units), len(w.Units), err)
		}
		if len(w.Units) < 10 {
			t.Errorf("%s: only %d units fit", name, len(w.Units))
		}
		r := Report{Version: strings.Repeat("<", MaxName), Watch: 1, Boot: 1<<64 - 1, Seq: 1, Fetched: "7-3"}
		for _, u := range w.Units {
			r.Scraped = append(r.Scraped, u.ID)
		}
		for i := range 1000 {
			r.Jobs = append(r.Jobs, Job{Job: fmt.Sprint(strings.Repeat("j", 500), i)})
		}
		text, err = r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode(text)
		if err != nil || cmp.Diff(r.Scraped, back.Scraped) != "" || len(back.Jobs)+back.More != 1000 || len(back.Jobs) < 5 {
			t.Errorf("%s: %d units, %d jobs and %d more, %v", name, len(back.Scraped), len(back.Jobs), back.More, err)
		}
	}
	var w Watch
	for _, u := range []WatchUnit{{ID: "a"}, {ID: "a b", Targets: map[string][]string{"a": {"b"}}}, {Targets: map[string][]string{"a": {"b"}}},
		{"a", map[string][]string{"a": {strings.Repeat("b", MaxName+1)}}}} {
		if w.Add(u) {
			t.Errorf("%.100v was added", u)
		}
	}
}

// What exceeds the limits is refused.
func TestDecodeWatchRefuses(t *testing.T) {
	units := func(one string, n int) string {
		out := make([]string, n)
		for i := range out {
			out[i] = fmt.Sprintf(one, i)
		}
		return `{"units":[` + strings.Join(out, ",") + `]}`
	}
	for text, want := range map[string]string{
		`[]`: "not valid",
		`{"seq":` + strings.Repeat("1", MaxWatch) + `}`:                                                  "more than 262144 bytes",
		units(`{"id":"u%d","targets":{"a":["b"]}}`, MaxWatchUnits+1):                                     "more than 1000 units",
		units(`{"id":"u%d","targets":{"a":["b"`+strings.Repeat(`,"b"`, 99)+`]}}`, MaxWatchTargets/100+1): "more than 10000 targets",
		units(`{"id":"u%d","targets":{}}`, 1):                                                            `unit "u0"`,
		units(`{"id":"u%[1]d`+strings.Repeat("0", MaxUnitID)+`","targets":{"a":["b"]}}`, 1):              `unit "u00`,
		`{"units":[{"id":"u","targets":{"a":["b"]}},{"id":"u","targets":{"a":["b"]}}]}`:                  "occurs twice",
		`{"units":[{"id":"\u0001","targets":{"a":["b"]}}]}`:                                              "too long or",
		`{"units":[{"id":"u","targets":{"a":["` + strings.Repeat("b", MaxName+1) + `"]}}]}`:              "too long or",
		`{"units":[{"id":"u","targets":{"` + strings.Repeat("b", MaxName+1) + `":["b"]}}]}`:              "too long or",
	} {
		_, err := DecodeWatch([]byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, want %q", text, err, want)
		}
	}
}

// No watch makes DecodeWatch panic or return what Add would not add.
func FuzzDecodeWatch(f *testing.F) {
	f.Add([]byte(`{"seq":3,"units":[{"id":"u17","targets":{"serviceMonitor/demo/web/0":["10.0.0.7:8080"]}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := DecodeWatch(text)
		if err != nil {
			return
		}
		for _, u := range got.Units {
			if !u.valid() {
				t.Errorf("%v", u)
			}
		}
	})
}
