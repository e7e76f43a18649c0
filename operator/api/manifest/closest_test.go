package manifest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

func TestSimilar(t *testing.T) {
	known := []string{"interval", "scrapeTimeout", "labeldrop", "port", "targetPort", "ÄÖÜ-eins"}
	for name, want := range map[string]string{
		"intervall": "interval", "Interval": "interval", "inetrval": "interval", "droplabel": "labeldrop",
		"scrapetimout": "scrapeTimeout", "prot": "port", "äöü-einz": "ÄÖÜ-eins", "": "", "x": "", "honorLabels": "",
	} {
		if got := Similar(name, known); got != want {
			t.Errorf("Similar(%q) = %q, want %q", name, got, want)
		}
	}
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abcd", "badc", 2}, {"kitten", "sitting", 3}, {"ä", "a", 1},
		{strings.Repeat("a", 1<<20), "b", 1 << 20},
	} {
		if got := Distance(tc.a, tc.b); got != tc.want {
			t.Errorf("Distance of %.10q and %.10q is %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}

// The memory and time for names chosen by an author do not depend on their length.
func TestComparisonIsBounded(t *testing.T) {
	const mega = 1 << 20
	long, other := strings.Repeat("a", mega), strings.Repeat("a", mega-1)+"b"
	var many, equal []string
	for i := range 20_000 {
		many = append(many, fmt.Sprintf("%s%05d", strings.Repeat("a", 200), i))
		equal = append(equal, strings.Repeat("a", 255)+"b")
	}
	for name, do := range map[string]func(){
		"two long names":           func() { Similar(long, []string{other}) },
		"a long name":              func() { Similar(long, []string{"short"}) },
		"a long candidate":         func() { Similar("short", []string{long, other}) },
		"many candidates":          func() { Similar(strings.Repeat("a", 200)+"xxxxx", many) },
		"many rotated candidates":  func() { Similar("b"+strings.Repeat("a", 255), equal) },
		"distance":                 func() { Distance(long, other) },
		"letters of several bytes": func() { Similar(strings.Repeat("ä", 128), []string{strings.Repeat("Ä", 127) + "b"}) },
	} {
		budgettest.AtMost(t, name, 64<<10, do)
	}
	budgettest.AtMost(t, "Beside", 8*int64(len(many))*16+64<<10, func() {
		if text := Beside(long, append(many[:20:20], long, other)); len(text) > maxBeside*(maxShown+10) {
			t.Errorf("a text of %d bytes", len(text))
		}
		Beside("x", many)
	})
	if steps := new(comparison); testing.AllocsPerRun(3, func() { Similar("intervall", []string{"interval"}) }) > 0 {
		t.Errorf("memory of %T is on the heap", steps)
	}
}

// The number of errors for one document is limited, independent of its number of fields.
func TestFaultsAreBounded(t *testing.T) {
	var fields, wrong strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&fields, `"intervl%d":1,`, i)
		wrong.WriteString(`{"port":1},`)
	}
	for name, tc := range map[string]struct {
		text, says string
	}{
		"fields": {`{"spec":{` + fields.String() + `"selector":{}}}`, "unknown field"},
		"values": {`{"spec":{"endpoints":[` + wrong.String() + `{}]}}`, "want a string"},
		"name":   {`{"spec":{"` + strings.Repeat("e", 1<<20) + `":1}}`, "unknown field"},
	} {
		var err error
		budgettest.AtMost(t, name, 128<<20, func() { err = Decode([]byte(tc.text), &v1.ServiceMonitor{}) })
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %.100v", name, err)
		}
		if joined, is := err.(interface{ Unwrap() []error }); is && len(joined.Unwrap()) > budget.DocumentFaults+100 {
			t.Errorf("%s: %d faults", name, len(joined.Unwrap()))
		}
	}
	newer := `{"spec":{` + fields.String() + `"jobLabel":1}}`
	if err := DecodeKnown([]byte(newer), &v1.ServiceMonitor{}); err == nil || !strings.Contains(err.Error(), "spec.jobLabel: want a string") {
		t.Errorf("unknown fields hide a fault: %.200v", err)
	}
}
