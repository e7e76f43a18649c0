package informer_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/capacity"
	"github.com/firekeeper-dev/firekeeper/operator/kube/client"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// stored is an object of the fake API server, whose content is generated on demand.
type stored struct {
	namespace, name string
	version, bytes  int
}

func (o stored) text() string {
	return fmt.Sprintf(`{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"name":%q,"namespace":%q,"uid":"u-%s-%s","resourceVersion":"%d","labels":{"team":"a"}},`+
		`"spec":{"selector":{},"endpoints":[{"port":"web"}],"jobLabel":"%s"}}`, o.name, o.namespace, o.namespace, o.name, o.version, strings.Repeat("x", o.bytes))
}

// apiServer lists and watches ServiceMonitors.
type apiServer struct {
	streams bool // whether watches may begin with all objects

	mu      sync.Mutex
	objects []stored // sorted by namespace and name
	version int
	events  []string
	changed chan struct{} // closed at the next event
	reads   int
}

func newAPIServer(streams bool, objects []stored) *apiServer {
	slices.SortFunc(objects, func(a, b stored) int { return strings.Compare(a.namespace+"/"+a.name, b.namespace+"/"+b.name) })
	return &apiServer{streams: streams, objects: objects, version: 1000, changed: make(chan struct{})}
}

func (s *apiServer) put(o stored) { s.change("MODIFIED", o) }

