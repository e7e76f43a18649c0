package manifest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
)

// closest returns the known field that name is most likely a misspelling of, or "". Fields
// that the object already has are candidates only if they are the same in another spelling.
func closest(name string, object map[string]any, known map[string]reflect.Type) string {
	plain := func(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "") }
	var candidates []string
	for _, candidate := range slices.Sorted(maps.Keys(known)) {
		if strings.Contains(name, "_") && plain(candidate) == plain(name) {
			return candidate // as the configuration of Prometheus spells it
		}
		if _, taken := object[candidate]; !taken {
			candidates = append(candidates, candidate)
		}
	}
	if similar := Similar(name, candidates); similar != "" {
		return similar
	}
	return longer(name, candidates)
}

// alreadySet returns a hint for an unknown field that is a misspelling of one that the object has too; empty if there is none.
func alreadySet(name string, object map[string]any, known map[string]reflect.Type) string {
	var taken []string
	for _, candidate := range slices.Sorted(maps.Keys(known)) {
		if _, is := object[candidate]; is {
			taken = append(taken, candidate)
		}
	}
	if similar := Similar(name, taken); similar != "" {
		return similar + " is set too: remove this one"
	}
	return ""
}

// longer returns the candidate that is name with a word for the kind of its value, as tokenRef is for token; empty if
// there is none.
func longer(name string, candidates []string) string {
	for _, suffix := range []string{"Ref", "Config", "Configs", "Name"} {
		if i := slices.IndexFunc(candidates, func(c string) bool { return strings.EqualFold(c, name+suffix) }); i >= 0 && name != "" {
			return candidates[i]
		}
	}
	return ""
}

// Similar returns the first candidate that name is most likely a misspelling of, or "". It
// must differ only in case or in a few letters. More than two letters may differ only if
// both begin alike or have the same words in another order. Names longer than 256 bytes
// never match, and the comparison ends after about a million pairs of letters.
func Similar(name string, candidates []string) string {
	if len(name) > budget.ComparedBytes {
		return ""
	}
	var c comparison
	c.a = appendLower(c.memory[0][:0], name)
	best, least := "", len(c.a)/3+1
	steps := budget.ComparedPairs
	for _, candidate := range candidates {
		if len(candidate) > budget.ComparedBytes || differ(len(c.a), utf8.RuneCountInString(candidate)) >= max(least, 1) {
			continue
		}
		c.b = appendLower(c.memory[1][:0], candidate)
		if steps -= len(c.a) * len(c.b); steps < 0 {
			break
		}
		d := c.distance()
		if d > 1 && c.turned() {
			d = 1
		}
		if d > 2 && !beginsLike(c.a, c.b) {
			continue
		}
		if d < least || d == 0 {
			best, least = candidate, d
		}
	}
	return best
}

func differ(a, b int) int { return max(a-b, b-a) }

func appendLower(to []rune, text string) []rune {
	for _, r := range text {
		to = append(to, unicode.ToLower(r))
	}
	return to
}

// beginsLike reports whether b begins with the first three letters of a, or with all of it.
func beginsLike(a, b []rune) bool {
	n := min(3, len(a))
	return len(b) >= n && slices.Equal(a[:n], b[:n])
}

// comparison compares two names of up to [budget.ComparedBytes] bytes in its own memory.
type comparison struct {
	a, b   []rune
	memory [2][budget.ComparedBytes]rune
	rows   [3][budget.ComparedBytes + 1]int32
}

// turned reports whether a is a rotation of b: "droplabel" is "labeldrop".
func (c *comparison) turned() bool {
	if len(c.a) != len(c.b) || len(c.a) < 6 {
		return false
	}
	for i := 1; i < len(c.b); i++ {
		if slices.Equal(c.a[:len(c.b)-i], c.b[i:]) && slices.Equal(c.a[len(c.b)-i:], c.b[:i]) {
			return true
		}
	}
	return false
}

// distance returns the number of letters to insert, remove, replace or swap with their
// neighbor to turn a into b.
func (c *comparison) distance() int {
	before, last, row := &c.rows[0], &c.rows[1], &c.rows[2]
	for j := range len(c.b) + 1 {
		last[j] = int32(j)
	}
	for i, x := range c.a {
		row[0] = int32(i + 1)
		for j, y := range c.b {
			change := int32(1)
			if x == y {
				change = 0
			}
			d := min(last[j+1]+1, row[j]+1, last[j]+change)
			if i > 0 && j > 0 && x == c.b[j-1] && c.a[i-1] == y {
				d = min(d, before[j-1]+1)
			}
			row[j+1] = d
		}
		before, last, row = last, row, before
	}
	return int(last[len(c.b)])
}

// Distance returns the number of letters to insert, remove, replace or swap with their
// neighbor to turn a into b. If either is longer than 256 bytes, it returns the length of
// the longer one.
func Distance(a, b string) int {
	if max(len(a), len(b)) > budget.ComparedBytes {
		return max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	}
	var c comparison
	for _, r := range a {
		c.a = append(c.a, r)
	}
	for _, r := range b {
		c.b = append(c.b, r)
	}
	return c.distance()
}

// Limits of [Beside]: the number of names, and the bytes of each.
const (
	maxBeside = 10
	maxShown  = 253 // maximum length of an object name
)

// shown joins the first names, each truncated for a message.
func shown(names []string) string {
	out := slices.Clone(names[:min(len(names), maxBeside)])
	for i, name := range out {
		out[i] = excerpt.Of(name, maxShown)
	}
	return strings.Join(out, ", ")
}

// Meant is like [Similar] for names of files and keys: "ca" is also similar to "ca.crt".
func Meant(name string, candidates []string) string {
	if similar := Similar(name, candidates); similar != "" {
		return similar
	}
	for _, c := range candidates {
		if before, _, cut := strings.Cut(c, "."); cut && before == name && len(c) <= maxShown {
			return c
		}
	}
	return ""
}

// Beside returns the end of a message about a name that is not among the known ones: `, did
// you mean "a"?` or "; there are a, b". It is empty if none are known.
func Beside(name string, known []string) string {
	known = slices.Sorted(slices.Values(known))
	if meant := Meant(name, known); meant != "" {
		return `, did you mean "` + meant + `"?`
	}
	switch n := len(known); {
	case n == 0:
		return ""
	case n == 1:
		return "; there is " + shown(known)
	case n > maxBeside:
		return "; there are " + shown(known) + ", …"
	}
	return "; there are " + shown(known)
}
