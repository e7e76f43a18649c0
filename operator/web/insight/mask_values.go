package insight

import (
	"encoding/base64"
	"net/url"
	"strings"
	"sync"
)

// shortSecret is the length below which a value matches only a whole scalar.
const shortSecret = 4

// knownValues is a set of values of Secrets. Every scalar of a file is searched for all of them, so
// they are indexed by their first bytes.
type knownValues struct {
	mu    sync.Mutex // for add: objects are compiled in parallel
	whole map[string]bool
	begin map[string][]string // by the first bytes
}

func newKnownValues() *knownValues {
	return &knownValues{whole: map[string]bool{}, begin: map[string][]string{}}
}

// add adds a value and its encoded forms.
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

// in reports whether a text contains a value. It must not be called concurrently with add.
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
