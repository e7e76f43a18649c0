package capacity

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/operator/api/budget"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/kube/share"
)

// server stores objects and delivers changes to a cache like a watch.
type server struct {
	*Cache
	mu      sync.Mutex
	stored  map[types.NamespacedName]*v1.ServiceMonitor
	cached  map[types.NamespacedName]Object
	reads   []string
	version int
}

func newServer(c *Capacity, kind string) *server {
	s := &server{stored: map[types.NamespacedName]*v1.ServiceMonitor{}, cached: map[types.NamespacedName]Object{}}
	s.Cache = c.Cache(kind, false, func(_ context.Context, name types.NamespacedName) (Object, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.reads = append(s.reads, name.Name)
		if o := s.stored[name]; o != nil {
			return o.DeepCopy(), nil
		}
		return nil, apierrors.NewNotFound(schema.GroupResource{}, name.Name)
	})
	return s
}

// run delivers the changes of the capacity until the context ends.
func (s *server) run(ctx context.Context) {
	go s.Run(ctx)
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.Changed():
			s.take()
		}
	}
}

func (s *server) take() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.Take() {
		s.cached[catalog.KeyOf(o)] = o
	}
}

// put stores an object of kib KiB.
func (s *server) put(namespace, name string, kib int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	o := &v1.ServiceMonitor{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: name, UID: types.UID(namespace + name), ResourceVersion: fmt.Sprint(s.version), Labels: map[string]string{"team": "a"},
	}}
	o.Spec.JobLabel = strings.Repeat("x", kib<<10)
	s.stored[catalog.KeyOf(o)] = o
	s.cached[catalog.KeyOf(o)] = s.Enter(o.DeepCopy())
}

func (s *server) delete(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := types.NamespacedName{Namespace: namespace, Name: name}
	s.Remove(s.stored[key])
	delete(s.stored, key)
	delete(s.cached, key)
}

// stubNames returns the sorted names of cached stubs.
func (s *server) stubNames() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, o := range s.cached {
		if IsStub(o) {
			out = append(out, key.String())
		}
	}
	slices.Sort(out)
	return out
}

// leftOutOf returns the names of the stored objects that share.Divide leaves out.
func leftOutOf(room int, servers ...*server) (out []string) {
	var objects []share.Object
	for _, s := range servers {
		for key, o := range s.stored {
			objects = append(objects, share.Object{Namespace: key.Namespace, Name: s.kind + "/" + key.Name, Bytes: budget.Size(o, mostCounted)})
		}
	}
	for _, i := range share.Divide(objects, room) {
		_, name, _ := strings.Cut(objects[i].Name, "/")
		out = append(out, objects[i].Namespace+"/"+name)
	}
	slices.Sort(out)
	return out
}
