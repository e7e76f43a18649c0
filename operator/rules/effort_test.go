package rules

import (
	"strings"
	"testing"
	"time"
)

func TestTokens(t *testing.T) {
	for in, want := range map[string]int{
		"":                                  0,
		"up":                                1,
		"1+1":                               3,
		"a or b":                            3,
		"a # or b\n or c":                   4, // the comment counts as one
		`"a or b"`:                          1,
		`"a\" or b" + c`:                    3,
		"`a\\` + b":                         3,
		"'x\n+ y":                           3,
		"sum by (a) (rate(m{b=\"c\"}[5m]))": 19,
	} {
		if got := tokens(in); got != want {
			t.Errorf("tokens(%q) = %d, want %d", in, got, want)
		}
	}
}

// Without the bound each of these takes minutes.
func TestHostileExpressionsEndSoon(t *testing.T) {
	const n = 80_000
	for name, expr := range map[string]string{
		"sum":    strings.Repeat("1+", n) + "1",
		"or":     strings.Repeat("a or ", n) + "a",
		"minus":  strings.Repeat("-", n) + "a",
		"parens": strings.Repeat("(", n) + "a" + strings.Repeat(")", n),
		"calls":  strings.Repeat("abs(", n) + "a" + strings.Repeat(")", n),
		"faults": strings.Repeat("(1 and 1)+", n/3) + "1",
	} {
		t.Run(name, func(t *testing.T) {
			for _, label := range []string{"", "namespace"} {
				s := settings("3.13.2")
				s.EnforcedLabel = label
				begin := time.Now()
				f := Compile(object(of(record("a", expr))), s)
				if f.Err == nil || !strings.Contains(f.Err.Error(), "spec.groups[0].rules[0].expr: too much to check for one object: ") {
					t.Errorf("got %v", f.Err)
				}
				if took := time.Since(begin); took > 20*time.Second {
					t.Errorf("took %v", took)
				}
			}
		})
	}
}

func TestLargeHonestExpressionsAreFine(t *testing.T) {
	s := settings("3.13.2")
	s.EnforcedLabel = "namespace"
	for name, expr := range map[string]string{
		"a long sum":                   strings.Repeat("up + ", 2000) + "up",
		"a long regular expression":    `up{job=~"` + strings.Repeat("some-job-name|", 20_000) + `x"}`,
		"a long list of labels":        "sum by (a" + strings.Repeat(", some_label", 3000) + ") (up)",
		"a long comment and a few ups": "# " + strings.Repeat("or ", 50_000) + "\nup + up",
	} {
		if f := Compile(object(of(record("a", expr))), s); f.Err != nil {
			t.Errorf("%s: %.300s", name, f.Err)
		}
	}
}
