package feed

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

const (
	// inventoryPause is the minimum time between two inventories of a pod.
	inventoryPause = 10 * time.Second
	// maxInventories is the maximum number of inventories that are read concurrently, at most one per namespace. Others
	// wait for up to inventoryPatience.
	maxInventories    = 16
	inventoryPatience = 15 * time.Second
	// inventoryTimeout limits the time to read an inventory. Pods wait as long as both together.
	inventoryTimeout = targetreport.InventoryTimeout - inventoryPatience
)

// Listener receives the reports of pods about their lists. Its methods are called concurrently.
type Listener interface {
	// Reported is called with each report. version is the version of the pod's list, fetched the last version of which its
	// Prometheus has requested all jobs; zero if the pod does not report it.
	Reported(now time.Time, from Sender, version, fetched Version, r targetreport.Report)
	// Inventory returns the receiver of a pod's inventory; nil if it is not needed.
	Inventory(from Sender, head targetreport.Inventory) InventoryTaker
}

// InventoryTaker receives the targets of an inventory.
type InventoryTaker interface {
	// Take receives the targets of a job with an address.
	Take(now time.Time, job, address string, t targetreport.InventoryTarget)
	// Done is called after the last one. It returns false if some were not recognized and the pod must send all
	// of them again.
	Done(now time.Time) bool
}

// inventories limits how many are read at a time. The zero value is ready for use.
type inventories struct {
	mu      sync.Mutex
	open    map[string]bool     // by namespace
	waiting []*waitingInventory // in the order of arrival
	turns   map[string]int      // the turn in which a namespace had its last one, while some wait
	turn    int
}

// waitingInventory is an inventory that waits.
type waitingInventory struct {
	namespace string
	ready     chan struct{} // closed when it may be read
}

// start waits until an inventory of a namespace may be read. Call the returned function afterwards.
//
// Errors: *refusal if there are too many for too long.
func (i *inventories) start(ctx context.Context, namespace string) (end func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, inventoryPatience)
	defer cancel()
	w := i.enter(namespace)
	end = func() { i.leave(w) }
	select {
	case <-w.ready:
		return end, nil
	case <-ctx.Done():
		end()
		return nil, later("too many inventories at a time", 2*time.Second)
	}
}

// enter adds an inventory to the queue.
func (i *inventories) enter(namespace string) *waitingInventory {
	w := &waitingInventory{namespace, make(chan struct{})}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.waiting = append(i.waiting, w)
	i.admit()
	return w
}

// leave removes an inventory, which may still wait.
func (i *inventories) leave(w *waitingInventory) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if at := slices.Index(i.waiting, w); at >= 0 {
		i.waiting = slices.Delete(i.waiting, at, at+1)
	} else {
		delete(i.open, w.namespace)
	}
	i.admit()
}

// admit starts reading the inventories for which there is room. Namespaces whose last inventory is the longest ago come
// first, so that many slow ones of a namespace do not delay those of others. i.mu must be held.
func (i *inventories) admit() {
	if i.open == nil {
		i.open, i.turns = map[string]bool{}, map[string]int{}
	}
	for len(i.open) < maxInventories {
		next := -1
		for at, w := range i.waiting {
			if !i.open[w.namespace] && (next < 0 || i.turns[w.namespace] < i.turns[i.waiting[next].namespace]) {
				next = at
			}
		}
		if next < 0 {
			break
		}
		w := i.waiting[next]
		i.waiting = slices.Delete(i.waiting, next, next+1)
		i.turn++
		i.open[w.namespace], i.turns[w.namespace] = true, i.turn
		close(w.ready)
	}
	if len(i.waiting) == 0 {
		clear(i.turns)
	}
}

// inventory receives the inventory of a pod.
func (s *Server) inventory(w http.ResponseWriter, r *http.Request) {
	if err := s.takeInventory(w, r); err != nil {
		s.refuse(w, r, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// errUnwanted ends an inventory that is not needed.
var errUnwanted = errors.New("the inventory is not needed")

// takeInventory identifies the pod before it reads the body.
//
// Errors: *refusal.
func (s *Server) takeInventory(w http.ResponseWriter, r *http.Request) error {
	who, err := s.sender(r, targetreport.MaxInventory)
	if err != nil {
		return err
	}
	if err := s.streams.mayList(time.Now(), who.uid); err != nil {
		return err
	}
	end, err := s.inventories.start(r.Context(), who.pod.Namespace)
	if err != nil {
		s.streams.listAgain(who.uid)
		return err
	}
	defer end()
	by, connection := time.Now().Add(inventoryTimeout), http.NewResponseController(w)
	if err := errors.Join(connection.SetReadDeadline(by), connection.SetWriteDeadline(by.Add(stepTimeout))); err != nil {
		return err
	}
	var to InventoryTaker
	err = targetreport.ReadInventory(http.MaxBytesReader(w, r.Body, targetreport.MaxInventory), func(head targetreport.Inventory) error {
		if s.Listener != nil {
			to = s.Listener.Inventory(who.sender(), head)
		}
		if to == nil {
			return errUnwanted
		}
		return nil
	}, func(job, address string, t targetreport.InventoryTarget) error {
		to.Take(time.Now(), job, address, t)
		return nil
	})
	switch _, tooLong := errors.AsType[*http.MaxBytesError](err); {
	case tooLong:
		return errTooLong
	case errors.Is(err, errUnwanted):
		return nil
	case err != nil:
		return &refusal{code: http.StatusBadRequest, message: err.Error()}
	}
	if !to.Done(time.Now()) {
		s.streams.listAgain(who.uid)
		return later("the targets of the workload are not complete yet", 2*time.Second)
	}
	return nil
}

// mayList checks that a pod has an open stream and does not send inventories too often.
//
// Errors: *refusal.
func (s *streams) mayList(now time.Time, uid types.UID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[uid]
	switch {
	case p == nil || len(p.streams) == 0:
		return errNoStream
	case now.Sub(p.listed) < inventoryPause:
		return &refusal{http.StatusTooManyRequests, "the pod sends its inventory too often", inventoryPause}
	}
	p.listed = now
	return nil
}

// listAgain lets a pod send its inventory without a pause, because it was requested or the last one could not be read.
func (s *streams) listAgain(uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pods[uid]; p != nil {
		p.listed = time.Time{}
	}
}
