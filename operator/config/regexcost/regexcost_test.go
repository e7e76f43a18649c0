package regexcost

import (
	"errors"
	"regexp/syntax"
	"strings"
	"testing"
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
