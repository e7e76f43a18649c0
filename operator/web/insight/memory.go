package insight

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Memory limits.
const (
	// answerWait is the maximum time that a request waits for memory.
	answerWait = 5 * time.Second
	// compilingPart is the fraction (1/4) of the memory budget that is reserved to compile a
	// workload. The result has the same limit as cached ones.
	compilingPart = 4
	// treeWeight is the memory per byte of YAML that is parsed twice and encoded.
	treeWeight = 32
	// maxTreeText is the maximum length of such a text.
	maxTreeText = 3 << 20
)

// reserve waits until the memory budget has room for some bytes.
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

// compiling returns the memory that is reserved to compile a workload.
func (c *Cluster) compiling() int64 {
	if c.Memory == nil {
		return 0
	}
	return c.Memory.Size() / compilingPart
}

// longError reports that a configuration is too long to be parsed.
type longError struct{}

func (*longError) Error() string {
	return fmt.Sprintf("the configuration is not shown here: it has more than %d MiB; operator render and operator route show it", maxTreeText>>20)
}

// tree returns a text for parsing and reserves the memory for that until release.
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
