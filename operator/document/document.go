// Package document puts a configuration file together from pieces and
// compresses it so that one changed piece costs one small chunk.
//
// The pieces, in order, are cut into chunks at boundaries that depend on the
// names of the pieces only (about one in [chunkPieces] ends a chunk). Each chunk
// is one gzip member, and the file is their concatenation, which every gzip
// reader takes as one stream. A chunk whose pieces are the same as last time is
// not compressed again, and because boundaries come from names, adding or
// removing a piece moves no other boundary. Documents may share chunks: what one
// owner has compressed, an owner with the same pieces takes over.
//
// A document that is too large for one file is cut into parts ([Assembler.Parts]),
// again at boundaries that depend on names, so that one changed piece changes one
// part.
package document

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// Document is a finished file.
type Document struct {
	// Gzip is nil when it would be longer than Assembler.Whole.
	Gzip []byte
	// Hash is the SHA-256 of Gzip in hex; empty without Gzip.
	Hash string
	// Size is the length of the plain text in bytes, Length that of the compressed.
	Size, Length int
	// Compressed is how many chunks had to be compressed for it.
	Compressed int
}

// Assembler builds the successive versions of one document. The zero value is
// ready; it is not safe for concurrent use.
type Assembler struct {
	// Shared holds the chunks of several documents. Nil means that this one
	// shares with none.
	Shared *Chunks
	// Whole is the length in bytes up to which the compressed document is put
	// together. 0 means any.
	Whole int

	chunks []*chunk // of the last document
	ranks  []uint64 // of the ends of chunks, see rankOf
	last   Document
	lastID [32]byte
	parts  map[[32]byte]Part // of the last call of Parts
}

// Build returns the document made of the pieces.
func (a *Assembler) Build(pieces []*Piece) (Document, error) {
	groups := cut(pieces)
	keys := make([][32]byte, len(groups))
	id := sha256.New()
	for i, g := range groups {
		keys[i] = sumOf(g)
		id.Write(keys[i][:])
	}
	if key := [32]byte(id.Sum(nil)); a.chunks == nil || key != a.lastID {
		a.lastID = key
	} else {
		a.last.Compressed = 0
		return a.last, nil
	}
	if a.Shared == nil {
		a.Shared = &Chunks{}
	}
	used := make([]*chunk, 0, len(groups))
	ranks := make([]uint64, len(groups))
	doc := Document{}
	for i, g := range groups {
		c := a.Shared.take(keys[i])
		used = append(used, c)
		fresh, err := c.fill(g)
		if err != nil {
			a.Shared.give(used)
			a.lastID = [32]byte{}
			return Document{}, err
		}
		if fresh {
			doc.Compressed++
		}
		ranks[i] = rankOf(g[len(g)-1])
		doc.Length += len(c.member)
		doc.Size += c.size
	}
	a.Shared.give(a.chunks)
	a.chunks, a.ranks = used, ranks
	if a.Whole == 0 || doc.Length <= a.Whole {
		out := bytes.NewBuffer(make([]byte, 0, doc.Length))
		for _, c := range used {
			out.Write(c.member)
		}
		sum := sha256.Sum256(out.Bytes())
		doc.Gzip, doc.Hash = out.Bytes(), hex.EncodeToString(sum[:])
		a.parts = nil
	}
	a.last = doc
	return doc, nil
}

// Length is that of the last document, compressed, in bytes.
func (a *Assembler) Length() int { return a.last.Length }

// Close drops what is kept for the next version.
func (a *Assembler) Close() {
	if a.Shared != nil {
		a.Shared.give(a.chunks)
	}
	a.chunks, a.ranks, a.parts, a.last, a.lastID = nil, nil, nil, Document{}, [32]byte{}
}
