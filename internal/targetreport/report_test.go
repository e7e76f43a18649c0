package targetreport

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// One side decodes the reports that the other encodes, for any content.
func TestEncode(t *testing.T) {
	small := Report{Version: "7-3", Boot: 1764230400000, Seq: 12, Fetched: "7-2", Watch: 3, Scraped: []string{"u17"}, Blind: true,
		Requested: 2, Served: 3, Active: 2, Compared: 1, Age: new(5), Jobs: []Job{
			{Job: "serviceMonitor/demo/web/0", Served: 2, Active: 1, Dropped: (*Targets)(nil).Add("10.0.0.1:80")},
			{Job: "serviceMonitor/demo/db/0", Fetched: "7-1", Served: 1, Active: 2, Unlisted: (*Targets)(nil).Add("10.0.0.2:80").Add("bad\nname")},
		}}
	large := Report{Version: "7-3"}
	for i := range 10_000 {
		j := Job{Job: fmt.Sprintf("serviceMonitor/demo/%s/%d", strings.Repeat("x", i%1100), i)}
		for k := range 100 {
			j.Missing = j.Missing.Add(fmt.Sprintf("%s:%d", strings.Repeat("é", i%600), k))
		}
		large.Jobs = append(large.Jobs, j)
	}
	for _, r := range []Report{{}, small, large, {Jobs: large.Jobs[1000:1001]}} {
		text, err := r.Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(text)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Jobs)+got.More != len(r.Jobs) {
			t.Errorf("%d jobs and %d more of %d", len(got.Jobs), got.More, len(r.Jobs))
		}
		if got.Jobs, got.More = r.Jobs, 0; cmp.Diff(r, got) != "" {
			t.Error(cmp.Diff(r, got))
		}
	}
	if n := small.Disagreements(); n != 3 {
		t.Errorf("%d disagreements", n)
	}
	text, err := small.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "bad") || !strings.Contains(string(text), `"unlisted":{"count":2,"names":["10.0.0.2:80"]}`) {
		t.Errorf("%s", text)
	}
}

// What exceeds the limits is refused, with the limit.
func TestDecodeRefuses(t *testing.T) {
	jobs := func(one string, n int) string { return `{"jobs":[` + strings.Repeat(one+",", n-1) + one + `]}` }
	for text, want := range map[string]string{
		`{"version":"` + strings.Repeat("1", MaxBytes) + `"}`: "more than 32768 bytes",
		`[]`:                           "not valid",
		`{"served":-1}`:                "number -1",
		`{"age":1000000000}`:           "number 1000000000",
		`{"version":"a\u0007"}`:        "not printable",
		jobs(`{"job":"a"}`, MaxJobs+1): "more than 100 jobs",
		`{"fetched":"a\u0007"}`:        "not printable",
		`{"boot":-1}`:                  "not valid",
		`{"scraped":["u1","a b"]}`:     `unit "a b"`,
		`{"scraped":["` + strings.Repeat("u", MaxUnitID+1) + `"]}`:               `unit "uuu`,
		`{"scraped":["u"` + strings.Repeat(`,"u"`, MaxWatchUnits) + `]}`:         "more than 1000 units",
		jobs(`{"job":"`+strings.Repeat("a", MaxName+1)+`"}`, 1):                  "too long",
		jobs(`{"job":"a","dropped":{"count":9,"names":["","","","","",""]}}`, 1): "too many targets",
		jobs(`{"job":"a","missing":{"count":0,"names":["b"]}}`, 1):               "too many targets",
		jobs(`{"job":"a","unlisted":{"count":1,"names":["\u202e"]}}`, 1):         "not printable",
	} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, want %q", text, err, want)
		}
	}
}

// No report makes Decode panic or return what Encode would not.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"version":"1-1","jobs":[{"job":"a","dropped":{"count":1,"names":["b"]}}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := Decode(text)
		if err != nil {
			return
		}
		again, err := r.Encode()
		if err != nil || !json.Valid(again) {
			t.Errorf("%v: %s", err, again)
		}
		if _, err := Decode(again); err != nil {
			t.Error(err)
		}
	})
}
