package feed

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// reviewEvery is the approximate time after which the token of an open stream is reviewed again.
	reviewEvery = time.Minute
	// reviewPause is the minimum time between the beginnings of two such reviews, which are two requests to the API server each.
	// It prolongs reviewEvery from 300 streams on.
	reviewPause = 200 * time.Millisecond
	// maxRepeats is the maximum number of concurrent reviews. They do not take the room of new streams.
	maxRepeats = 4
)

// repeats limits the reviews of the tokens of open streams. The zero value is ready for use.
type repeats struct {
	mu   sync.Mutex
	room chan struct{}
	next time.Time // when the next review may begin
}

// start waits until a review may begin. Call the returned function after it.
//
// Errors: ctx ended.
func (r *repeats) start(ctx context.Context) (end func(), err error) {
	r.mu.Lock()
	if r.room == nil {
		r.room = make(chan struct{}, maxRepeats)
	}
	r.mu.Unlock()
	select {
	case r.room <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	end = func() { <-r.room }
	r.mu.Lock()
	at := time.Now()
	if r.next.After(at) {
		at = r.next
	}
	r.next = at.Add(reviewPause)
	r.mu.Unlock()
	if err := sleep(ctx, time.Until(at)); err != nil {
		end()
		return nil, err
	}
	return end, nil
}

// review reviews the token of a stream again and again, and ends the stream when the token is refused: it was revoked, has expired,
// or its pod is gone. A stream stays open while the API server does not answer. It returns when ctx ends.
func (s *Server) review(ctx context.Context, st *stream, token string) {
	for {
		if sleep(ctx, reviewEvery-rand.N(reviewEvery/10)) != nil {
			return
		}
		end, err := s.repeats.start(ctx)
		if err != nil {
			return
		}
		who, err := s.Identity.caller(ctx, s.Feed, token)
		end()
		why, refused := errors.AsType[*refusal](err)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil && who == st.caller || refused && why.after > 0: // the latter: not known now
			continue
		case refused:
			s.metrics.refused(why.code)
			s.Log.Warn("a stream of targets ends: its token is not accepted any more", "pod", st.caller.pod.String(), "reason", why.message)
		}
		st.end()
		return
	}
}

// sleep waits.
//
// Errors: ctx ended.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
