package document

import (
	"bytes"
	"crypto/sha256"
)

// form is a document compressed with one effort.
type form struct {
	chunks     []*chunk
	ranks      []uint64 // of the chunk ends, see rankOf
	id         [32]byte
	length     int      // of the gzip stream in bytes
	text       checksum // of the plain text
	compressed int      // chunks compressed since takeCompressed
	fresh      bool     // changed and not yet used
}

// build updates the form to the pieces.
func (f *form) build(e *effort, shared *Chunks, pieces []*Piece) error {
	groups := e.cut(pieces)
	keys := make([][32]byte, len(groups))
	id := sha256.New()
	for i, g := range groups {
		keys[i] = g.key(e)
		id.Write(keys[i][:])
	}
	if key := [32]byte(id.Sum(nil)); f.chunks != nil && key == f.id {
		return nil
	}
	next := form{chunks: make([]*chunk, 0, len(groups)), ranks: make([]uint64, len(groups)), id: [32]byte(id.Sum(nil)), text: checksumOf(0, 0), fresh: true}
	for i, g := range groups {
		c := shared.take(keys[i])
		next.chunks = append(next.chunks, c)
		fresh, err := c.fill(e, g)
		if err != nil {
			shared.give(next.chunks)
			return err
		}
		if fresh {
			next.compressed++
		}
		next.ranks[i] = rankOf(g.pieces[len(g.pieces)-1])
		next.length += len(c.block)
		next.text = next.text.then(c.text)
	}
	next.length += len(gzipHeader) + len(next.end())
	f.drop(shared)
	*f = next
	return nil
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
