package promconfig

import (
	"fmt"

	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
)

// checkEqual rejects an entry of remote write or remote read that the server takes for another one. It compares
// entries with their defaults and without the values of secrets, and refuses to load two that are equal.
//
// Parsed: the server's type of an entry.
func checkEqual[Parsed, Entry any](list string, entries []Entry, t gate.Target) error {
	if len(entries) < 2 {
		return nil
	}
	seen := map[string]int{}
	for i, entry := range entries {
		text, known := comparedText[Parsed](entry, t)
		if !known {
			continue
		}
		if before, again := seen[text]; again {
			return faults.At(faults.Index(list, i), fmt.Errorf("differs from %s only in values of Secrets or in what is the default, and the server takes it for the same: give it a name", faults.Index(list, before)))
		}
		seen[text] = i
	}
	return nil
}

// comparedText returns the text by which the server compares entries. known is false if the linked parser does not read
// the entry, for example because of a key that only older versions have.
func comparedText[Parsed, Entry any](entry Entry, t gate.Target) (text string, known bool) {
	written, _, err := gate.Marshal(entry, t)
	if err != nil {
		return "", false
	}
	var parsed Parsed
	if err := yaml.UnmarshalStrict(written, &parsed); err != nil {
		return "", false
	}
	compared, err := yaml.Marshal(parsed)
	return string(compared), err == nil
}
