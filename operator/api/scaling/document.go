package scaling

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Key is the key of the document in the ConfigMap.
const Key = "shards.json"

// MaxBytes limits a document to the size of a ConfigMap, with room for metadata.
const MaxBytes = 960 << 10

// maxSteps is the number of steps that a document has of a workload.
const maxSteps = 10

// Document has the workloads with autoscaling, by [Name].
type Document map[string]Workload

// Name returns the name of a workload in a [Document]: "Prometheus/monitoring/k8s".
func Name(kind, namespace, name string) string { return kind + "/" + namespace + "/" + name }

// Workload is the number of shards that a workload should have, with the reasons.
type Workload struct {
	// Shards is the number of StatefulSets that the operator should keep.
	Shards int `json:"shards"`
	// Target is the number of shards that get targets. While it is less than Shards, the others are drained.
	Target int `json:"target"`
	// Since is the time of the first decision.
	Since time.Time `json:"since"`
	// Held is the reason why the number does not follow the series. Absent if it does.
	Held *Held `json:"held,omitempty"`
	// Steps are the last changes of Target, the newest at the end. Absent if there were none.
	Steps []Step `json:"steps,omitempty"`
}

// Held is the reason why the number of shards does not follow the series.
type Held struct {
	Reason Reason `json:"reason"`
	// Message is human-readable, with the figures at the time Since. Empty if the document would be too long.
	Message string    `json:"message,omitempty"`
	Since   time.Time `json:"since"`
}

// Reason is a reason why the number of shards does not follow the series.
type Reason string

const (
	// AtMaxShards: more shards than [wellknown.AnnotationMaxShards] allows would be needed.
	AtMaxShards Reason = "AtMaxShards"
	// NotRetained: a server that is removed would take its data with it.
	NotRetained Reason = "NotRetained"
)

// Step is a change of the number of shards.
type Step struct {
	At   time.Time `json:"at"`
	From int       `json:"from"`
	To   int       `json:"to"`
	// Why is human-readable.
	Why string `json:"why"`
}

// Remember adds a step and drops the oldest ones.
func (w *Workload) Remember(s Step) {
	w.Steps = append(slices.Clone(w.Steps[max(0, len(w.Steps)-maxSteps+1):]), s)
}

// brief returns it without a message.
func (h *Held) brief() *Held {
	if h == nil {
		return nil
	}
	return &Held{Reason: h.Reason, Since: h.Since}
}

// ErrInvalid is the error of a text that is no document, such as one edited by hand.
var ErrInvalid = errors.New("no valid numbers of shards")

// Decode reads a document. An empty text is one without workloads.
//
// Errors: [ErrInvalid], if it is too long or no document.
func Decode(text []byte) (Document, error) {
	switch {
	case len(text) > MaxBytes:
		return nil, fmt.Errorf("%w: the text has %d bytes, more than %d", ErrInvalid, len(text), MaxBytes)
	case len(text) == 0:
		return Document{}, nil
	}
	var out Document
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return out, nil
}

// Encode returns the text of a document. If it would be too long, it has no steps, and then no messages.
//
// Errors: it is too long even so.
func (d Document) Encode() ([]byte, error) {
	for _, shorten := range []func(*Workload){func(*Workload) {}, func(w *Workload) { w.Steps = nil }, func(w *Workload) { w.Held = w.Held.brief() }} {
		next := Document{}
		for name, w := range d {
			shorten(&w)
			next[name] = w
		}
		text, err := json.Marshal(next)
		if err != nil || len(text) <= MaxBytes {
			return text, err
		}
		d = next
	}
	return nil, fmt.Errorf("%d workloads need more than %d bytes", len(d), MaxBytes)
}
