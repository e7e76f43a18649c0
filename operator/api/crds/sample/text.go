package sample

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// attempts limits the search for a string of the right length.
const attempts = 200

// matching returns a string that matches a pattern, with at least least and at most most
// runes (0 means no limit), or "" if it finds none.
func matching(rng *rand.Rand, pattern string, least, most int) string {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	check := regexp.MustCompile(pattern)
	for range attempts {
		var b strings.Builder
		write(rng, &b, tree)
		text := b.String()
		if n := len([]rune(text)); n >= max(least, 1) && (most == 0 || n <= most) && check.MatchString(text) {
			return text
		}
	}
	return ""
}

// write appends a string that matches an expression.
func write(rng *rand.Rand, b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if re.Flags&syntax.FoldCase != 0 && rng.IntN(2) == 0 {
				r = unicode.SimpleFold(r)
			}
			b.WriteRune(ascii(r))
		}
	case syntax.OpCharClass:
		b.WriteRune(oneOf(rng, re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteByte(letters[rng.IntN(len(letters))])
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			write(rng, b, sub)
		}
	case syntax.OpAlternate:
		write(rng, b, re.Sub[rng.IntN(len(re.Sub))])
	case syntax.OpQuest:
		repeat(rng, b, re.Sub[0], 0, 1)
	case syntax.OpStar:
		repeat(rng, b, re.Sub[0], 0, 3)
	case syntax.OpPlus:
		repeat(rng, b, re.Sub[0], 1, 3)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + 3
		}
		repeat(rng, b, re.Sub[0], re.Min, most)
	}
}

func repeat(rng *rand.Rand, b *strings.Builder, re *syntax.Regexp, least, most int) {
	for range least + rng.IntN(most-least+1) {
		write(rng, b, re)
	}
}

const letters = "abcdefghijklmnopqrstuvwxyz0123456789"

// ascii reverts a case fold that left ASCII, such as k to the Kelvin sign.
func ascii(r rune) rune {
	for r > unicode.MaxASCII {
		r = unicode.SimpleFold(r)
	}
	return r
}

// oneOf returns a printable ASCII rune of a class, which is given as pairs of bounds.
func oneOf(rng *rand.Rand, bounds []rune) rune {
	var all []rune
	for i := 0; i+1 < len(bounds); i += 2 {
		for r := max(bounds[i], '!'); r <= min(bounds[i+1], '~'); r++ {
			all = append(all, r)
		}
	}
	if len(all) == 0 {
		return bounds[0]
	}
	return all[rng.IntN(len(all))]
}
