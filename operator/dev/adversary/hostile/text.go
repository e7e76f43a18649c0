package hostile

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/crds/sample"
)

// text returns a string at the limits of a schema.
func (m *maker) text(s *schema) any {
	if s.Format == "date-time" {
		return oneOf(m, "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "2026-06-30T23:59:60Z", "2026-01-01T00:00:00+14:00")
	}
	least, most := 0, 0
	if s.MinLength != nil {
		least = int(*s.MinLength)
	}
	if s.MaxLength != nil {
		most = int(*s.MaxLength)
	}
	if s.Pattern != "" {
		if text, ok := m.matching(s.Pattern, least, most); ok {
			return text
		}
		return sample.Value(m.rng, 0, s)
	}
	text := m.oddString()
	if s.Format == "byte" {
		return oneOf(m, "", "AAAA", strings.Repeat("QUJD", 4000))
	}
	if runes := []rune(text); most > 0 && len(runes) > most {
		text = string(runes[:most])
	} else if most > 0 && m.rng.IntN(3) == 0 {
		text = strings.Repeat("x", most)
	}
	if n := len([]rune(text)); n < least {
		text += strings.Repeat("y", least-n)
	}
	return text
}

// oddString returns a string that some parser interprets differently.
func (m *maker) oddString() string {
	return oneOf(m,
		"", " ", "\n", "\t", "\x00", "\x1b[31m", "\u202e", "é", "\u2028", "🔥", "\ufeff", "null", "~", "true", "0", "-0", "1e9", "0x10", "1_000", "NaN", ".inf",
		"- a: b", "a: b\n- c", "*a", "&a a", "!!binary a", "|", ">-", "%YAML 1.1", "---", "...", "'", `"`, `\`, "`",
		"$(HOME)", "$(POD_NAME)", "$$(A)", "${1}", "$1", "{{ . }}", "{{", "{{ range . }}", "{{ template \"x\" }}", "%s%n%d", "%2e%2e%2f", "../../etc/passwd", "/etc/passwd", "a/b", "..",
		"http://user:secret@host.example/?token=secret", "http://[::1", "http://[fe80::1%25eth0]:80/", "//host", "unix:///a", "file:///etc/passwd", "host:99999", ":0", "[::]:80", "a,b;c",
		"(", "(a+)+$", "(?i)(a|b|c){900}", "[[:^alpha:]]", `\p{Greek}{1000}`, ".{1000}", "((a{0,30}){0,30}){0,30}", "^$", "(?P<a>.)",
		"<script>alert(1)</script>", "'; drop table x; --", "up{", "sum(up) by (", "vector(1)", "1ms", "0s", "99999999999999999999y", "-1s", "1.5h", "P1D",
		strings.Repeat("a", 253), strings.Repeat("x", 5000), strings.Repeat("é", 20000), strings.Repeat("a,", 10000), strings.Repeat("{{ . }}", 1000), strings.Repeat("(", 2000),
		strings.Repeat("a.", 126)+"a", strings.Repeat("\n", 2000), strings.Repeat("a: ", 2000), strings.Repeat("$1", 3000))
}

// matching returns a string at the limits of a pattern: optional repetitions are omitted or as frequent as possible.
func (m *maker) matching(pattern string, least, most int) (string, bool) {
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	check, err := regexp.Compile(pattern)
	if err != nil {
		return "", false
	}
	for _, many := range []int{oneOf(m, 0, 1, 3, 20, 200), 20, 3, 1, 0} {
		w := writer{m: m, many: many, last: m.rng.IntN(2) == 0}
		w.write(tree)
		text := w.b.String()
		if n := len([]rune(text)); n >= least && (most == 0 || n <= most) && check.MatchString(text) {
			return text, true
		}
	}
	return "", false
}

// writer writes a string that matches a regular expression.
type writer struct {
	m    *maker
	b    strings.Builder
	many int  // number of unbounded repetitions
	last bool // use the last rune of a class instead of the first
}

func (w *writer) write(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		w.b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		w.b.WriteRune(w.rune(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		w.b.WriteString(oneOf(w.m, "a", "~", " ", "é", "/", "{"))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			w.write(sub)
		}
	case syntax.OpAlternate:
		w.write(re.Sub[w.m.rng.IntN(len(re.Sub))])
	case syntax.OpQuest:
		w.repeat(re.Sub[0], 0, 1)
	case syntax.OpStar:
		w.repeat(re.Sub[0], 0, w.many)
	case syntax.OpPlus:
		w.repeat(re.Sub[0], 1, max(1, w.many))
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + w.many
		}
		w.repeat(re.Sub[0], re.Min, most)
	}
}

func (w *writer) repeat(re *syntax.Regexp, least, most int) {
	count := least
	if w.m.rng.IntN(3) > 0 {
		count = most
	}
	for range count {
		w.write(re)
	}
}

// rune returns the first or last printable ASCII rune of a class, if it has one.
func (w *writer) rune(bounds []rune) rune {
	if w.last {
		for i := len(bounds) - 1; i > 0; i -= 2 {
			if bounds[i-1] < 0x7f {
				return min(bounds[i], '~')
			}
		}
	}
	for i := 0; i+1 < len(bounds); i += 2 {
		if bounds[i+1] >= ' ' {
			return max(bounds[i], ' ')
		}
	}
	return bounds[0]
}
