package engine

import (
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
}

// selectionsHold is the time from the last use of selections until they are dropped.
const selectionsHold = 2 * time.Second

// selectionInput identifies the input of selections of one kind.
type selectionInput struct {
	store               *informer.Store[catalog.Object]
	objects, namespaces uint64
}

type selectionsOf struct {
	input  selectionInput
	byRule map[string]*heldSelection
}

type heldSelection struct {
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
		kind.byRule[key] = &heldSelection{}
	}
	return kind.byRule[key]
}

func (s *selections) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held, s.timer = nil, nil
}
