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

// Versions returns the current version of an object without reading it, as a metadata informer can.
type Versions interface {
	// Version returns the resourceVersion, "" if the object does not exist. known is false if the
	// object is not watched.
	Version(ref Ref) (version string, known bool)
}

// Seer is an optional interface of [Versions] that records the versions of objects read.
type Seer interface {
	Seen(ref Ref, version string)
}

// Cache reads objects from the API server and caches each until its version changes. Only
// requested objects are cached.
//
// Results that no watch invalidates (an object that is excluded from the watch by a selector or
// missing there, or that must not be read) are cached for a limited time. [Cache.Due] lists the
// expired ones.
type Cache struct {
	kube     kubernetes.Interface
	versions Versions
	now      func() time.Time

	room int // maximum of held, in bytes

	mu      sync.Mutex
	answers map[Ref]*answer
	held    int // size of the cached contents in bytes
	changes atomic.Uint64
}

// answer is a cached response of the API server.
type answer struct {
	object Object
	err    error // a NotFoundError, or the error with which the API server rejected the request
	asked  watched
	until  time.Time // zero: invalidated by the watch
	pause  time.Duration
	lost   time.Time // since when the object is forbidden, which was read before; zero: it is not
	bytes  int       // of the cached content
	empty  bool      // only the version is cached, see Cache.shrink
}

// watched is the state of an object in the watch.
type watched struct {
	version string
	known   bool
}

const (
	// firstRecheck and lastRecheck bound the validity of an answer that no watch invalidates.
	firstRecheck = time.Minute
	lastRecheck  = 8 * time.Minute
	// keepDue is how long an expired answer remains due without being read.
	keepDue = time.Minute
	// forgiven is how long an object that was read before is used after it became forbidden. Roles and bindings
	// are replaced by deleting and recreating them, and a restarted API server forbids everything for a moment:
	// what refers to the object must not disappear for that. It covers some rechecks.
	forgiven = 5 * time.Minute
	// refusedVersion is the version of an object that must not be read. It cannot be a resourceVersion.
	refusedVersion = "refused"
)

// NewCache returns an empty cache without a size limit.
func NewCache(kube kubernetes.Interface, versions Versions) *Cache {
	return &Cache{kube: kube, versions: versions, now: time.Now, room: math.MaxInt, answers: map[Ref]*answer{}}
}

// Within limits the contents in the cache to room bytes and returns the cache. Above the limit,
// it evicts the largest objects of the namespaces that use most. The version of an evicted object
// remains, and its content is read again on the next request.
func (c *Cache) Within(room int64) *Cache {
	c.room = int(room)
	return c
}

// set replaces the answer for an object. c.mu must be held.
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

// shrink evicts contents until the others fit.
func (c *Cache) shrink() {
	var refs []Ref
	var objects []share.Object
	for ref, a := range c.answers {
		if a.bytes > 0 {
			refs = append(refs, ref)
			objects = append(objects, share.Object{Namespace: ref.Namespace, Name: ref.Kind.String() + "/" + ref.Name, Bytes: a.bytes})
		}
	}
	// Evicting an extra eighth avoids another division for each of the next objects.
	for _, i := range share.Divide(objects, c.room-c.room/8) {
		without := *c.answers[refs[i]]
		without.object, without.empty, without.bytes = Object{Version: without.object.Version}, true, 0
		c.held -= c.answers[refs[i]].bytes
		c.answers[refs[i]] = &without
	}
}

// Current reports whether all dependencies still have the recorded versions.
func (c *Cache) Current(deps []Dependency) bool {
	for _, d := range deps {
		if v, known := c.version(d.Ref); !known || v != d.Version {
			return false
		}
	}
	return true
}

// version returns the version that a read of the object would return. known is false if only the
// API server can provide it.
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

// gone reports whether the watch covers the object and the object does not exist.
func (w watched) gone() bool { return w.known && w.version == "" }

func (c *Cache) kept(ref Ref) *answer {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[ref]
}

// holds reports whether the answer is current; it is false for nil.
func (a *answer) holds(at watched, now time.Time) bool {
	switch {
	case a == nil:
		return false
	case !a.lost.IsZero():
	case a.err == nil && at.known:
		return a.object.Version == at.version || a.asked == at // read after the watch had this version
	}
	return a.asked == at && now.Before(a.until)
}

func (a *answer) version() string {
	if a.err != nil && !IsNotFound(a.err) {
		return refusedVersion
	}
	return a.object.Version
}

// Forget evicts a deleted object. The result of an in-flight read of it is not cached either.
func (c *Cache) Forget(ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.set(ref, &answer{until: c.now(), empty: true}) // makes an in-flight read notice the change
	c.changes.Add(1)
}

