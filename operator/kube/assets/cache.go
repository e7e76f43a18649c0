package assets

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// Versions tells the current version of an object without reading it, as a
// metadata informer can.
type Versions interface {
	// Version returns the resourceVersion, "" when the object does not exist.
	// known is false when the object is not watched.
	Version(ref Ref) (version string, known bool)
}

// Seer (optional, a Versions) is told what was read, for telling of it later.
type Seer interface {
	Seen(ref Ref, version string)
}

// Cache reads objects from the API server and keeps each as long as its
// version stands. Only objects that were asked for are kept.
//
// What no watch tells (an object that a selector keeps out of the watch or that is
// missing there, one that may not be read) holds for a bounded time, so that asking
// again costs no call. [Cache.Due] lists what is to be read again.
type Cache struct {
	kube     kubernetes.Interface
	versions Versions
	now      func() time.Time

	room int // for what is kept, in bytes

	mu      sync.Mutex
	answers map[Ref]*answer
	held    int // bytes of the contents that are kept
	changes atomic.Uint64
}

// answer is what the API server said about an object.
type answer struct {
	object Object
	err    error // a NotFoundError or what the API server refused
	asked  watched
	until  time.Time // zero: the watch tells when it no longer holds
	pause  time.Duration
	bytes  int  // of the content that is kept
	empty  bool // only the version is kept, see Cache.shrink
}

// watched is what the watch knows of an object.
type watched struct {
	version string
	known   bool
}

const (
	// firstRecheck and lastRecheck bound how long an answer holds that no watch tells about.
	firstRecheck = time.Minute
	lastRecheck  = 8 * time.Minute
	// keepDue is how long an answer stays due that nobody reads again.
	keepDue = time.Minute
	// refusedVersion is the version of an object that may not be read; no
	// resourceVersion is such a word.
	refusedVersion = "refused"
)

// NewCache returns an empty cache, which keeps everything.
func NewCache(kube kubernetes.Interface, versions Versions) *Cache {
	return &Cache{kube: kube, versions: versions, now: time.Now, room: math.MaxInt, answers: map[Ref]*answer{}}
}

// Within returns the cache, which is to keep so many bytes of contents. When there is no room for
// all, the namespaces that have most lose their largest objects first: of these only the version
// is kept, and they are read again when they are asked for.
func (c *Cache) Within(room int64) *Cache {
	c.room = int(room)
	return c
}

// set replaces what is known of an object. c.mu must be held.
func (c *Cache) set(ref Ref, a *answer) {
	if before := c.answers[ref]; before != nil {
		c.held -= before.bytes
	}
	if a == nil {
		delete(c.answers, ref)
		return
	}
	if a.bytes = 0; a.err == nil && !a.empty {
		a.bytes = a.object.bytes()
	}
	c.held += a.bytes
	c.answers[ref] = a
	if c.held > c.room {
		c.shrink()
	}
}

// shrink drops contents until the others fit.
func (c *Cache) shrink() {
	var refs []Ref
	var objects []share.Object
	for ref, a := range c.answers {
		if a.bytes > 0 {
			refs = append(refs, ref)
			objects = append(objects, share.Object{Namespace: ref.Namespace, Name: ref.Kind.String() + "/" + ref.Name, Bytes: a.bytes})
		}
	}
	// Some more, so that not each object that follows has all divided again.
	for _, i := range share.Divide(objects, c.room-c.room/8) {
		without := *c.answers[refs[i]]
		without.object, without.empty, without.bytes = Object{Version: without.object.Version}, true, 0
		c.held -= c.answers[refs[i]].bytes
		c.answers[refs[i]] = &without
	}
}

// Current reports whether every dependency still has the version that was seen.
func (c *Cache) Current(deps []Dependency) bool {
	for _, d := range deps {
		if v, known := c.version(d.Ref); !known || v != d.Version {
			return false
		}
	}
	return true
}

// version is what reading the object would find; known is false when only the
// API server can say.
func (c *Cache) version(ref Ref) (version string, known bool) {
	at := c.watched(ref)
	if at.gone() {
		return "", true
	}
	if a := c.kept(ref); a.holds(at, c.now()) {
		return a.version(), true
	}
	return at.version, at.known
}

func (c *Cache) watched(ref Ref) (w watched) {
	w.version, w.known = c.versions.Version(ref)
	return w
}

// gone reports whether the object is known to be missing.
func (w watched) gone() bool { return w.known && w.version == "" }

func (c *Cache) kept(ref Ref) *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[ref]
}

// holds reports whether the answer still stands; a nil one never does.
func (a *answer) holds(at watched, now time.Time) bool {
	switch {
	case a == nil:
		return false
	case a.err == nil && at.known:
		return a.object.Version == at.version || a.asked == at // read after the watch showed this
	}
	return a.asked == at && now.Before(a.until)
}

