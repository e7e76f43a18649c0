package document

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// Chunks holds the compressed chunks of several documents. A chunk is kept while at least
// one document uses it. The zero value is ready to use. It is safe for concurrent use.
type Chunks struct {
	mu   sync.Mutex
	kept map[[32]byte]*chunk // by group.key
}

type chunk struct {
	key  [32]byte
	uses int // guarded by Chunks.mu

	once   sync.Once
	block  []byte   // deflate blocks up to a byte boundary, without the final block
	text   checksum // of the plain text
	growth int      // see Piece.Rendered
	err    error
}

// take returns the chunk with the key and increments its reference count. The caller must
// release it with give.
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

// give releases chunks and removes those that are no longer used.
func (s *Chunks) give(chunks []*chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range chunks {
		if c.uses--; c.uses == 0 {
			delete(s.kept, c.key)
		}
	}
}

// Len returns the number of chunks held.
func (s *Chunks) Len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.kept)
}

// fill compresses the group unless it is already compressed; fresh reports whether this call did it.
func (c *chunk) fill(e *effort, g group) (fresh bool, err error) {
	c.once.Do(func() {
		fresh = true
		c.block, c.text, c.err = e.compress(g)
		_, c.growth = sizeOf(g.pieces)
	})
	return fresh, c.err
}

// effort is a compression level and its parameters.
type effort struct {
	level int
	// span is the chunk size relative to the quick form, except of text pieces. The stronger the
	// compression, the more a chunk loses at its beginning.
	span uint32
	// reach is the number of bytes of preceding text that a compressed chunk may refer to. A few jobs
	// contain nearly everything that jobs have in common; deflate looks back 32 KiB at most.
	reach   int
	writers sync.Pool // of *squeezer: each has tables of about a megabyte
}

var (
	quick = &effort{level: flate.DefaultCompression, span: 1, reach: 8 << 10}
	best  = &effort{level: flate.BestCompression, span: 4, reach: 32 << 10}
)

// squeezer is the reusable state for compressing one chunk.
type squeezer struct {
	*flate.Writer
	before bytes.Buffer
}

func (e *effort) squeezer() (*squeezer, error) {
	if s, ok := e.writers.Get().(*squeezer); ok {
		return s, nil
	}
	w, err := flate.NewWriter(io.Discard, e.level)
	return &squeezer{Writer: w}, err
}

// compress returns the text of the group as deflate blocks, which may refer to the preceding text.
func (e *effort) compress(g group) (block []byte, text checksum, err error) {
	s, err := e.squeezer()
	if err != nil {
		return nil, text, err
	}
	defer e.writers.Put(s)
	s.before.Reset()
	if _, err := writeAll(&s.before, g.before); err != nil {
		return nil, text, err
	}
	var out bytes.Buffer
	s.ResetDict(&out, last(s.before.Bytes(), e.reach))
	sum := crc32.NewIEEE()
	size, err := writeAll(io.MultiWriter(s, sum), g.pieces)
	if err != nil {
		return nil, text, err
	}
	if err := s.Flush(); err != nil {
		return nil, text, fmt.Errorf("compress: %w", err)
	}
	return bytes.Clone(out.Bytes()), checksumOf(sum.Sum32(), size), nil
}

func last(text []byte, n int) []byte { return text[max(0, len(text)-n):] }
