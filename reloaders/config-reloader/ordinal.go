package configreloader

import (
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/variables"
)

// WithOrdinal returns env with variables.Ordinal set to the trailing digits of the variable
// source ("prometheus-10" gives "10"). Without such digits or such a variable the value
// is empty, and references to it expand to nothing.
func WithOrdinal(env []string, source string) []string {
	value, found := "", false
	out := make([]string, 0, len(env)+1)
	for _, pair := range env {
		name, v, _ := strings.Cut(pair, "=")
		if name == source && source != "" && !found {
			value, found = v, true
		}
		if name != variables.Ordinal {
			out = append(out, pair)
		}
	}
	return append(out, variables.Ordinal+"="+ordinal(value))
}

func ordinal(s string) string {
	return s[len(strings.TrimRight(s, "0123456789")):]
}
