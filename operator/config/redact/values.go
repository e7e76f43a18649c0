package redact

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// The placeholders for values of Secrets, in the forms that fields require.
const (
	word     = "hidden"
	someURL  = "https://hidden.invalid/"
	someHost = "hidden.invalid:1"
)

var hostPort = lazyregexp.New(`^\S+:\d+$`)

// Placeholder returns a text of the same form as the value: a URL, host and port, or a word.
func Placeholder(value string) string {
	switch {
	case strings.Contains(value, "://"):
		return someURL
	case hostPort.MatchString(value):
		return someHost
	}
	return word
}

const (
	// shortest is the length in bytes below which a value is only found as a whole scalar.
	shortest = 4
	// longest is the length in bytes to which values are searched for, which bounds the search.
	longest = 256
)

// Values finds values of Secrets, and their placeholders, in texts. The zero value, and nil, have
// no values. Only In is safe for concurrent use with itself.
type Values struct {
	mu    sync.Mutex
	added []map[string][]byte // not indexed yet
	whole map[string]bool     // only found as a whole scalar
	// begin has the other values by their first bytes. The values of a list are sorted, and no value is the beginning
	// of another one.
	begin map[string][]string
}

// Record returns a reader that adds the values of all Secrets that are read.
func (v *Values) Record(r assets.Reader) assets.Reader { return recorder{r, v} }

type recorder struct {
	assets.Reader
	values *Values
}

// Object implements [assets.Reader].
func (r recorder) Object(ref assets.Ref) (assets.Object, error) {
	o, err := r.Reader.Object(ref)
	if err == nil && ref.Kind == assets.Secret {
		r.values.add(o.Values)
	}
	return o, err
}

// Replace returns a reader like that of Record, with placeholders instead of the values.
// Certificates are not replaced, because they are validated and written to files, and neither are
// the values that keep selects, which are not added either.
func (v *Values) Replace(r assets.Reader, keep func(ref assets.Ref, key string) bool) assets.Reader {
	return replacer{r, v, keep}
}

type replacer struct {
	assets.Reader
	values *Values
	keep   func(ref assets.Ref, key string) bool
}

// Object implements [assets.Reader].
func (r replacer) Object(ref assets.Ref) (assets.Object, error) {
	o, err := r.Reader.Object(ref)
	if err != nil || ref.Kind != assets.Secret {
		return o, err
	}
	shown, hidden := make(map[string][]byte, len(o.Values)), make(map[string][]byte, len(o.Values))
	for key, value := range o.Values {
		if r.keep(ref, key) {
			shown[key] = value
			continue
		}
		text := strings.TrimSpace(string(value))
		if text != "" && !strings.HasPrefix(text, "-----BEGIN ") {
			text = Placeholder(text)
		}
		shown[key], hidden[key] = []byte(text), value
	}
	r.values.add(hidden)
	o.Values = shown
	return o, nil
}

func (v *Values) add(values map[string][]byte) {
	v.mu.Lock() // objects are compiled in parallel
	defer v.mu.Unlock()
	v.added = append(v.added, values)
}

// index indexes the added values in all forms in which texts contain them.
func (v *Values) index() {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.begin != nil && len(v.added) == 0 {
		return
	}
	if v.begin == nil {
		v.whole, v.begin = map[string]bool{word: true}, map[string][]string{}
		v.insert(someURL)
		v.insert(someHost)
	}
	for _, values := range v.added {
		for _, value := range values {
			text := strings.TrimSpace(string(value))
			text = text[:min(len(text), longest)]
			v.insert(text)
			v.insert(url.QueryEscape(text))
			v.insert(url.PathEscape(text))
			v.insert(base64.StdEncoding.EncodeToString([]byte(text)))
		}
	}
	v.added = nil
	for beginning, all := range v.begin {
		slices.Sort(all)
		v.begin[beginning] = slices.Clip(slices.CompactFunc(all, func(a, b string) bool { return strings.HasPrefix(b, a) }))
	}
}

func (v *Values) insert(form string) {
	form = form[:min(len(form), longest)]
	if len(form) >= shortest {
		v.begin[form[:shortest]] = append(v.begin[form[:shortest]], strings.Clone(form))
	} else if form != "" {
		v.whole[form] = true
	}
}

// In reports whether a text contains a value.
func (v *Values) In(text string) bool {
	if v == nil {
		return false
	}
	v.index()
	if v.whole[strings.TrimSpace(text)] {
		return true
	}
	for i := 0; i+shortest <= len(text); i++ {
		all := v.begin[text[i:i+shortest]]
		if len(all) == 0 {
			continue
		}
		rest := text[i:min(len(text), i+longest)]
		at, equal := slices.BinarySearch(all, rest) // only the one before it may be its beginning
		if equal || at > 0 && strings.HasPrefix(rest, all[at-1]) {
			return true
		}
	}
	return false
}
