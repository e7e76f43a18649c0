package document

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"sync"

	"github.com/klauspost/compress/s2"
)

// chunkPieces is the mean number of pieces in a chunk. Measured with monitors of
// 2 to 4 kB: a change costs 0.3 ms, and the file is 1 % larger than one stream.
const chunkPieces = 64

// chunkTexts is the same for pieces of text, which are ten times as large.
const chunkTexts = 16

// packFrom is the size in bytes from which the content of a piece is kept packed:
// it is read only when its chunk is compressed.
const packFrom = 512

// Piece is one immutable part of a document. It may be used in many.
type Piece struct {
	name   string
	sum    [32]byte // of the content
	size   int
	kept   []byte
	packed bool     // kept is S2
	texts  []string // instead of kept: the content, shared with others
	hash   uint32   // of the name
	mean   uint32   // number of such pieces in a chunk; 0: the piece always ends one
}

// reach is how many bytes of the text before a chunk its compressed form may refer
// to: a few jobs, in which nearly everything occurs that jobs have in common.
const reach = 8 << 10

// Fence is a piece without content that always ends a chunk, and behind which
// nothing refers to the text before it: between a section that differs from
// document to document and one that they share.
var Fence = &Piece{name: "fence", sum: sha256.Sum256(nil)}

// NewPiece returns a piece. name must be unique in the document and stable over
// changes of the content. content is not kept.
func NewPiece(name string, content []byte) *Piece {
	p := &Piece{name: name, sum: sha256.Sum256(content), size: len(content), hash: hashOf(name), mean: chunkPieces}
	if p.packed = len(content) >= packFrom; p.packed {
		buffer := buffers.Get().(*[]byte)
		*buffer = s2.EncodeBetter((*buffer)[:cap(*buffer)], content)
		p.kept = bytes.Clone(*buffer)
		buffers.Put(buffer)
	} else {
		p.kept = bytes.Clone(content)
	}
	return p
}

// NewTextPiece returns a piece whose content is the texts, one after the other,
// which are kept as they are. sum must differ between contents that differ; all
// else is as with NewPiece.
func NewTextPiece(name string, sum [32]byte, texts ...string) *Piece {
	p := &Piece{name: name, sum: sum, texts: texts, hash: hashOf(name), mean: chunkTexts}
	for _, t := range texts {
		p.size += len(t)
	}
	return p
}

// buffers are for packing: what is kept is a copy of the length that it needs.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Size is the length of the content in bytes.
func (p *Piece) Size() int { return p.size }

// Sum is the SHA-256 of the content.
func (p *Piece) Sum() [32]byte { return p.sum }

// WriteTo writes the content.
func (p *Piece) WriteTo(w io.Writer) (int64, error) {
	n, err := writeAll(w, []*Piece{p})
	return int64(n), err
}

// content returns the content; it may be in the buffer, which grows as needed.
func (p *Piece) content(buffer *[]byte) ([]byte, error) {
	if !p.packed {
		return p.kept, nil
	}
	out, err := s2.Decode((*buffer)[:cap(*buffer)], p.kept)
	if err != nil {
		return nil, fmt.Errorf("unpack %q: %w", p.name, err)
	}
	*buffer = out
	return out, nil
}

func hashOf(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// largePiece is the size in bytes from which a piece ends its chunk.
const largePiece = 64 << 10

func (p *Piece) ends(e *effort) bool {
	return p.mean == 0 || p.size >= largePiece || p.hash%(p.mean*e.span) == 0
}

// group is the pieces of a chunk.
type group struct {
	pieces []*Piece
	before []*Piece // what is before them, as far as they may refer to it
}

// cut groups pieces into chunks.
func (e *effort) cut(pieces []*Piece) []group {
	out := make([]group, 0, len(pieces)/int(chunkPieces*e.span)+4)
	start := 0
	for i, p := range pieces {
		if p.ends(e) || i == len(pieces)-1 {
			out = append(out, group{pieces[start : i+1], before(pieces[:start])})
			start = i + 1
		}
	}
	return out
}

// before returns the last pieces, up to a fence.
func before(pieces []*Piece) []*Piece {
	from, size := len(pieces), 0
	for from > 0 && size < reach && pieces[from-1] != Fence {
		from--
		size += pieces[from].size
	}
	return pieces[from:]
}

// key stands for the compressed form of the group.
func (g group) key(e *effort) [32]byte {
	h := sha256.New()
	h.Write([]byte{byte(e.level)})
	var count [8]byte
	binary.LittleEndian.PutUint64(count[:], uint64(len(g.before)))
	h.Write(count[:])
	for _, pieces := range [][]*Piece{g.before, g.pieces} {
		for _, p := range pieces {
			h.Write(p.sum[:])
		}
	}
	return [32]byte(h.Sum(nil))
}

// writeAll writes the contents and returns their length.
func writeAll(w io.Writer, pieces []*Piece) (int, error) {
	var buffer []byte
	size := 0
	for _, p := range pieces {
		for _, text := range p.texts {
			if _, err := io.WriteString(w, text); err != nil {
				return size, fmt.Errorf("compress %q: %w", p.name, err)
			}
			size += len(text)
		}
		content, err := p.content(&buffer)
		if err != nil {
			return size, err
		}
		if _, err := w.Write(content); err != nil {
			return size, fmt.Errorf("compress %q: %w", p.name, err)
		}
		size += len(content)
	}
	return size, nil
}
