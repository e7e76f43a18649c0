// Package document puts a configuration file together from pieces and
// compresses it so that one changed piece costs one small chunk.
//
// The pieces, in order, are cut into chunks at boundaries that depend on the
// names of the pieces only (about one in [chunkPieces] ends a chunk). Each chunk
// is one gzip member, and the file is their concatenation, which every gzip
// reader takes as one stream. A chunk whose pieces are the same as last time is
// not compressed again, and because boundaries come from names, adding or
// removing a piece moves no other boundary.
package document

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/fnv"

	"github.com/klauspost/compress/gzip"
)

// chunkPieces is the mean number of pieces in a chunk. Measured with monitors of
// 2 kB: fewer make the file larger (every member starts with an empty window),
// more make a single change dearer.
const chunkPieces = 64

// Piece is one part of a document. Content must not change.
type Piece struct {
	Name    string // stable over changes of the content, unique in the document
	Content []byte
	Sum     [32]byte // of the content; see NewPiece
}

// NewPiece returns a piece with its sum.
func NewPiece(name string, content []byte) Piece {
	return Piece{Name: name, Content: content, Sum: sha256.Sum256(content)}
}

// Document is a finished file.
type Document struct {
	Gzip []byte
	// Hash is the SHA-256 of Gzip in hex.
	Hash string
	// Size is the length of the plain text in bytes.
	Size int
	// Compressed is how many chunks had to be compressed for it.
	Compressed int
}

// Assembler builds the successive versions of one document. The zero value is
// ready; it is not safe for concurrent use.
type Assembler struct {
	chunks map[[32]byte][]byte
	last   Document
	lastID [32]byte
}

// Build returns the document made of the pieces.
func (a *Assembler) Build(pieces []Piece) (Document, error) {
	id := sumOf(pieces)
	if a.chunks != nil && id == a.lastID {
		a.last.Compressed = 0
		return a.last, nil
	}
	kept := make(map[[32]byte][]byte, len(a.chunks)+1)
	doc := Document{}
	var out bytes.Buffer
	for _, chunk := range cut(pieces) {
		key := sumOf(chunk)
		member, ok := a.chunks[key]
		if !ok {
			var err error
			if member, err = compress(chunk); err != nil {
				return Document{}, err
			}
			doc.Compressed++
		}
		kept[key] = member
		out.Write(member)
	}
	for _, p := range pieces {
		doc.Size += len(p.Content)
	}
	sum := sha256.Sum256(out.Bytes())
	doc.Gzip, doc.Hash = out.Bytes(), hex.EncodeToString(sum[:])
	a.chunks, a.last, a.lastID = kept, doc, id
	return doc, nil
}

// cut groups pieces into chunks: a piece whose name hashes to 0 ends one.
func cut(pieces []Piece) [][]Piece {
	var out [][]Piece
	start := 0
	for i, p := range pieces {
		h := fnv.New32a()
		h.Write([]byte(p.Name))
		if h.Sum32()%chunkPieces == 0 || i == len(pieces)-1 {
			out = append(out, pieces[start:i+1])
			start = i + 1
		}
	}
	return out
}

func sumOf(pieces []Piece) [32]byte {
	h := sha256.New()
	for _, p := range pieces {
		h.Write(p.Sum[:])
	}
	return [32]byte(h.Sum(nil))
}

func compress(pieces []Piece) ([]byte, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	for _, p := range pieces {
		if _, err := w.Write(p.Content); err != nil {
			return nil, fmt.Errorf("compress %q: %w", p.Name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}
