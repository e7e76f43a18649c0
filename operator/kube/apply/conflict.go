package apply

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// promptOverwrites is the number of consecutive foreign changes of an object that are
	// overwritten immediately, because edits by a user or a test are no conflict.
	promptOverwrites = 5
	// firstPause and lastPause bound the pauses before further overwrites, which double each time.
	firstPause = time.Second
	lastPause  = 5 * time.Minute
	// overwritesTogether is the maximum time between consecutive overwrites until there is a conflict.
	overwritesTogether = 2 * time.Minute
)

// Conflict is an object that another client keeps reverting.
type Conflict struct {
	Kind  string // for example "StatefulSet"
	Name  string
	By    string // human-readable name of the other client
	Since time.Time
	Wait  time.Duration // time until the object must be compared again
	Gone  bool          // whether the object does not exist until it is written again
	New   bool          // whether this conflict is returned for the first time
}

func (c Conflict) String() string { return describe([]Conflict{c}) }

// describe returns a message about conflicts with one client.
func describe(all []Conflict) string {
	var names []string
	since := all[0].Since
	for _, c := range all {
		names = append(names, fmt.Sprintf("%s %q", c.Kind, c.Name))
		if c.Since.Before(since) {
			since = c.Since
		}
	}
	back := "it"
	if len(all) > 1 {
		back = "them"
	}
	return fmt.Sprintf("%s: %s has been changing %s back since %s", strings.Join(names, ", "), all[0].By, back, since.UTC().Format(time.RFC3339))
}

// ConflictError means that another client keeps reverting objects. They are overwritten
// with backoff, so some of them may be outdated.
type ConflictError struct {
	Conflicts []Conflict
}

func (e *ConflictError) Error() string {
	by := map[string][]Conflict{}
	for _, c := range e.Conflicts {
		by[c.By] = append(by[c.By], c)
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		all = append(all, describe(by[name]))
	}
	return strings.Join(all, "; ") + "; the operator overwrites with backoff (up to " + lastPause.String() + ") until that stops"
}

// Wait returns the time until the objects must be compared again.
func (e *ConflictError) Wait() time.Duration {
	out := lastPause
	for _, c := range e.Conflicts {
		out = min(out, c.Wait)
	}
	return out
}

// Contested returns the conflicts of a *ConflictError and any other error unchanged.
func Contested(err error) ([]Conflict, error) {
	if conflict, is := errors.AsType[*ConflictError](err); is {
		return conflict.Conflicts, nil
	}
	return nil, err
}

// errPaused is the error of a write that is postponed because of a conflict.
var errPaused = errors.New("write postponed: another client keeps reverting the object")

// state is the part of an object that reveals changes by others. It is zero if the object does not exist.
type state struct {
	meta       string // labels, annotations and owner references; resourceVersion of kinds without generation
	generation int64  // changes with the spec; 0 for kinds without
}

// objectID identifies an object of any kind.
type objectID struct{ kind, namespace, name string }

// history records our writes of one object.
type history struct {
	want, next [sha256.Size]byte // content of the last and the pending write
	found      state             // state before the pending write
	asked      bool              // whether next and found belong to a pending write
	left       state             // state after the last write
	signed     time.Time         // time of the last write according to the API server
	written    bool              // whether there was a last write
	last       time.Time         // time of the last write, or of a foreign change that was noticed

	overwrites int       // consecutive ones
	foreign    int       // those of them that undid a change of another client
	since      time.Time // time of the first overwrite
	resume     time.Time // zero, or the time from which the object may be overwritten again
	by         string    // not empty: there is a conflict with this client
	reported   bool
}

// conflicts detects objects that another client reverts after each of our writes, and
// schedules when to write them again:
//
//	the object is not as wanted, and we want  | then
//	------------------------------------------|----------------------------
//	something else than in our last write     | write: the change is ours
//	the same, as often as a user may edit it  | write
//	the same, repeatedly                      | wait, twice as long each time
//
// An admission webhook that changes each write in another way is such a client.
//
// A conflict ends when our write remains for some pauses. conflicts is safe for concurrent
// use.
type conflicts struct {
	overwrote func(kind string) // called for each foreign change that was overwritten

	mu    sync.Mutex
	of    map[objectID]*history
	swept time.Time
}

// turn is the answer to the announcement of a write.
type turn struct {
	wait time.Duration // 0: write now
	// begins means that a conflict begins: call [conflicts.name] with the client that wrote after signed or, if no other
	// client has (untouched), with what changes our writes themselves.
	begins, untouched bool
	signed            time.Time
}

