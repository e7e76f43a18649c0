package document

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// Chunks are the compressed chunks of several documents, each kept as long as
// one of them uses it. The zero value is ready; it is safe for concurrent use.
type Chunks struct {
	mu   sync.Mutex
	kept map[[32]byte]*chunk // by group.key
}

type chunk struct {
	key  [32]byte
	uses int // guarded by Chunks.mu

	once  sync.Once
	block []byte   // deflate blocks up to a byte boundary, without a last one
	text  checksum // of the plain text
	err   error
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

// fill compresses the group unless that was done; fresh is true when it was not.
func (c *chunk) fill(e *effort, g group) (fresh bool, err error) {
	c.once.Do(func() {
		fresh = true
		c.block, c.text, c.err = e.compress(g)
	})
	return fresh, c.err
}

// effort is how hard a document is compressed.
type effort struct {
	level int
	// span is how many times larger chunks are than in the quick form: the
	// stronger the compression, the more a chunk loses at its beginning.
	span    uint32
	writers sync.Pool // of *squeezer: each has tables of about a megabyte
}

var (
	quick = &effort{level: flate.DefaultCompression, span: 1}
	best  = &effort{level: flate.BestCompression, span: 4}
)

// squeezer is what compressing one chunk needs.
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

// compress returns the text of the group as deflate blocks that may refer to the
// text before it.
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
	s.ResetDict(&out, last(s.before.Bytes(), reach))
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
