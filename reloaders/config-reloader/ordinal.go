package configreloader

import (
	"strings"
)

// OrdinalVariable is set for expansion to the number at the end of the pod's name.
const OrdinalVariable = "STATEFULSET_ORDINAL_NUMBER"

// WithOrdinal returns env with OrdinalVariable set to the digits at the end of the
// variable named source ("prometheus-10" gives "10"). Without such digits, or such
// a variable, the value is empty: references to it then expand to nothing.
func WithOrdinal(env []string, source string) []string {
	value, found := "", false
	out := make([]string, 0, len(env)+1)
	for _, pair := range env {
		name, v, _ := strings.Cut(pair, "=")
		if name == source && source != "" && !found {
			value, found = v, true
		}
		if name != OrdinalVariable {
			out = append(out, pair)
		}
	}
	return append(out, OrdinalVariable+"="+ordinal(value))
}

func ordinal(s string) string {
	return s[len(strings.TrimRight(s, "0123456789")):]
}
