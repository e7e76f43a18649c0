package insight

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Memory that answers need.
const (
	// answerWait is how long an answer waits for memory.
	answerWait = 5 * time.Second
	// compilingPart is the part of all memory for answers that compiling a workload needs at most:
	// what it compiles to is bounded like what is cached.
	compilingPart = 4
	// treeWeight is the memory for each byte of YAML that is read as a tree, twice, and written.
	treeWeight = 32
	// maxTreeText is how long such a text may be.
	maxTreeText = 3 << 20
)

// reserve waits for memory for some bytes of work.
//
// Errors: [apierrors.IsTooManyRequests].
func (c *Cluster) reserve(ctx context.Context, bytes int64) (release func(), err error) {
	return c.reserveFor(ctx, bytes, answerWait)
}

func (c *Cluster) reserveFor(ctx context.Context, bytes int64, patience time.Duration) (release func(), err error) {
	if c.Memory == nil {
		return func() {}, nil
	}
	if release, err = c.Memory.Take(ctx, bytes, patience); err != nil {
		return nil, apierrors.NewTooManyRequests(err.Error(), 1)
	}
	return release, nil
}

// reservePreview waits until no other preview is made, and for memory.
//
// Errors: [apierrors.IsTooManyRequests].
func (c *Cluster) reservePreview(ctx context.Context, manifests int) (release func(), err error) {
	if ctx.Err() != nil {
		return nil, unfinished(ctx.Err())
	}
	one, err := c.previewing.Take(ctx, 1, previewWait)
	switch {
	case ctx.Err() != nil && err != nil:
		return nil, unfinished(ctx.Err())
	case err != nil:
		return nil, apierrors.NewTooManyRequests("another preview is being made", 1)
	}
	bytes := max(leastPreview, previewWeight*int64(manifests))
	if c.Memory != nil {
		bytes = min(bytes, c.Memory.Size()-int64(answersPart*float64(c.Memory.Size())))
	}
	memory, err := c.reserveFor(ctx, bytes, previewWait)
	if err != nil {
		one()
		return nil, err
	}
	return func() { memory(); one() }, nil
}

// compiling is the memory that is reserved to compile a workload.
func (c *Cluster) compiling() int64 {
	if c.Memory == nil {
		return 0
	}
	return c.Memory.Size() / compilingPart
}

// longError says that a configuration is too long to be read as a tree.
type longError struct{}

func (*longError) Error() string {
	return fmt.Sprintf("the configuration is not shown here: it has more than %d MiB; operator render and operator route show it", maxTreeText>>20)
}

// tree returns a text that is to be read as a tree of YAML, with memory for that, until it is released.
//
// Errors: *[longError]; [apierrors.IsTooManyRequests]; the text cannot be written.
func (c *Cluster) tree(ctx context.Context, write func(io.Writer) error) (text []byte, release func(), err error) {
	var size counter
	if err := write(&size); err != nil {
		return nil, nil, apierrors.NewInternalError(err)
	}
	if size > maxTreeText {
		return nil, nil, &longError{}
	}
	if release, err = c.reserve(ctx, treeWeight*int64(size)); err != nil {
		return nil, nil, err
	}
	out := bytes.NewBuffer(make([]byte, 0, size))
	if err := write(out); err != nil {
		release()
		return nil, nil, apierrors.NewInternalError(err)
	}
	return out.Bytes(), release, nil
}

// counter is an [io.Writer] that counts bytes.
type counter int

// Write implements io.Writer.
func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
