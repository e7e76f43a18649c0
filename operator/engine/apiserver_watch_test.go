package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/firekeeper-dev/firekeeper/operator/kube/bindings"
)

// watching is the response body of a watch, which streams changes.
type watching struct {
	call
	match   func(object) bool
	partial bool
	ctx     context.Context

	mu     sync.Mutex
	text   bytes.Buffer // guarded
	closed bool         // guarded
	more   chan struct{}
}

// watch responds to a watch, starting at a version or with the current objects.
func (s *apiServer) watch(r *http.Request, c call, partial bool) *http.Response {
	w := &watching{call: c, match: matching(r), partial: partial, ctx: r.Context(), more: make(chan struct{}, 1)}
	query := r.URL.Query()
	if query.Get("sendInitialEvents") == "true" {
		for _, o := range s.objects[c.resource] {
			w.tell(change{after: o, resource: c.resource})
		}
		end := object{"metadata": object{"resourceVersion": strconv.Itoa(s.version), "annotations": object{metav1.InitialEventsAnnotationKey: "true"}}}
		kind := kindsOf[c.resource]
		end["apiVersion"], end["kind"] = kind.APIVersion, kind.Kind
		w.event("BOOKMARK", end)
	} else {
		from, _ := strconv.Atoi(query.Get("resourceVersion"))
		if from < s.oldest {
			return respond(&metav1.Status{Code: http.StatusGone, Reason: metav1.StatusReasonExpired, Message: "too old resource version"})
		}
		for _, ch := range s.history {
			if ch.version > from {
				w.tell(ch)
			}
		}
	}
	s.watches[w] = true
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: w}
}

// lose ends all watches, applies changes and expires their versions, so that no watch shows the changes.
func (s *apiServer) lose(changes func()) {
	s.mu.Lock()
	s.down = true
	for w := range s.watches {
		w.end()
	}
	clear(s.watches)
	s.mu.Unlock()
	changes()
	s.mu.Lock()
	s.version++
	s.down, s.oldest, s.history = false, s.version, nil
	s.mu.Unlock()
}

func (w *watching) tell(ch change) {
	was := ch.before != nil && w.covers(ch.before) && w.match(ch.before)
	is := ch.after != nil && w.covers(ch.after) && w.match(ch.after)
	switch {
	case ch.resource != w.resource:
	case is && was:
		w.event("MODIFIED", ch.after)
	case is:
		w.event("ADDED", ch.after)
	case was && ch.after != nil:
		w.event("DELETED", ch.after)
	case was:
		w.event("DELETED", ch.before)
	}
}

func (w *watching) event(kind string, o object) {
	text, err := json.Marshal(struct {
		Type   string `json:"type"`
		Object object `json:"object"`
	}{kind, shown(o, w.partial)})
	if err != nil {
		panic(err)
	}
	w.mu.Lock()
	w.text.Write(append(text, '\n'))
	w.mu.Unlock()
	w.wake()
}

func (w *watching) wake() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (w *watching) end() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.wake()
}

// Read implements io.Reader. An event follows the response to the write that caused it.
func (w *watching) Read(p []byte) (int, error) {
	for {
		time.Sleep(time.Millisecond)
		w.mu.Lock()
		n, _ := w.text.Read(p)
		closed := w.closed
		w.mu.Unlock()
		switch {
		case n > 0:
			return n, nil
		case closed:
			return 0, io.EOF
		}
		select {
		case <-w.more:
		case <-w.ctx.Done():
			return 0, w.ctx.Err()
		}
	}
}

// Close implements io.Closer.
func (w *watching) Close() error { w.end(); return nil }

func meta(o object) object {
	if m, is := o["metadata"].(object); is {
		return m
	}
	m := object{}
	if o != nil {
		o["metadata"] = m
	}
	return m
}

func str(o object, key string) string { s, _ := o[key].(string); return s }

func list(v any) []any { l, _ := v.([]any); return l }

func clone(o object) object {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err)
	}
	var out object
	if err := json.Unmarshal(text, &out); err != nil {
		panic(err)
	}
	return out
}

// merge applies a merge patch.
func merge(into, from object) {
	for k, v := range from {
		inner, is := v.(object)
		have, has := into[k].(object)
		switch {
		case v == nil:
			delete(into, k)
		case is && has:
			merge(have, inner)
		case k == "conditions":
			into[k] = slices.Concat(list(v), slices.DeleteFunc(slices.Clone(list(into[k])), func(c any) bool { return !strings.Contains(str(c.(object), "type"), "/") }))
		default:
			into[k] = v
		}
	}
}

// patched applies a JSON patch and reports whether all of its tests succeed.
func patched(o object, steps []bindings.Operation) bool {
	for _, step := range steps {
		words := strings.Split(strings.TrimPrefix(step.Path, "/"), "/")
		value, _ := json.Marshal(step.Value)
		var v any
		_ = json.Unmarshal(value, &v)
		var at any = o
		set := func(any) {}
		for i, word := range words {
			word = strings.NewReplacer("~1", "/", "~0", "~").Replace(word)
			last := i == len(words)-1
			switch in := at.(type) {
			case object:
				at = in[word]
				set = func(x any) { in[word] = x }
				if last && step.Op == "remove" {
					delete(in, word)
				} else if last && step.Op != "test" {
					in[word] = v
				}
			case []any:
				replace := set
				n, err := strconv.Atoi(word)
				switch {
				case last && step.Op == "add" && word == "-":
					replace(append(in, v))
				case err != nil || n > len(in) || n == len(in) && step.Op != "add":
					return false
				case last && step.Op == "add":
					replace(slices.Insert(slices.Clone(in), n, v))
				case last && step.Op == "remove":
					replace(slices.Delete(slices.Clone(in), n, n+1))
				case last && step.Op == "replace":
					in[n] = v
				default:
					at, set = in[n], func(x any) { in[n] = x }
				}
			default:
				return false
			}
		}
		if step.Op == "test" && !reflect.DeepEqual(at, v) {
			return false
		}
	}
	return true
}
