package web

import (
	"context"
	"errors"
	"sync"
	"time"
)

// waitingPerLane is the number of callers that wait for their turn in one lane.
const waitingPerLane = 2

// errFull means that too many requests wait, or that waiting took too long.
var errFull = errors.New("too many at a time")

// lanes limit concurrent work in total and to one at a time of each lane. Others wait up to patience.
type lanes struct {
	free     chan struct{}
	mostIn   int // working or waiting, in all lanes
	patience time.Duration

	mu   sync.Mutex
	of   map[string]*lane
	isIn int
}

type lane struct {
	free chan struct{}
	isIn int
}

func newLanes(atATime, mostIn int, patience time.Duration) *lanes {
	return &lanes{free: make(chan struct{}, atATime), mostIn: mostIn, patience: patience, of: map[string]*lane{}}
}

// enter waits for a slot of the caller, which it holds until leave.
//
// Errors: [errFull]; the error of ctx.
func (l *lanes) enter(ctx context.Context, name string) (leave func(), err error) {
	own := l.add(name)
	if own == nil {
		return nil, errFull
	}
	taken := []chan struct{}{}
	leave = func() {
		for _, free := range taken {
			<-free
		}
		l.remove(name, own)
	}
	wait := time.NewTimer(l.patience)
	defer wait.Stop()
	for _, free := range []chan struct{}{own.free, l.free} {
		select {
		case free <- struct{}{}:
			taken = append(taken, free)
			continue
		case <-wait.C:
			err = errFull
		case <-ctx.Done():
			err = ctx.Err()
		}
		leave()
		return nil, err
	}
	return leave, nil
}

// add takes a place in a lane, nil if the lane is full.
func (l *lanes) add(name string) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	own := l.of[name]
	if own == nil {
		own = &lane{free: make(chan struct{}, 1)}
	}
	if own.isIn > waitingPerLane || l.isIn >= l.mostIn {
		return nil
	}
	l.of[name] = own
	own.isIn++
	l.isIn++
	return own
}

func (l *lanes) remove(name string, own *lane) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.isIn--
	if own.isIn--; own.isIn == 0 {
		delete(l.of, name)
	}
}
