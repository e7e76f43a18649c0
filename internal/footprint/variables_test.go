package footprint

import (
	"strings"
	"testing"
)

func TestSubstitution(t *testing.T) {
	for text, want := range map[string]int{
		"":                                    0,
		"$1 ${1} $( $() $(A-B) $(A":           0,
		"$(A)":                                252,
		"$$(A)$(PATH)":                        252 + 249,
		"$($(A))":                             252,
		"$(SHARD);|.+;.+":                     0,
		"$(POD_NAME)":                         53,
		"$(" + strings.Repeat("a", 300) + ")": 0,
	} {
		if got := Substitution([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