// before announces a write.
func (c *conflicts) before(id objectID, want [sha256.Size]byte, found state, now time.Time) turn {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.of[id]
	if h == nil {
		h = &history{last: now}
		if c.of == nil {
			c.of = map[objectID]*history{}
		}
		c.of[id] = h
	}
	h.next, h.found, h.asked = want, found, true
	if !h.written || h.want != want || h.left == found && h.foreign > 0 {
		return turn{} // the object is unchanged since our write, and only gets a new hash
	}
	if h.over(now) {
		h.forgive()
	}
	if h.overwrites < promptOverwrites {
		return turn{}
	}
	if h.resume.IsZero() {
		h.resume, h.last = now.Add(pause(h.overwrites)), now
	}
	return turn{max(0, h.resume.Sub(now)), h.by == "", h.foreign == 0, h.signed}
}

// found corrects the state before the pending write: a cache had an earlier one.
func (c *conflicts) found(id objectID, now state) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.of[id]; h != nil && h.asked {
		h.found = now
	}
}

// name sets the client that reverts an object.
func (c *conflicts) name(id objectID, by string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if h := c.of[id]; h != nil {
		h.by = by
	}
}

// wrote records the result of the write that was announced to before, and reports whether
// it overwrote a foreign change.
func (c *conflicts) wrote(id objectID, made state, signed, now time.Time) (overwrote bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer c.sweep(now)
	h := c.of[id]
	if h == nil {
		return false
	}
	// An annotation of `kubectl rollout restart` changes the spec and is kept.
	undone := h.found != h.left && (h.found.meta != h.left.meta || h.found.generation != made.generation)
	// If a webhook changes each write in another way, the object never equals the wanted one. A new hash of the inputs
	// follows each change of a spec, and is no change itself, nor is an object that we delete and create.
	changed := h.found == h.left && h.left != state{} && made != state{} &&
		(made.generation != h.left.generation || made.generation == 0 && made.meta != h.left.meta)
	again := h.asked && h.written && h.want == h.next
	if overwrote = again && undone; overwrote || again && changed {
		if h.overwrites == 0 {
			h.since = now
		}
		h.overwrites++
		if overwrote {
			h.foreign++
		}
	}
	h.want, h.left, h.signed, h.last = h.next, made, signed, now
	h.asked, h.written, h.resume = false, true, time.Time{}
	return overwrote
}

// forget drops the history of an object that we deleted.
func (c *conflicts) forget(id objectID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, id)
}

// at returns the conflict about an object, if there is one.
func (c *conflicts) at(id objectID, now time.Time) (Conflict, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.of[id]
	if h == nil || h.by == "" {
		return Conflict{}, false
	}
	if h.over(now) {
		h.forgive()
		return Conflict{}, false
	}
	out := Conflict{Kind: id.kind, Name: id.name, By: h.by, Since: h.since, Gone: h.asked && h.found == state{}, New: !h.reported}
	h.reported = true
	// After a pause the object may be as wanted, so that no write follows.
	if out.Wait = h.resume.Sub(now); out.Wait <= 0 {
		out.Wait = h.last.Add(h.quiet()).Sub(now)
	}
	return out, true
}

// count returns the number of objects with a conflict.
func (c *conflicts) count(now time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, h := range c.of {
		if h.by != "" && !h.over(now) {
			n++
		}
	}
	return n
}

// sweep drops expired histories.
func (c *conflicts) sweep(now time.Time) {
	if now.Sub(c.swept) < overwritesTogether {
		return
	}
	c.swept = now
	for id, h := range c.of {
		if h.over(now) {
			delete(c.of, id)
		}
	}
}

// over reports whether our last write has remained long enough.
func (h *history) over(now time.Time) bool { return now.Sub(h.last) >= h.quiet() }

// quiet returns a time that exceeds the pause of another operator of this kind, which may be one step ahead.
func (h *history) quiet() time.Duration {
	if h.overwrites < promptOverwrites {
		return overwritesTogether
	}
	return 3*pause(h.overwrites) + 5*time.Second
}

func (h *history) forgive() {
	h.overwrites, h.foreign, h.resume, h.by, h.reported = 0, 0, time.Time{}, "", false
}

// pause returns how long to wait before the next overwrite.
func pause(overwrites int) time.Duration {
	out := firstPause
	for range overwrites - promptOverwrites {
		if out *= 2; out > lastPause {
			return lastPause
		}
	}
	return out
}
