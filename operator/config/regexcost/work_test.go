package regexcost

import (
	"fmt"
	"math/rand/v2"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestWork(t *testing.T) {
	for text, want := range map[string][2]int{ // at least, at most
		"":      {1, 1},
		"abc":   {1, 1},
		"a.c":   {1, 1},
		"a|b|c": {1, 1},
		strings.Repeat("Namespace-of-a-team|Kube", 2_000) + "x": {1, 10},
		"prefix-(" + strings.Repeat("ab|cd|", 2_000) + "x)":     {1, 5_000},
		`[a-z0-9]{63}`:   {1, 3},
		`[a-z0-9]{1,63}`: {1, 3},
		`kube-.+`:        {1, 3},
		`.*-(web|api)`:   {7, 15},
		`(.?){1000}`:     {1_000, 5_000},
		`.*a.{500}`:      {500, 1_100},
		`(a|b.){500}c`:   {500, 5_000},
		`(?:` + strings.Repeat("(", 900) + "." + strings.Repeat(")", 900) + `)*`: {900, 2_000},
	} {
		if got := Work(parsed(t, "^(?:"+text+")$")); got < want[0] || got > want[1] {
			t.Errorf("Work(%.60s) = %d, want %d to %d", text, got, want[0], want[1])
		}
	}
}

// For any expression and text, no more instructions are executed than estimated.
func TestWorkIsAnUpperBound(t *testing.T) {
	for seed := range uint64(20_000) {
		random := rand.New(rand.NewPCG(seed, 1))
		re := parsed(t, "^(?:"+randomExpression(random, 4)+")$")
		text := strings.Repeat(randomText(random, 3), 20) + randomText(random, 20)
		const most = 4 // instructions for a node of the expression
		if got, bound := executed(t, re, text), most*(Work(re)*(len(text)+1)+Of(re)); got > bound {
			t.Fatalf("seed %d: %s executes %d instructions for %q, estimated are %d with work %d", seed, re, got, text, bound, Work(re))
		}
	}
}

func parsed(t *testing.T, text string) *syntax.Regexp {
	t.Helper()
	re, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	return re
}

func randomExpression(r *rand.Rand, depth int) string {
	sub := func() string { return randomExpression(r, depth-1) }
	if depth == 0 {
		return []string{"a", "b", "ab", "ba", "abc", ".", "[ab]", "", "^", "a|b"}[r.IntN(10)]
	}
	switch r.IntN(10) {
	case 0, 1, 2:
		return sub() + sub()
	case 3, 4:
		return "(?:" + sub() + "|" + sub() + "|" + sub() + ")"
	case 5:
		return "(" + sub() + ")"
	case 6:
		return "(?:" + sub() + ")" + []string{"*", "+", "?"}[r.IntN(3)]
	case 7:
		least := r.IntN(4)
		return fmt.Sprintf("(?:%s){%d,%d}", sub(), least, least+r.IntN(4))
	case 8:
		return fmt.Sprintf("(?:%s){%d%s}", sub(), r.IntN(5), []string{"", ","}[r.IntN(2)])
	}
	return sub()
}

func randomText(r *rand.Rand, n int) string {
	out := make([]byte, 1+r.IntN(n))
	for i := range out {
		out[i] = "abc"[r.IntN(3)]
	}
	return string(out)
}

// executed returns how many instructions an automaton executes for a text, each once for each character.
func executed(t *testing.T, re *syntax.Regexp, text string) (n int) {
	t.Helper()
	prog, err := syntax.Compile(re.Simplify())
	if err != nil {
		t.Fatal(err)
	}
	var seen map[uint32]bool
	var follow func(pc uint32, at int) // the instructions that need no character
	follow = func(pc uint32, at int) {
		if seen[pc] {
			return
		}
		seen[pc] = true
		n++
		switch i := &prog.Inst[pc]; i.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			follow(i.Out, at)
			follow(i.Arg, at)
		case syntax.InstCapture, syntax.InstNop:
			follow(i.Out, at)
		case syntax.InstEmptyWidth:
			before, after := rune(-1), rune(-1)
			if at > 0 {
				before = rune(text[at-1])
			}
			if at < len(text) {
				after = rune(text[at])
			}
			if syntax.EmptyOp(i.Arg)&^syntax.EmptyOpContext(before, after) == 0 {
				follow(i.Out, at)
			}
		}
	}
	alive := map[uint32]bool{uint32(prog.Start): true}
	for at := range len(text) + 1 {
		seen = map[uint32]bool{}
		for pc := range alive {
			follow(pc, at)
		}
		alive = map[uint32]bool{}
		for pc := range seen {
			if i := &prog.Inst[pc]; at < len(text) && (i.Op == syntax.InstRune || i.Op == syntax.InstRune1 || i.Op == syntax.InstRuneAny || i.Op == syntax.InstRuneAnyNotNL) && i.MatchRune(rune(text[at])) {
				alive[i.Out] = true
			}
		}
	}
	return n
}
