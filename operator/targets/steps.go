package targets

import (
	"fmt"
	"runtime"
	"sync"
	"weak"

	"github.com/prometheus/prometheus/model/relabel"
)

// steps shares the relabel steps of all jobs.
var steps stepTable

// stepTable shares equal relabel steps: most steps are generated and the same in many jobs, and a compiled expression
// takes kilobytes. Steps that no job uses are collected.
type stepTable struct {
	mu sync.Mutex
	of map[string]weak.Pointer[relabel.Config] // by content
}

// longestShared is the maximum size of the texts of a shared step, in bytes.
const longestShared = 1024

// share returns an equal step of another job, or the step itself if there is none. Steps must not be modified.
func (t *stepTable) share(step *relabel.Config) *relabel.Config {
	text := step.Regex.String()
	size := len(text) + len(step.Separator) + len(step.TargetLabel) + len(step.Replacement)
	for _, name := range step.SourceLabels {
		size += len(name)
	}
	if size > longestShared {
		return step
	}
	key := fmt.Sprintf("%q %q %q %d %q %q %s %d", step.SourceLabels, step.Separator, text, step.Modulus, step.TargetLabel, step.Replacement, step.Action, step.NameValidationScheme)
	t.mu.Lock()
	defer t.mu.Unlock()
	if equal := t.of[key].Value(); equal != nil {
		return equal
	}
	if t.of == nil {
		t.of = map[string]weak.Pointer[relabel.Config]{}
	}
	t.of[key] = weak.Make(step)
	runtime.AddCleanup(step, t.forget, key)
	return step
}

// forget removes a step that was collected.
func (t *stepTable) forget(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of[key].Value() == nil {
		delete(t.of, key)
	}
}