func (a *answer) version() string {
	if a.err != nil && !IsNotFound(a.err) {
		return refusedVersion
	}
	return a.object.Version
}

// Forget drops an object, after its deletion. What is being read at this moment is
// not kept either.
func (c *Cache) Forget(ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(ref, &answer{until: c.now(), empty: true}) // a read that is under way finds another answer
	c.changes.Add(1)
}

// Retry lists what was refused in a namespace, or in all if it is empty. It is read again
// when it is next asked for.
func (c *Cache) Retry(namespace string) []Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Ref
	for ref, a := range c.answers {
		if a.version() == refusedVersion && (namespace == "" || ref.Namespace == namespace) {
			c.set(ref, &answer{err: a.err, asked: a.asked, until: c.now(), pause: firstRecheck})
			out = append(out, ref)
		}
	}
	return out
}

// Due lists what was read and must be read again, because its time is over and no
// watch tells about it. Dependents recompile.
func (c *Cache) Due() []Ref {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Ref
	for ref, a := range c.answers {
		if at := c.watched(ref); a.err == nil && at.known && a.pause > 0 && a.object.Version == at.version {
			c.set(ref, &answer{object: a.object, asked: at, empty: a.empty}) // it is watched by now
			continue
		}
		switch {
		case a.until.IsZero() || now.Before(a.until):
		case now.Sub(a.until) > keepDue:
			c.set(ref, nil) // nobody depends on it any more
		case a.pause > 0:
			out = append(out, ref)
		}
	}
	return out
}

// Reader returns a Reader whose calls end with the context.
func (c *Cache) Reader(ctx context.Context) Reader { return cacheReader{c, ctx} }

// Kept returns a Reader of what was read for others. It never calls the API server: of an
// object that has changed since, it returns what was read before.
func (c *Cache) Kept() Reader { return keptReader{c} }

// Changes is the number of times that what is kept has changed.
func (c *Cache) Changes() uint64 { return c.changes.Load() }

type keptReader struct{ cache *Cache }

// errNotKept is why a reference is not known.
var errNotKept = errors.New("it is not in the cache of the operator, which has what its workloads refer to")

func (r keptReader) Object(ref Ref) (Object, error) {
	if r.cache.watched(ref).gone() {
		return Object{}, &NotFoundError{Ref: ref}
	}
	a := r.cache.kept(ref)
	if a == nil || a.err == nil && (a.object.Version == "" || a.empty) {
		return Object{}, errNotKept
	}
	return a.object, a.err
}

type cacheReader struct {
	cache *Cache
	ctx   context.Context
}

func (r cacheReader) Object(ref Ref) (Object, error) { return r.cache.object(r.ctx, ref) }

func (c *Cache) object(ctx context.Context, ref Ref) (Object, error) {
	at := c.watched(ref)
	if at.gone() {
		return Object{}, &NotFoundError{Ref: ref}
	}
	before := c.kept(ref)
	if before.holds(at, c.now()) && !before.empty {
		return before.object, before.err
	}
	got, err := c.read(ctx, ref)
	switch {
	case apierrors.IsNotFound(err):
		err = &NotFoundError{Ref: ref}
	case err != nil && !refused(err):
		return Object{}, err
	}
	c.keep(ref, before, &answer{object: got, err: err, asked: at})
	if seer, is := c.versions.(Seer); is && err == nil {
		seer.Seen(ref, got.Version)
	}
	return got, err
}

// keep remembers an answer, unless the object was forgotten while it was read. The
// same answer again holds longer, but not that an object is there: it may change.
func (c *Cache) keep(ref Ref, before, a *answer) {
	if a.err != nil || !a.asked.known {
		a.pause = firstRecheck
		if a.err != nil && before != nil && before.pause > 0 && before.version() == a.version() {
			a.pause = min(2*before.pause, lastRecheck)
		}
		a.until = c.now().Add(a.pause)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.answers[ref]; now == before || now != nil && before != nil && now.empty && now.version() == before.version() && now.asked == before.asked {
		c.set(ref, a)
		c.changes.Add(1)
	}
}

func (c *Cache) read(ctx context.Context, ref Ref) (Object, error) {
	switch ref.Kind {
	case Secret:
		s, err := c.kube.CoreV1().Secrets(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return Object{}, err
		}
		return Object{Version: s.ResourceVersion, Values: s.Data}, nil
	case ConfigMap:
		m, err := c.kube.CoreV1().ConfigMaps(ref.Namespace).Get(ctx, ref.Name, metav1.GetOptions{})
		if err != nil {
			return Object{}, err
		}
		values := make(map[string][]byte, len(m.Data))
		for k, v := range m.Data {
			values[k] = []byte(v)
		}
		return Object{Version: m.ResourceVersion, Values: values, Binary: m.BinaryData}, nil
	}
	return Object{}, fmt.Errorf("kind %d is neither Secret nor ConfigMap", ref.Kind)
}
