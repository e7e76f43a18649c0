package timeline

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// maxObjects limits the objects of a change that are named.
const maxObjects = 3

// Change is a change of the content that the pods of a workload mount.
type Change struct {
	// Objects lists the first objects whose events led to the change, at most 3. Absent if no event did, for example
	// after a restart of the operator.
	Objects []catalog.Ref `json:"objects,omitempty"`
	// Events is the number of all events that led to the change.
	Events int `json:"events"`
	// Noticed is the time of the first of these events, in RFC 3339 format; without events, it is the field started.
	Noticed time.Time `json:"noticed"`
	// Started is the time when the reconciliation of the workload started, in RFC 3339 format.
	Started time.Time `json:"started"`
	// Written is the time when all Secrets and ConfigMaps were written, in RFC 3339 format.
	Written time.Time `json:"written"`
	// Hash is the hash of the configuration, comparable with the field wanted of a pod.
	Hash string `json:"hash"`
	// Pods is the number of pods that ran when the change was written, without those deleted before they loaded it.
	Pods int `json:"pods"`
	// Annotated is about pods that were annotated, so that the kubelet refreshes their files immediately.
	Annotated Stage `json:"annotated"`
	// OnDisk is about pods whose files have the change.
	OnDisk Stage `json:"onDisk"`
	// Loaded is about pods whose servers run the change.
	Loaded Stage `json:"loaded"`
	// Patches is the number of patches that annotated pods, including repetitions for pods that did not confirm the change.
	Patches int `json:"patches"`
	// Rejected is the number of pods whose servers reject the change.
	Rejected int `json:"rejected,omitempty"`
	// Superseded is true if the next change was written before all pods had confirmed this one. Pods may have loaded it.
	Superseded bool `json:"superseded,omitempty"`
}

// Stage is the progress of the pods of a change.
type Stage struct {
	// Pods is the number of pods that are known to have reached the stage.
	Pods int `json:"pods"`
	// At is the time when the last of these pods reached the stage, in RFC 3339 format. Absent if unknown.
	At time.Time `json:"at,omitzero"`
}

func (s *Stage) reach(at time.Time) {
	s.Pods++
	if at.After(s.At) {
		s.At = at
	}
}

// leave removes a deleted pod.
func (s *Stage) leave() {
	if s.Pods--; s.Pods == 0 {
		s.At = time.Time{}
	}
}

// Complete reports whether all pods have loaded the change.
func (c Change) Complete() bool { return c.Loaded.Pods >= c.Pods }

// Content identifies the configuration and rules that a reconciliation has written.
type Content struct {
	Hash string
	// Parts are the differences from the previous content. The first ones are kept, to recognize
	// the change in reports of a pod after the next one.
	Parts []Part
}

// Part is a file or folder of a content.
type Part struct{ Path, SHA256 string }

const (
	// maxParts limits the parts of a change that are kept.
	maxParts = 4
	// maxWaiting limits the pods of a superseded change that are still waited for.
	maxWaiting = 200
)

// Confirmed is the report of a pod about a content. Times are those of the pod's clock; zero
// if the pod does not report them.
type Confirmed struct {
	OnDisk, Loaded time.Time
	// Rejected is true if a server of the pod rejected the content.
	Rejected bool
	// Earlier (optional) returns the times of an earlier change with these parts, which was written
	// at a time.
	Earlier func(parts []Part, written time.Time) (onDisk, loaded time.Time)
}

// cause is what led to the next change of a workload.
type cause struct {
	objects []catalog.Ref
	events  int
	first   time.Time
}

func (c *cause) add(o catalog.Ref, now time.Time) {
	if c.events == 0 {
		c.first = now
	}
	c.events++
	if len(c.objects) < maxObjects && !slices.Contains(c.objects, o) {
		c.objects = append(c.objects, catalog.Ref{Kind: o.Kind, Namespace: strings.Clone(o.Namespace), Name: strings.Clone(o.Name)}) // does not retain the object
	}
}

// join adds a later cause.
func (c *cause) join(later cause) {
	for _, o := range later.objects {
		c.add(o, later.first)
	}
	c.events += later.events - len(later.objects)
}

// entry is a change and the pods that it waits for.
type entry struct {
	Change
	parts []Part
	// pending are the pods that are not known to have loaded the change; nil once it is finished.
	pending map[types.NamespacedName]*progress
}

// progress is the state of a pending pod.
type progress struct {
	annotated, rejected bool
	onDisk              time.Time // zero before
}

// within returns a time of a pod's clock, which may be wrong, as one between the write and now.
func (e *entry) within(at, now time.Time) time.Time {
	switch {
	case at.Before(e.Written):
		return e.Written
	case at.After(now):
		return now
	}
	return at
}

// confirm records a report of a pod, and returns whether the pod has loaded the change.
func (e *entry) confirm(pod types.NamespacedName, got Confirmed, now time.Time) (loaded bool) {
	p := e.pending[pod]
	if p == nil {
		return false
	}
	if !got.OnDisk.IsZero() && p.onDisk.IsZero() {
		p.onDisk = e.within(got.OnDisk, now)
		e.OnDisk.reach(p.onDisk)
	}
	if got.Rejected && !p.rejected {
		p.rejected = true
		e.Rejected++
	}
	if got.Loaded.IsZero() || got.Rejected {
		return false
	}
	if p.rejected {
		e.Rejected--
	}
	at := e.within(got.Loaded, now)
	if at.Before(p.onDisk) { // each report has its own estimate of the difference between the clocks
		at = p.onDisk
	}
	e.Loaded.reach(at)
	delete(e.pending, pod)
	return true
}

// forget removes a deleted pod, and reports whether the change waited for it.
func (e *entry) forget(pod types.NamespacedName) bool {
	p := e.pending[pod]
	if p == nil {
		return false
	}
	e.Pods--
	if p.annotated {
		e.Annotated.leave()
	}
	if !p.onDisk.IsZero() {
		e.OnDisk.leave()
	}
	if p.rejected {
		e.Rejected--
	}
	delete(e.pending, pod)
	return true
}

// workload is the record of one workload.
type workload struct {
	waiting, running cause // of the next reconciliation, and of the current or a failed one
	started          time.Time
	changes          []*entry // the last one last
}

// last returns the last change if it has a hash; nil if it has another, or there is none.
func (w *workload) last(hash string) *entry {
	if n := len(w.changes); n > 0 && w.changes[n-1].Hash == hash {
		return w.changes[n-1]
	}
	return nil
}