// Unsure expires the answer for an object that disappeared from the watch although it may exist: the selectors of the
// watch may exclude it now, or the permission for it may be lost. The next request reads it again.
func (c *Cache) Unsure(ref Ref) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := &answer{until: c.now(), empty: true}
	if a := c.answers[ref]; a != nil && a.err == nil && !a.empty {
		next = a.expired(c.now())
	}
	c.set(ref, next)
	c.changes.Add(1)
}

// expired returns the answer as one that must be read again.
func (a *answer) expired(now time.Time) *answer {
	return &answer{object: a.object, err: a.err, asked: a.asked, until: now, pause: firstRecheck, lost: a.lost}
}

// Retry expires the answers for objects in a namespace, or in all if it is empty, that the API
// server refused to return. It returns their references.
func (c *Cache) Retry(namespace string) []Ref {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Ref
	for ref, a := range c.answers {
		switch {
		case namespace != "" && ref.Namespace != namespace:
		case a.version() == refusedVersion, !a.lost.IsZero():
			c.set(ref, a.expired(c.now()))
			out = append(out, ref)
		}
	}
	return out
}

// Due returns the objects that must be read again because their answers have expired and no watch
// invalidates them. Their dependents must be recompiled.
func (c *Cache) Due() []Ref {
	now := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Ref
	for ref, a := range c.answers {
		if at := c.watched(ref); a.err == nil && at.known && a.pause > 0 && a.object.Version == at.version {
			c.set(ref, &answer{object: a.object, asked: at, empty: a.empty}) // it has become watched
			continue
		}
		switch {
		case a.until.IsZero() || now.Before(a.until):
		case now.Sub(a.until) > keepDue:
			c.set(ref, nil) // it no longer has dependents
		case a.pause > 0:
			out = append(out, ref)
		}
	}
	return out
}

// Reader returns a Reader whose calls are canceled with ctx.
func (c *Cache) Reader(ctx context.Context) Reader { return cacheReader{c, ctx, nil} }

// Kept returns a Reader of the cached objects. It never calls the API server, so an object that
// has changed since it was read is returned in its old version.
func (c *Cache) Kept() Reader { return keptReader{c} }

// Changes returns the number of changes of the cache.
func (c *Cache) Changes() uint64 { return c.changes.Load() }

type keptReader struct{ cache *Cache }

// errNotKept is the error for an object that is not cached.
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
	pace  *Pace // nil: not limited
}

// Object implements [Reader].
func (r cacheReader) Object(ref Ref) (Object, error) {
	c := r.cache
	at := c.watched(ref)
	if at.gone() {
		return Object{}, &NotFoundError{Ref: ref}
	}
	before := c.kept(ref)
	if before.holds(at, c.now()) && !before.empty {
		return before.object, before.err
	}
	got, err := r.read(ref, before.unchanged(at))
	switch {
	case apierrors.IsNotFound(err):
		err = &NotFoundError{Ref: ref}
	case err != nil && !refused(err):
		return Object{}, err
	}
	answered := &answer{object: got, err: err, asked: at}
	if apierrors.IsForbidden(err) && before.outlives(c.now()) {
		answered = &answer{object: before.object, asked: at, lost: before.lost}
		if answered.lost.IsZero() {
			answered.lost = c.now()
		}
	}
	c.keep(ref, before, answered)
	if seer, is := c.versions.(Seer); is && err == nil {
		seer.Seen(ref, got.Version)
	}
	return answered.object, answered.err
}

// unchanged reports whether the object was read before and has not changed since, as far as the watch covers it. It
// returns false for nil.
func (a *answer) unchanged(at watched) bool {
	return a != nil && a.version() != "" && (!at.known || a.version() == at.version)
}

// read reads an object from the API server, unless the pace is used up.
//
// again: it was read before and has not changed.
func (r cacheReader) read(ref Ref, again bool) (Object, error) {
	if r.pace == nil {
		return r.cache.read(r.ctx, ref)
	}
	if !r.pace.begin(ref.Namespace, again) {
		return Object{}, errPostponed
	}
	begin := r.cache.now()
	defer func() { r.pace.end(ref.Namespace, r.cache.now().Sub(begin)) }()
	return r.cache.read(r.ctx, ref)
}

// outlives reports whether an object that has become forbidden is still used.
func (a *answer) outlives(now time.Time) bool {
	return a != nil && a.err == nil && !a.empty && a.object.Version != "" && (a.lost.IsZero() || now.Sub(a.lost) < forgiven)
}

// keep caches an answer unless the object was forgotten meanwhile. The validity of repeated
// errors increases up to lastRecheck, that of objects does not because they may change.
func (c *Cache) keep(ref Ref, before, a *answer) {
	if a.err != nil || !a.asked.known || !a.lost.IsZero() {
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
