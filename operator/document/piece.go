package document

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"io"
	"sync"

	"github.com/klauspost/compress/s2"
)

// chunkPieces is the mean number of pieces in a chunk. Measured with monitors of
// 2 kB: fewer make the file larger (every member starts with an empty window),
// more make a single change dearer.
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
	ends   bool     // ends a chunk
}

// Fence is a piece without content that always ends a chunk: between a part that
// differs from document to document and one that they share.
var Fence = &Piece{name: "fence", sum: sha256.Sum256(nil), ends: true}

// NewPiece returns a piece. name must be unique in the document and stable over
// changes of the content. content is not kept.
func NewPiece(name string, content []byte) *Piece {
	h := fnv.New32a()
	h.Write([]byte(name))
	p := &Piece{name: name, sum: sha256.Sum256(content), size: len(content), ends: h.Sum32()%chunkPieces == 0}
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
	h := fnv.New32a()
	h.Write([]byte(name))
	p := &Piece{name: name, sum: sum, texts: texts, ends: h.Sum32()%chunkTexts == 0}
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

// cut groups pieces into chunks.
func cut(pieces []*Piece) [][]*Piece {
	out := make([][]*Piece, 0, len(pieces)/chunkPieces+4)
	start := 0
	for i, p := range pieces {
		if p.ends || i == len(pieces)-1 {
			out = append(out, pieces[start:i+1])
			start = i + 1
		}
	}
	return out
}

func sumOf(pieces []*Piece) [32]byte {
	h := sha256.New()
	for _, p := range pieces {
		h.Write(p.sum[:])
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
