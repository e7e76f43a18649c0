package adversary

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"sync"

	"sigs.k8s.io/yaml"

	"github.com/firekeeper-dev/firekeeper/internal/excerpt"
	"github.com/firekeeper-dev/firekeeper/operator/dev/adversary/hostile"
)

// Kind is the kind of a violated guarantee.
type Kind string

// Kinds of findings.
const (
	Ended       Kind = "ended"       // a process was killed or exited by itself
	Fault       Kind = "fault"       // a panic in a log
	NotWritten  Kind = "not-written" // a change of the well-behaved tenant was not written in time
	NotLoaded   Kind = "not-loaded"  // servers reject the written configuration
	NotReported Kind = "not-told"    // an object is rejected or not used, and does not report it
	Rollout     Kind = "rollout"     // pods change because of a tenant
	Unserved    Kind = "unserved"    // the API server cannot list, read or delete objects
	Leaked      Kind = "leaked"      // a canary was seen
	Slow        Kind = "slow"        // a well-behaved request was not answered in time
	Remains     Kind = "remains"     // the output or the memory use differs from before
)

// Finding is a violated guarantee.
type Finding struct {
	Kind    Kind
	Process string // for Ended and Fault
	Text    string
	From    int // numbers of the objects of the batch before which it was noticed: [From, To)
	To      int
	Objects []hostile.Manifest // objects that cause it, as far as known
	Times   int                // number of occurrences
}

// numbers matches the parts of a text that do not distinguish findings, like object numbers.
var numbers = regexp.MustCompile(`[0-9]+|nnnn+|\S{120,}`)

func (f Finding) key() string {
	return string(f.Kind) + f.Process + numbers.ReplaceAllString(excerpt.Of(f.Text, 200), "0")
}

// findings deduplicates findings and writes them to files.
type findings struct {
	dir string
	say func(string, ...any)

	mu       sync.Mutex
	from, to int // of the current batch
	all      []*Finding
	by       map[string]*Finding
	trial    map[Kind]bool // findings during a trial; nil outside of a trial
}

func newFindings(dir string, say func(string, ...any)) *findings {
	return &findings{dir: dir, say: say, by: map[string]*Finding{}}
}

func (f *findings) batch(from, to int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.from, f.to = from, to
}

// add records a finding.
func (f *findings) add(one Finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.trial != nil {
		f.trial[one.Kind] = true
		return
	}
	if known := f.by[one.key()]; known != nil {
		known.Times++
		return
	}
	one.Times, one.From, one.To = 1, f.from, f.to
	f.by[one.key()] = &one
	f.all = append(f.all, &one)
	f.say("FOUND %s (objects %d to %d): %s", one.Kind, one.From, one.To, excerpt.Of(one.Text, 600))
	if err := f.save(len(f.all), &one); err != nil {
		f.say("not saved: %v", err)
	}
}

// save writes a finding to a new file.
func (f *findings) save(number int, one *Finding) error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil {
		return err
	}
	return f.saveAs(fmt.Sprintf("%03d-%s.yaml", number, one.Kind), one)
}

// manifest returns a finding as a file that kubectl can apply.
func (f *Finding) manifest() (string, error) {
	var b strings.Builder
	for line := range strings.Lines(fmt.Sprintf("%s: objects %d to %d\n%s\n", f.Kind, f.From, f.To, f.Text)) {
		b.WriteString("# " + line)
	}
	for _, o := range f.Objects {
		raw, err := json.Marshal(o)
		if err != nil {
			return "", err
		}
		text, err := yaml.JSONToYAML(raw)
		if err != nil { // strings that YAML cannot represent
			text = raw
		}
		b.WriteString("---\n" + string(text) + "\n")
	}
	return b.String(), nil
}

func (f *findings) list() []Finding {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := make([]Finding, len(f.all))
	for i, one := range f.all {
		out[i] = *one
	}
	return out
}

func (f *findings) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.all)
}
