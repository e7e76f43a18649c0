package rules

import (
	"strconv"
	"strings"
)

// indexOf returns the number at the end of the name of one of our ConfigMaps. Other names
// are foreign, including "-01" and "-+1", which plans do not create.
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
