package admission

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/kube/inflight"
)

// Read deadlines of a request body. They can be short, because an API server holds the
// complete body before it calls.
const (
	firstByte = 2 * time.Second
	wholeBody = 5 * time.Second
	// growWait is how long a body waits for memory. It keeps the memory it already has while
	// it waits.
	growWait = time.Second
)

const (
	// firstBytes is the number of bytes that are read onto the stack before memory is
	// reserved: an idle connection holds no memory.
	firstBytes = 512
	// smallBody is the size up to which bodies have a separate budget, so that large bodies
	// cannot block typical reviews.
	smallBody = 256 << 10
)

// bodies is the memory budget of request bodies, from their first byte until the response.
type bodies struct {
	small, large *inflight.Budget
}

func newBodies(memory int64) bodies {
	return bodies{small: inflight.New(memory / 16), large: inflight.New(max(memory/4, maxReviewBytes))}
}

// refusedBody is the error for a body that is rejected before it is decoded.
type refusedBody struct {
	code int
	error
}

// body is a complete request body and the memory reserved for it.
type body struct {
	bytes   []byte
	release func()
}

// read reads the body of a request. It needs no slot, and reserves memory for the bytes that
// have arrived, not for the announced length.
//
// Errors: *refusedBody; [inflight.BusyError].
func (b bodies) read(w http.ResponseWriter, r *http.Request, most int64) (out body, err error) {
	most = min(most, b.large.Size())
	switch {
	case r.ContentLength > most:
		return out, &refusedBody{http.StatusRequestEntityTooLarge, fmt.Errorf("the body has %d bytes, the limit is %d", r.ContentLength, most)}
	case r.ContentLength == 0 || r.Body == nil:
		return out, &refusedBody{http.StatusBadRequest, errors.New("the body is empty")}
	case r.Header.Get("Content-Type") != "application/json":
		return out, &refusedBody{http.StatusUnsupportedMediaType, errors.New("Content-Type must be application/json")}
	case r.Header.Get("Content-Encoding") != "" && r.Header.Get("Content-Encoding") != "identity":
		return out, &refusedBody{http.StatusUnsupportedMediaType, errors.New("Content-Encoding is not supported: send JSON as it is")}
	}
	connection, began := http.NewResponseController(w), time.Now()
	_ = connection.SetReadDeadline(began.Add(firstByte)) // only test writers do not support deadlines
	in := &partialBody{bodies: b, ctx: r.Context(), length: r.ContentLength, most: most}
	err = in.all(http.MaxBytesReader(w, r.Body, most), func() { _ = connection.SetReadDeadline(began.Add(wholeBody)) })
	if err != nil {
		in.give()
		return out, unread(err, most)
	}
	_ = connection.SetReadDeadline(time.Time{}) // an expired deadline would cancel the context of the request
	return body{in.buf, in.give}, nil
}

// unread returns the error for a body that could not be read.
func unread(err error, most int64) error {
	if _, busy := errors.AsType[*inflight.BusyError](err); busy {
		return err
	}
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return &refusedBody{http.StatusRequestEntityTooLarge, fmt.Errorf("the body is longer than %d bytes", most)}
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return &refusedBody{http.StatusRequestTimeout, fmt.Errorf("the body did not arrive within %s, its first byte within %s", wholeBody, firstByte)}
	}
	if errors.Is(err, io.EOF) {
		return &refusedBody{http.StatusBadRequest, errors.New("the body is empty")}
	}
	return &refusedBody{http.StatusBadRequest, fmt.Errorf("read the body: %w", err)}
}

// partialBody is a partially read body.
type partialBody struct {
	bodies
	ctx          context.Context
	length, most int64 // announced length, -1 if unknown; the limit
	buf          []byte
	held         []func() // release the memory of buf
}

// all reads the complete body. It calls begun after the first bytes.
func (a *partialBody) all(from io.Reader, begun func()) error {
	var head [firstBytes]byte
	n, err := from.Read(head[:])
	if n == 0 && err != nil {
		return err
	}
	begun()
	if grown := a.grow(n); grown != nil {
		return grown
	}
	a.buf = append(a.buf, head[:n]...)
	for err == nil {
		if len(a.buf) == cap(a.buf) {
			if grown := a.grow(len(a.buf) + 1); grown != nil {
				return grown
			}
		}
		n, err = from.Read(a.buf[len(a.buf):cap(a.buf)])
		a.buf = a.buf[:len(a.buf)+n]
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// trusted is the number of bytes after which the announced length is trusted.
const trusted = 1 << 20

// grow reserves memory and grows the buffer to hold at least need bytes. It doubles the
// buffer where the limits allow.
func (a *partialBody) grow(need int) error {
	size := int64(max(need, 2*cap(a.buf), 4<<10))
	switch {
	case a.length > 0 && cap(a.buf) >= trusted:
		size = max(int64(need), a.length+1)
	case a.length > 0:
		size = max(int64(need), min(size, a.length+1)) // one byte more, to detect the end
	case a.length < 0:
		size = max(int64(need), min(size, a.most+1))
	}
	from := a.large
	if size <= smallBody {
		from = a.small
	}
	release, err := from.Take(a.ctx, size-int64(cap(a.buf)), growWait)
	if err != nil {
		return err
	}
	a.buf = append(make([]byte, 0, size), a.buf...)
	a.held = append(a.held, release)
	return nil
}

// give releases the reserved memory.
func (a *partialBody) give() {
	for _, release := range a.held {
		release()
	}
}
