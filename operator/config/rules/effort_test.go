package rules

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/firekeeper-dev/firekeeper/internal/cputime"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
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
		if got := tokens(in, nil); got != want {
			t.Errorf("tokens(%q) = %d, want %d", in, got, want)
		}
	}
}

// Without the bound, each of these takes minutes.
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
				begin := cputime.Now()
				f := Compile(object(of(record("a", expr))), s)
				if f.Err == nil || !strings.Contains(f.Err.Error(), "spec.groups[0].rules[0].expr: too much to check for one object: ") {
					t.Errorf("got %v", f.Err)
				}
				if took := cputime.Since(begin); took > 20*time.Second {
					t.Errorf("took %v", took)
				}
			}
		})
	}
}

// Without the bound, each of these takes 20 seconds and gigabytes.
func TestHostileRegularExpressionsEndSoon(t *testing.T) {
	const n = 2000
	repeated := func(matcher string) v1.RuleGroup {
		return of(record("a", "up{"+strings.Repeat(matcher+",", n)+"}"))
	}
	many := of()
	for i := range n {
		many.Rules = append(many.Rules, record(fmt.Sprintf("a%d", i), `up{a=~"\\pL{990}"}`))
	}
	for name, group := range map[string]v1.RuleGroup{
		"in double quotes":   repeated(`a=~"\\pL{990}"`),
		"in single quotes":   repeated(`a!~'\\pL{990}'`),
		"raw":                repeated("a=~`\\pL{990}`"),
		"after a comment":    repeated("a=~ # \"\n \"\\\\pL{990}\""),
		"in many rules":      many,
		"nested repetitions": repeated(`a=~"((((\\pL\\pN){9}){9}){9})"`),
	} {
		t.Run(name, func(t *testing.T) {
			begin := cputime.Now()
			f := Compile(object(group), settings("3.13.2"))
			if took := cputime.Since(begin); took > 20*time.Second {
				t.Errorf("took %v", took)
			}
			if f.Err == nil || !strings.Contains(f.Err.Error(), ".expr: too much to check for one object: its regular expressions") {
				t.Errorf("got %.300v", f.Err)
			}
		})
	}
}

func TestLargeHonestExpressionsAreFine(t *testing.T) {
	s := settings("3.13.2")
	s.EnforcedLabel = "namespace"
	for name, expr := range map[string]string{
		"a long sum":                   strings.Repeat("up + ", 2000) + "up",
		"a long regular expression":    `up{job=~"` + strings.Repeat("some-job-name|", 10_000) + `x"}`,
		"many regular expressions":     strings.Repeat(`up{job=~"(?i)api|web.*",code=~"[45]..",path=~"/v[0-9]{1,3}/\\w{1,63}"} + `, 500) + "up",
		"a long list of labels":        "sum by (a" + strings.Repeat(", some_label", 3000) + ") (up)",
		"a long comment and a few ups": "# " + strings.Repeat("or ", 50_000) + "\nup + up",
	} {
		if f := Compile(object(of(record("a", expr))), s); f.Err != nil {
			t.Errorf("%s: %.300s", name, f.Err)
		}
	}
}
