package regexcost

import (
	"errors"
	"regexp/syntax"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget/budgettest"
)

func TestBudget(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		times int
		fits  bool
	}{
		"a large class, repeated":    {`\pL{990}`, 1, false},
		"repetitions in repetitions": {`(\pL{31}){31}`, 1, false},
		"many of them":               {`(.*){100}`, 5_000, false},
		"a list of names":            {strings.Repeat("namespace-of-a-team|", 5_000) + "x", 1, true},
		"what people write":          {`(?i)kube-.+|[a-z0-9]{1,63}\.example\.org|\w+`, 500, true},
	} {
		parsed, err := syntax.Parse(tc.text, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		var b Budget
		for range tc.times {
			err = b.Add(parsed)
		}
		if (err == nil) != tc.fits || err != nil && !errors.Is(err, ErrExceeded) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestOf(t *testing.T) {
	for text, want := range map[string][2]int{ // at least, at most
		"":                   {1, 1},
		"abc":                {3, 4},
		"(a|b)":              {2, 4},
		"a{10}":              {20, 40},
		"a{2,10}":            {20, 40},
		"(a{10}){10}":        {200, 400},
		`\pL{990}`:           {1_000_000, 2_000_000},
		"some-job|other-job": {18, 25},
	} {
		parsed, err := syntax.Parse(text, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if got := Of(parsed); got < want[0] || got > want[1] {
			t.Errorf("Of(%s) = %d, want %d to %d", text, got, want[0], want[1])
		}
	}
}

// Parsing any expression takes at most 64 MiB, because the text is checked first.
func TestParsingIsBounded(t *testing.T) {
	const length = 1 << 20
	for name, part := range map[string]string{
		"any characters":             ".",
		"groups":                     "(a)",
		"alternatives":               "a|",
		"Unicode classes":            `\pL`,
		"classes":                    `[a-z]`,
		"repetitions":                "a*b+c?",
		"bounded repetitions":        "a{2}",
		"anchors":                    "^$",
		"escaped classes":            `\d\W\b`,
		"literals":                   "abc",
		"escaped literals":           `\.\-`,
		"groups without their flags": "(?:a)",
	} {
		text := strings.Repeat(part, length/len(part))
		for wrapped, text := range map[string]string{
			"": text, " in brackets": "[" + text + "]", " ignoring case": "(?i)" + text, " in brackets ignoring case": "(?i)[" + text + "]",
		} {
			budgettest.AtMost(t, name+wrapped, 64<<20, func() { _, _ = Parse(text) })
		}
	}
}

// Expressions just below the limit are parsed, and those above it are rejected.
func TestOperators(t *testing.T) {
	for name, tc := range map[string]struct {
		text string
		fits bool
	}{
		"nothing":                        {"", true},
		"a list of addresses":            {strings.Repeat("10.0.0.1|", 10_000), true},
		"a list of escaped addresses":    {strings.Repeat(`10\.0\.0\.1|`, 10_000), true},
		"a list of names":                {strings.Repeat("pod-of-a-team-0|", 10_000), true},
		"names, ignoring case":           {"^(?s:(?i)" + strings.Repeat("kube-proxy|", 3_000) + ")$", true},
		"a long word":                    {strings.Repeat("a", 1<<20), true},
		"too many alternatives":          {strings.Repeat("a|", 50_001), false},
		"classes of Unicode":             {"[" + strings.Repeat(`\pL`, 2_000) + "]", false},
		"ranges of Unicode, ignore case": {"(?i)[" + strings.Repeat(`A-\x{1e943}`, 1_000) + "]", false},
		"the same with many flags":       {"(?" + strings.Repeat("s", 1_000) + "i)[" + strings.Repeat(`A-\x{1e943}`, 1_000) + "]", false},
		"a group that ignores case":      {"(?s-i:(?U-mi:[" + strings.Repeat(`A-\x{1e943}`, 1_000) + "]))", false},
	} {
		if _, err := Parse(tc.text); (err == nil) != tc.fits || err != nil && !IsTooMuch(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
