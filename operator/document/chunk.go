package document

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/gzip"
)

// Chunks are the compressed chunks of several documents, each kept as long as
// one of them uses it. The zero value is ready; it is safe for concurrent use.
type Chunks struct {
	mu   sync.Mutex
	kept map[[32]byte]*chunk // by the sum of the pieces' sums
}

type chunk struct {
	key  [32]byte
	uses int // guarded by Chunks.mu

	once   sync.Once
	member []byte // one gzip member
	size   int    // of the plain text
	err    error
}

// take returns the chunk with the key, to be given back.
func (s *Chunks) take(key [32]byte) *chunk {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		s.kept = map[[32]byte]*chunk{}
	}
	c := s.kept[key]
	if c == nil {
		c = &chunk{key: key}
		s.kept[key] = c
	}
	c.uses++
	return c
}

// give gives chunks back.
func (s *Chunks) give(chunks []*chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range chunks {
		if c.uses--; c.uses == 0 {
			delete(s.kept, c.key)
		}
	}
}

// Len is the number of chunks that are kept.
func (s *Chunks) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept)
}

// fill compresses the pieces unless that was done; fresh is true when it was not.
func (c *chunk) fill(pieces []*Piece) (fresh bool, err error) {
	c.once.Do(func() {
		fresh = true
		c.member, c.size, c.err = compress(pieces)
	})
	return fresh, c.err
}

// writers are kept because each has tables of about a megabyte.
var writers = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}

func compress(pieces []*Piece) (member []byte, size int, err error) {
	var out bytes.Buffer
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	w.Reset(&out)
	if size, err = writeAll(w, pieces); err != nil {
		return nil, 0, err
	}
	if err := w.Close(); err != nil {
		return nil, 0, fmt.Errorf("compress: %w", err)
	}
	return bytes.Clone(out.Bytes()), size, nil
}
