package document

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math/bits"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
)

// chunkPieces is the mean number of pieces in a chunk. Measured with monitors of 4 kB: a change takes
// 0.2 ms, and the file is 1 % larger than a single stream.
const chunkPieces = 32

// chunkBytes is the approximate mean size in bytes of a chunk of text pieces, which are of very
// different sizes. Measured with rules of 12 kB: a change takes 2 ms, and the file is 3 % larger than a
// single stream. With larger chunks a change costs more and the file is hardly smaller, because a chunk
// may refer to the text before it.
const chunkBytes = 48 << 10

// packFrom is the minimum size in bytes of a content that is kept compressed. It is only
// read when its chunk is compressed.
const packFrom = 512

// Piece is an immutable part of a document. Several documents may use it.
type Piece struct {
	name   string
	sum    [32]byte // of the content
	size   int
	growth int // see Rendered
	kept   []byte
	packed bool   // kept is S2-compressed, see typicalJob
	text   bool   // made by NewTextPiece
	hash   uint32 // of the name
	mean   uint32 // mean number of such pieces in a chunk; 0: the piece always ends one
}

// Fence is an empty piece that always ends a chunk and that back-references do not cross.
// It separates a section that differs between documents from one that they share.
var Fence = &Piece{name: "fence", sum: sha256.Sum256(nil)}

// NewPiece returns a piece. name must be unique in the document and stable across changes
// of the content. The piece does not retain content.
func NewPiece(name string, content []byte) *Piece {
	p := &Piece{name: name, sum: sha256.Sum256(content), hash: hashOf(name), mean: chunkPieces}
	p.keep(content)
	return p
}

// keep sets the content.
func (p *Piece) keep(content []byte) {
	p.size, p.growth = len(content), footprint.Substitution(content)
	if p.packed = len(content) >= packFrom; !p.packed {
		p.kept = bytes.Clone(content)
		return
	}
	buffer := buffers.Get().(*[]byte)
	if p.text {
		*buffer = s2.EncodeBetter((*buffer)[:cap(*buffer)], content)
	} else {
		*buffer = typicalJob.Encode((*buffer)[:cap(*buffer)], content)
	}
	p.kept = bytes.Clone(*buffer)
	buffers.Put(buffer)
}

// NewTextPiece returns a piece of a text, whose size may differ much from that of the next one. sum must differ between
// different contents. Otherwise it is like NewPiece.
func NewTextPiece(name string, sum [32]byte, content []byte) *Piece {
	p := &Piece{name: name, sum: sum, text: true, hash: hashOf(name)}
	p.keep(content)
	// With a power of two, the piece keeps its boundary while its size changes little.
	p.mean = 1 << bits.Len32(uint32(chunkBytes/max(p.size, 1))/2)
	return p
}

//go:embed job.txt
var jobText []byte

// typicalJob is the compression dictionary for the contents of pieces other than text pieces. Most of them are scrape
// jobs: text that all jobs have in common takes no memory.
var typicalJob = s2.MakeDict(jobText, nil)

// buffers are for compressing contents; pieces keep copies of exact length.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// Size returns the length of the content in bytes.
func (p *Piece) Size() int { return p.size }

// Rendered returns the maximum length of the content after config-reloader has substituted
// the variables in it, see [footprint.Substitution].
func (p *Piece) Rendered() int { return p.size + p.growth }

// Sum returns the SHA-256 of the content.
func (p *Piece) Sum() [32]byte { return p.sum }

// WriteTo writes the content.
func (p *Piece) WriteTo(w io.Writer) (int64, error) {
	n, err := writeAll(w, []*Piece{p})
	return int64(n), err
}

// content returns the content, possibly in buffer, which is grown as needed.
func (p *Piece) content(buffer *[]byte) ([]byte, error) {
	if !p.packed {
		return p.kept, nil
	}
	decode := typicalJob.Decode
	if p.text {
		decode = s2.Decode
	}
	out, err := decode((*buffer)[:cap(*buffer)], p.kept)
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

// largePiece is the minimum size in bytes of a piece that always ends its chunk.
const largePiece = 64 << 10

func (p *Piece) ends(e *effort) bool {
	if p.mean == 0 || p.size >= largePiece {
		return true
	}
	mean := p.mean
	if !p.text {
		mean *= e.span
	}
	return p.hash%mean == 0
}

// group holds the pieces of a chunk.
type group struct {
	pieces []*Piece
	before []*Piece // preceding pieces, within reach
}

// next returns the group that begins at an index.
func (e *effort) next(pieces []*Piece, start int) group {
	end := start
	for end < len(pieces)-1 && !pieces[end].ends(e) {
		end++
	}
	return group{pieces[start : end+1], e.before(pieces[:start])}
}

// cut groups pieces into chunks.
func (e *effort) cut(pieces []*Piece) []group {
	out := make([]group, 0, len(pieces)/int(chunkPieces*e.span)+4)
	for start := 0; start < len(pieces); {
		g := e.next(pieces, start)
		out = append(out, g)
		start += len(g.pieces)
	}
	return out
}

// before returns the last pieces within reach, up to a fence.
func (e *effort) before(pieces []*Piece) []*Piece {
	from, size := len(pieces), 0
	for from > 0 && size < e.reach && pieces[from-1] != Fence {
		from--
		size += pieces[from].size
	}
	return pieces[from:]
}

// key returns a hash of all inputs of the compressed form of the group.
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

// writeAll writes the contents and returns their total length.
func writeAll(w io.Writer, pieces []*Piece) (int, error) {
	var buffer []byte
	size := 0
	for _, p := range pieces {
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
