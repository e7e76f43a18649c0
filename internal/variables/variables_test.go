package variables

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
)

func TestAll(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "",
		"$1 ${1} $( $() $(A-B) $(A":            "",
		"$(A)":                                 "A",
		"$$(A)$(PATH)":                         "A PATH",
		"$($(A))":                              "A",
		"x$(SHARD);|.+;.+":                     "SHARD",
		"$(a_1)$(B)$":                          "a_1 B",
		"$(" + strings.Repeat("a", 4096) + ")": strings.Repeat("a", 4096),
		"$(" + strings.Repeat("a", 4097) + ")": "",
		"$(é)":                                 "",
	} {
		var names []string
		for start, end := range All([]byte(text)) {
			names = append(names, string(Name([]byte(text[start:end]))))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%.40q: %.40q, not %.40q", text, got, want)
		}
	}
}

// FuzzAll compares with a regular expression.
func FuzzAll(f *testing.F) {
	pattern := regexp.MustCompile(`\$\([A-Za-z0-9_]+\)`)
	for _, seed := range []string{"$(A)", "$$($(A)B)", "$()$(x", "a$(SHARD)$(SHARD)"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > MaxName {
			return
		}
		var got [][]byte
		for start, end := range All(text) {
			got = append(got, text[start:end])
		}
		if want := pattern.FindAll(text, -1); !bytes.Equal(bytes.Join(got, nil), bytes.Join(want, nil)) {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	})
}

func TestProvided(t *testing.T) {
	for name, want := range map[string]int{Shard: 8, PodName: 64, NodeName: 256, "PATH": 256, "": 256} {
		if got := Size([]byte(name)); got != want {
			t.Errorf("size of %q: %d, not %d", name, got, want)
		}
		if got, want := Provided([]byte(name)), name == Shard || name == PodName || name == NodeName; got != want {
			t.Errorf("%q: provided %t", name, got)
		}
	}
}
