package rules

import (
	"strconv"
	"strings"
)

// indexOf is the number at the end of a name of ours. Other names are foreign,
// also "-01" and "-+1", which no plan makes.
func indexOf(base, name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, base+"-")
	if !ok {
		return 0, false
	}
	i, err := strconv.Atoi(digits)
	if err != nil || i < 0 || strconv.Itoa(i) != digits {
		return 0, false
	}
	return i, true
}
