package engine

import (
	"slices"
	"sync"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/selection"
	"github.com/firekeeper-dev/firekeeper/operator/kube/informer"
)

// selections holds the objects that rules select. A change that concerns many workloads with equal selectors,
// or none of the objects of a kind, selects only once. Earlier versions of objects must not stay in memory:
// selections are dropped with the first one of a later version, and soon after the last use.
type selections struct {
	current func(kind string) selectionInput

	mu    sync.Mutex
	held  map[string]*selectionsOf // by kind
	timer *time.Timer              // drops them; nil: none are held

	last positions
}

// selectionsHold is the time from the last use of selections until they are dropped.
const selectionsHold = 2 * time.Second

// selectionInput identifies the input of selections of one kind.
type selectionInput struct {
	store               sortedObjects
	objects, namespaces uint64
}

// sortedObjects is the part of a [informer.Store] that selections read.
type sortedObjects interface {
	SortedSince(seq uint64) (objects []catalog.Object, now uint64, changed []informer.Edit, ok bool)
}

type selectionsOf struct {
	input  selectionInput
	byRule map[string]*heldSelection
}

type heldSelection struct {
	input   selectionInput
	once    sync.Once
	objects any // a slice of the kind's own type
}

// of returns the selection of a rule, which the first caller computes. The versions are read first: what is
// computed may be later, and then it is computed once more.
func (s *selections) of(row *catalog.Row, rule selection.Rule) *heldSelection {
	now := s.current(row.Kind)
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := s.held[row.Kind]
	if kind == nil || kind.input != now {
		kind = &selectionsOf{now, map[string]*heldSelection{}}
		if s.held == nil {
			s.held = map[string]*selectionsOf{}
		}
		s.held[row.Kind] = kind
	}
	if s.timer == nil {
		s.timer = time.AfterFunc(selectionsHold, s.drop)
	} else {
		s.timer.Reset(selectionsHold)
	}
	key := rule.Key()
	if kind.byRule[key] == nil {
		kind.byRule[key] = &heldSelection{input: now}
	}
	return kind.byRule[key]
}

// positions are where the selected objects were in the sorted list of their kind when a rule last selected. A later
// selection only looks at the objects that have changed since. They hold no object in memory.
type positions struct {
	mu    sync.Mutex
	of    map[positionsKey]*lastPositions
	total int // of the counts
	used  uint64
}

type positionsKey struct{ kind, rule string }

type lastPositions struct {
	mu         sync.Mutex
	store      sortedObjects
	seq        uint64 // of the list
	namespaces uint64 // version of their labels
	at         informer.Positions

	key   positionsKey
	used  uint64 // guarded by positions.mu
	count int    // guarded by positions.mu
}

const (
	// mostPositions bounds the number of positions of all rules; each has four bytes.
	mostPositions = 1 << 20
	// ruleWeight is the weight of a rule itself, in positions.
	ruleWeight = 64
)

// take returns the positions of a rule.
func (p *positions) take(key positionsKey) *lastPositions {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[positionsKey]*lastPositions{}
	}
	out := p.of[key]
	if out == nil {
		out = &lastPositions{key: key, count: ruleWeight}
		p.of[key] = out
		p.total += out.count
	}
	p.used++
	out.used = p.used
	return out
}

// note records the number of positions of a rule, and drops those of the rules that were not used for longest if there
// are too many.
func (p *positions) note(of *lastPositions, count int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[of.key] != of {
		return // dropped meanwhile
	}
	p.total += ruleWeight + count - of.count
	of.count = ruleWeight + count
	for p.total > mostPositions {
		oldest := of
		for _, some := range p.of {
			if some.used < oldest.used {
				oldest = some
			}
		}
		p.total -= oldest.count
		delete(p.of, oldest.key)
	}
}

// follow returns the positions of the objects that a rule selects, and the list that they are in. all finds them again.
func (p *lastPositions) follow(now selectionInput, all func(list []catalog.Object) informer.Positions, takes func(catalog.Object) bool) (informer.Positions, []catalog.Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	list, seq, changed, ok := now.store.SortedSince(p.seq)
	if ok && p.store == now.store && p.namespaces == now.namespaces {
		p.at = p.at.Follow(changed, func(at int) bool { return takes(list[at]) })
	} else {
		p.at = all(list)
	}
	p.store, p.seq, p.namespaces = now.store, seq, now.namespaces
	return slices.Clone(p.at), list
}

func (s *selections) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.timer = nil, nil
}