// change changes an object and sends the event. A modified object must exist.
func (s *apiServer) change(kind string, o stored) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	o.version = s.version
	at := slices.IndexFunc(s.objects, func(have stored) bool { return have.namespace == o.namespace && have.name == o.name })
	switch kind {
	case "MODIFIED":
		s.objects[at] = o
	case "DELETED":
		s.objects = slices.Delete(s.objects, at, at+1)
	}
	s.events = append(s.events, fmt.Sprintf(`{"type":%q,"object":%s}`, kind, o.text()))
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	q := r.URL.Query()
	switch {
	case q.Get("watch") == "":
		s.list(w, q.Get("fieldSelector"), q.Get("continue"), q.Get("limit"))
	case q.Get("sendInitialEvents") == "" || s.streams:
		s.watch(w, r, q.Get("sendInitialEvents") != "")
	default:
		http.Error(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`, http.StatusUnprocessableEntity)
	}
}

func (s *apiServer) list(w http.ResponseWriter, field, next, limit string) {
	s.mu.Lock()
	objects, version := slices.Clone(s.objects), s.version
	if name, ok := strings.CutPrefix(field, "metadata.name="); ok {
		objects = slices.DeleteFunc(objects, func(o stored) bool { return o.name != name })
		s.reads++
	}
	s.mu.Unlock()
	from, _ := strconv.Atoi(next)
	objects = objects[from:]
	if n, _ := strconv.Atoi(limit); n > 0 && n < len(objects) {
		objects, next = objects[:n], strconv.Itoa(from+n)
	} else {
		next = ""
	}
	fmt.Fprintf(w, `{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitorList","metadata":{"resourceVersion":"%d","continue":%q},"items":[`, version, next)
	for i, o := range objects {
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		if _, err := w.Write([]byte(o.text())); err != nil {
			return
		}
	}
	fmt.Fprint(w, "]}\n")
}

func (s *apiServer) watch(w http.ResponseWriter, r *http.Request, all bool) {
	s.mu.Lock()
	objects, sent, version := slices.Clone(s.objects), len(s.events), s.version
	s.mu.Unlock()
	if !all {
		from, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion"))
		sent -= version - from
	} else {
		for _, o := range objects {
			fmt.Fprintf(w, `{"type":"ADDED","object":%s}`+"\n", o.text())
		}
		fmt.Fprintf(w, `{"type":"BOOKMARK","object":{"apiVersion":"monitoring.coreos.com/v1","kind":"ServiceMonitor","metadata":{"resourceVersion":"%d",`+
			`"annotations":{"k8s.io/initial-events-end":"true"}}}}`+"\n", version)
	}
	for {
		w.(http.Flusher).Flush()
		s.mu.Lock()
		events, changed := s.events[sent:], s.changed
		s.mu.Unlock()
		sent += len(events)
		if _, err := w.Write([]byte(strings.Join(append(events, ""), "\n"))); err != nil {
			return
		}
		if len(events) > 0 {
			continue
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}

// open returns a running store of the API server after its first list.
func open(t *testing.T, api *apiServer, room int64) (*informer.Store[catalog.Object], *capacity.Capacity) {
	t.Helper()
	server := httptest.NewServer(api)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(func() { cancel(); server.CloseClientConnections(); server.Close() })
	scheme := kruntime.NewScheme()
	if err := v1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	c, err := client.New(&rest.Config{Host: server.URL, QPS: -1}, scheme, v1.SchemeGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	row, stored := catalog.ServiceMonitor, capacity.New(room)
	everywhere, err := informer.NewNamespaces(nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := informer.NewStore(c.REST(), row.Resource, row.New(), informer.Watch{Namespaces: everywhere, Bounds: &informer.Bounds{
		Capacity: stored, Kind: row.Kind,
		Page: func(ctx context.Context, namespace string, o metav1.ListOptions, most int64) (kruntime.Object, int64, error) {
			return c.Page(ctx, row.Resource, namespace, o, most)
		},
		Read: func(ctx context.Context, name types.NamespacedName) (kruntime.Object, error) {
			return c.Read(ctx, row.Resource, name)
		},
	}}, nil)
	s.Run(ctx)
	if err := s.Wait(ctx); err != nil {
		t.Fatal(err)
	}
	return s, stored
}

// eventually waits until holds returns true.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

func stubs(s *informer.Store[catalog.Object]) (out []string) {
	for o := range s.All() {
		if capacity.IsStub(o) {
			out = append(out, o.GetNamespace()+"/"+o.GetName())
		}
	}
	slices.Sort(out)
	return out
}

// live returns the number of live heap bytes at the last garbage collection.
func live() int64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// peak samples the live heap bytes; the returned function stops it and returns the maximum.
func peak() func() int64 {
	done, result := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		tick := time.NewTicker(2 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				most = max(most, live())
			case <-done:
				result <- most
				return
			}
		}
	}()
	return func() int64 { close(done); return <-result }
}

// 600 objects of one namespace, 150 MB in total, are listed and watched within the capacity,
// and all objects of another namespace are stored.
func TestManyLargeObjects(t *testing.T) {
	many, large := 600, 256<<10
	if testing.Short() {
		many = 200
	}
	const room = 20 << 20
	for name, streams := range map[string]bool{"watch with initial events": true, "pages": false} {
		t.Run(name, func(t *testing.T) {
			var objects []stored
			for i := range many {
				objects = append(objects, stored{"bad", fmt.Sprintf("m%04d", i), i + 1, large})
			}
			for i := range 100 {
				objects = append(objects, stored{[]string{"early", "late"}[i%2], fmt.Sprintf("m%04d", i), i + 1, 2 << 10})
			}
			api := newAPIServer(streams, objects)
			runtime.GC()
			before, most := live(), peak()
			s, stored := open(t, api, room)
			during := most() - before
			held, left := stored.Held()
			var whole int
			for o := range s.All() {
				if !capacity.IsStub(o) {
					whole++
				} else if v1.Undecodable(o) == nil || o.GetNamespace() != "bad" {
					t.Fatalf("%s/%s is a stub without a reason", o.GetNamespace(), o.GetName())
				}
			}
			if whole+left != many+100 || held > room || held < room-2*large {
				t.Errorf("%d objects are whole and %d stubs, %d bytes held", whole, left, held)
			}
			t.Logf("alive: %d MiB at most while listed; held %d MiB", during>>20, held>>20)
			if during > 3*room {
				t.Errorf("%d bytes of the heap alive while listed", during)
			}
			// Buffers of connections and pools survive a garbage collection or two.
			eventually(t, "what was read to decide stays alive", func() bool { runtime.GC(); return live()-before <= 2*room })
			if n := len(s.List("late", informer.Where{})); n != 50 {
				t.Errorf("%d objects of the other namespace", n)
			}
		})
	}
}

// Left-out objects return when others are deleted or shrink, without a new list. Handlers get both events.
func TestRoomAgain(t *testing.T) {
	for name, streams := range map[string]bool{"watch with initial events": true, "pages": false} {
		t.Run(name, func(t *testing.T) {
			var objects []stored
			for i := range 6 {
				objects = append(objects, stored{"a", fmt.Sprint("m", i), i + 1, 200<<10 + i})
			}
			api := newAPIServer(streams, objects)
			s, _ := open(t, api, 1100<<10)
			var mu sync.Mutex
			var seen []string
			if err := s.OnChange(func(e informer.Event[catalog.Object]) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, fmt.Sprint(e.Action, " ", e.Object().GetName(), " ", capacity.IsStub(e.Object())))
			}); err != nil {
				t.Fatal(err)
			}
			if got := stubs(s); !slices.Equal(got, []string{"a/m5"}) {
				t.Fatalf("stubs: %q", got)
			}
			api.put(stored{"a", "m0", 0, 250 << 10})
			eventually(t, "the object that grew is not left out", func() bool { return slices.Equal(stubs(s), []string{"a/m0"}) })
			api.change("DELETED", stored{"a", "m1", 0, 10})
			eventually(t, "the object does not come back", func() bool { return stubs(s) == nil })
			api.put(stored{"a", "m5", 0, 10})
			eventually(t, "the watch goes on", func() bool { o, _ := s.Get("a", "m5"); return o.GetResourceVersion() == "1003" })
			mu.Lock()
			defer mu.Unlock()
			for _, want := range []string{"add m5 true", "update m0 true", "update m5 false", "delete m1 false", "update m0 false"} {
				if !slices.Contains(seen, want) {
					t.Errorf("no event %q in %q", want, seen)
				}
			}
			if n := len(slices.Collect(s.Sorted())); n != 5 {
				t.Errorf("%d objects in order", n)
			}
		})
	}
}
