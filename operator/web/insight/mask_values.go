package insight

import (
	"encoding/base64"
	"net/url"
	"strings"
	"sync"
)

// shortSecret is the length below which a value counts only as the whole of a scalar.
const shortSecret = 4

// knownValues are values of Secrets. There may be very many, and is looked for each in every
// scalar of a file: they are found by how they begin.
type knownValues struct {
	mu    sync.Mutex // of add: objects are compiled on several CPUs
	whole map[string]bool
	begin map[string][]string // by the first bytes
}

func newKnownValues() *knownValues {
	return &knownValues{whole: map[string]bool{}, begin: map[string][]string{}}
}

// add notes a value, and how it may be written.
func (k *knownValues) add(value string) {
	value = strings.TrimSpace(value)
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, form := range []string{value, url.QueryEscape(value), url.PathEscape(value), base64.StdEncoding.EncodeToString([]byte(value))} {
		if form == "" || k.whole[form] {
			continue
		}
		k.whole[form] = true
		if len(form) >= shortSecret {
			k.begin[form[:shortSecret]] = append(k.begin[form[:shortSecret]], form)
		}
	}
}

// in reports whether a text has a value in it. Nobody adds any more.
func (k *knownValues) in(text string) bool {
	if k.whole[strings.TrimSpace(text)] {
		return true
	}
	for i := 0; i+shortSecret <= len(text); i++ {
		for _, value := range k.begin[text[i:i+shortSecret]] {
			if strings.HasPrefix(text[i:], value) {
				return true
			}
		}
	}
	return false
}
