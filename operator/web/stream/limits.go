package stream

import (
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// Limits limit the number of open streams of changes, in total, per caller and per group of callers, so
// that none excludes the others. They are safe for concurrent use.
type Limits struct {
	most, each int
	shares     *Shares

	mu   sync.Mutex
	open int
	of   map[string]int // by the name of the caller
}

// NewLimits allows most streams in total and each streams per caller.
func NewLimits(most, each int) *Limits {
	return &Limits{most: most, each: each, shares: NewShares(most), of: map[string]int{}}
}

// Open counts a stream until the returned function is called. The limits per caller and per group apply
// if the rights have the methods Name and Group.
//
// Errors: 429.
func (s *Limits) Open(r access.Rights) (end func(), err error) {
	name, leave := "", func() {}
	caller, is := r.(interface {
		Name() string
		Group() string
	})
	if is {
		name = caller.Name()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open == s.most:
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("the operator serves %d streams at a time", s.most), 10)
	case name != "" && s.of[name] == s.each:
		return nil, apierrors.NewTooManyRequests(fmt.Sprintf("the operator serves %d streams of one user at a time", s.each), 10)
	}
	if is {
		var ok bool
		if leave, ok = s.shares.Take(caller.Group()); !ok {
			return nil, apierrors.NewTooManyRequests("the operator leaves room for the streams of other users, and of ServiceAccounts of other namespaces", 10)
		}
	}
	s.open++
	s.of[name]++
	return func() {
		leave()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.open--
		if s.of[name]--; s.of[name] == 0 {
			delete(s.of, name)
		}
	}, nil
}
