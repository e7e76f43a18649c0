package manifest

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// closest returns the known field that name is most likely a misspelling of, or
// "". A field that the object has already is no candidate.
func closest(name string, object map[string]any, known map[string]reflect.Type) string {
	var candidates []string
	for _, candidate := range slices.Sorted(maps.Keys(known)) {
		if _, taken := object[candidate]; !taken {
			candidates = append(candidates, candidate)
		}
	}
	return Similar(name, candidates)
}

// Similar returns the first candidate that name is most likely a misspelling of,
// or "": one that differs in letter case only, or in few letters. More than two letters
// may differ only where both begin alike or have the same words in another order.
func Similar(name string, candidates []string) string {
	best, least := "", len([]rune(name))/3+1
	lower := strings.ToLower(name)
	for _, candidate := range candidates {
		other := strings.ToLower(candidate)
		d := distance(lower, other)
		if turned(lower, other) {
			d = min(d, 1)
		}
		if d > 2 && !strings.HasPrefix(other, lower[:min(3, len(lower))]) {
			continue
		}
		if d < least || d == 0 {
			best, least = candidate, d
		}
	}
	return best
}

// turned reports whether a is b with its beginning at the end: "droplabel" is "labeldrop".
func turned(a, b string) bool {
	return len(a) == len(b) && len(a) >= 6 && a != b && strings.Contains(b+b, a)
}

// distance counts the letters to insert, remove, replace or swap with their
// neighbour until a is b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	rows := make([][]int, len(x)+1)
	for i := range rows {
		rows[i] = make([]int, len(y)+1)
		rows[i][0] = i
	}
	for j := range y {
		rows[0][j+1] = j + 1
	}
	for i := 1; i <= len(x); i++ {
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(x)][len(y)]
}

// maxBeside is how many names [Beside] says.
const maxBeside = 10

// Beside completes the message about a name that is none of those that there are:
// `, did you mean "a"?` or "; there are a, b". It is empty when there is none at all.
func Beside(name string, known []string) string {
	known = slices.Sorted(slices.Values(known))
	if meant := Similar(name, known); meant != "" {
		return `, did you mean "` + meant + `"?`
	}
	for _, k := range known { // "ca" of "ca.crt"
		if before, _, cut := strings.Cut(k, "."); cut && before == name {
			return `, did you mean "` + k + `"?`
		}
	}
	switch n := len(known); {
	case n == 0:
		return ""
	case n == 1:
		return "; there is " + known[0]
	case n > maxBeside:
		return "; there are " + strings.Join(known[:maxBeside], ", ") + ", …"
	}
	return "; there are " + strings.Join(known, ", ")
}
