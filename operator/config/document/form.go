package document

import (
	"bytes"
	"crypto/sha256"
	"slices"
)

// form is a document compressed with one effort.
type form struct {
	pieces     []*Piece
	chunks     []*chunk
	cuts       []cut // of the chunks
	id         [32]byte
	length     int      // of the gzip stream in bytes
	text       checksum // of the plain text
	growth     int      // see Assembler.Rendered
	compressed int      // chunks compressed since takeCompressed
	fresh      bool     // changed and not yet used
}

// cut is where a chunk is in the pieces of its document.
type cut struct {
	start, end int
	before     int    // number of preceding pieces that the chunk may refer to
	rank       uint64 // of its end, see rankOf
}

// build updates the form to the pieces. It only looks at the pieces of chunks that may have changed, so
// that a change costs little more than its own chunk.
func (f *form) build(e *effort, shared *Chunks, pieces []*Piece) error {
	if f.chunks != nil && slices.Equal(f.pieces, pieces) {
		return nil
	}
	next := form{
		pieces: slices.Clone(pieces), chunks: make([]*chunk, 0, len(f.chunks)+4), cuts: make([]cut, 0, len(f.cuts)+4),
		text: checksumOf(0, 0), fresh: true,
	}
	id, old := sha256.New(), previous{form: f}
	for start := 0; start < len(pieces); start = next.cuts[len(next.cuts)-1].end {
		at, c := old.find(e, pieces, start)
		if c != nil {
			c = shared.take(c.key)
		} else {
			g := e.next(pieces, start)
			at = cut{start, start + len(g.pieces), len(g.before), rankOf(g.pieces[len(g.pieces)-1])}
			c = shared.take(g.key(e))
			fresh, err := c.fill(e, g)
			if err != nil {
				shared.give(append(next.chunks, c))
				return err
			}
			if fresh {
				next.compressed++
			}
		}
		next.chunks, next.cuts = append(next.chunks, c), append(next.cuts, at)
		id.Write(c.key[:])
		next.length += len(c.block)
		next.text = next.text.then(c.text)
		next.growth += c.growth
	}
	if next.id = [32]byte(id.Sum(nil)); f.chunks != nil && next.id == f.id { // other pieces with equal contents
		shared.give(next.chunks)
		f.pieces, f.cuts = next.pieces, next.cuts
		return nil
	}
	next.length += len(gzipHeader) + len(next.end())
	f.drop(shared)
	*f = next
	return nil
}

// previous finds chunks of the last version of a form.
type previous struct {
	*form
	next  int            // where the next one is, if nothing changed
	first map[*Piece]int // index of the chunk that begins with a piece; nil: not needed yet
}

// find returns the chunk that begins at an index and where it is now; nil if it must be compressed, or
// may have to be. It looks at pointers only.
func (p *previous) find(e *effort, pieces []*Piece, start int) (cut, *chunk) {
	i := p.next
	if i >= len(p.cuts) || p.pieces[p.cuts[i].start] != pieces[start] {
		if p.first == nil {
			p.first = make(map[*Piece]int, len(p.cuts))
			for i, c := range p.cuts {
				p.first[p.pieces[c.start]] = i
			}
		}
		var known bool
		if i, known = p.first[pieces[start]]; !known {
			return cut{}, nil
		}
	}
	was := p.cuts[i]
	end, from, wasFrom := start+was.end-was.start, start-was.before, was.start-was.before
	switch {
	case end > len(pieces), from < 0, (from == 0) != (wasFrom == 0):
		return cut{}, nil
	case was.end == len(p.pieces) && end < len(pieces) && !pieces[end-1].ends(e):
		return cut{}, nil // it only ended with the document
	case !slices.Equal(p.pieces[max(0, wasFrom-1):was.end], pieces[max(0, from-1):end]): // the piece before may be a fence
		return cut{}, nil
	}
	p.next = i + 1
	return cut{start, end, was.before, was.rank}, p.chunks[i]
}

// takeCompressed returns the number of chunks compressed since the last call.
func (f *form) takeCompressed() int {
	n := f.compressed
	f.compressed = 0
	return n
}

func (f *form) end() []byte { return gzipEnd(f.text) }

// gzip returns the complete stream.
func (f *form) gzip() []byte {
	out := bytes.NewBuffer(make([]byte, 0, f.length))
	out.Write(gzipHeader)
	for _, c := range f.chunks {
		out.Write(c.block)
	}
	out.Write(f.end())
	return out.Bytes()
}

// drop releases the chunks and resets the form.
func (f *form) drop(shared *Chunks) {
	if shared != nil {
		shared.give(f.chunks)
	}
	*f = form{}
}
