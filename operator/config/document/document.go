// Package document assembles a configuration file from pieces and compresses it
// incrementally: changing one piece recompresses one small chunk.
//
// The pieces, in order, are cut into chunks. The boundaries depend only on the names of the
// pieces; about one in [chunkPieces] ends a chunk. Each chunk is compressed to deflate blocks
// that may refer to a few preceding pieces, and the file is a single gzip stream of all blocks.
// A chunk is recompressed when its pieces or those preceding pieces change. Because the
// boundaries come from names, adding or removing a piece moves no other boundary. Documents may
// share chunks: workloads with the same pieces reuse each other's compressed chunks.
//
// A document that is too large for one file is compressed at the highest level. If it is
// still too large, it is split into parts ([Assembler.Parts]), again at boundaries that
// depend on names, so that changing one piece changes one part.
package document

import (
	"crypto/sha256"
	"encoding/hex"
)

// Document is a complete configuration file.
type Document struct {
	// Gzip is the compressed document; nil if it is longer than Assembler.Whole.
	Gzip []byte
	// Sum is the SHA-256 of Gzip, and Hash its hex encoding; both are empty if Gzip is nil.
	Sum  [sha256.Size]byte
	Hash string
	// Size is the length of the plain text in bytes, Length the compressed length.
	Size, Length int
	// Compressed is the number of chunks that were compressed to build this version.
	Compressed int
}

// Assembler builds the successive versions of one document. The zero value is ready to use.
// It is not safe for concurrent use.
type Assembler struct {
	// Shared holds the chunks of several documents. If nil, this document does not share chunks.
	Shared *Chunks
	// Whole is the maximum length in bytes of a compressed document that is assembled into
	// one file. Zero means no limit. If negative, the document is never assembled and can
	// only be split into parts. It may change between calls of Build.
	Whole int

	quick, best form
	used        *form // form of the last document
	whole       int   // Whole of the last document
	last        Document
	parts       map[[32]byte]Part  // returned by the last call of Parts
	weights     map[[32]byte][]int // by chunk, of the last call of Weights
}

// Build returns the document for the pieces. The result depends only on the pieces and Whole.
func (a *Assembler) Build(pieces []*Piece) (Document, error) {
	if a.Shared == nil {
		a.Shared = &Chunks{}
	}
	if a.Whole >= 0 {
		if err := a.quick.build(quick, a.Shared, pieces); err != nil {
			return Document{}, err
		}
		if a.Whole == 0 || a.quick.length <= a.Whole {
			// Near the limit, keep the other form, because it may be needed again soon.
			if a.quick.length < a.Whole/8*7 {
				a.best.drop(a.Shared)
			}
			return a.use(&a.quick), nil
		}
	}
	if err := a.best.build(best, a.Shared, pieces); err != nil {
		return Document{}, err
	}
	return a.use(&a.best), nil
}

// use makes the form the current one and returns its document.
func (a *Assembler) use(f *form) Document {
	same := f == a.used && !f.fresh && a.whole == a.Whole
	a.used, a.whole = f, a.Whole
	a.last.Compressed = a.quick.takeCompressed() + a.best.takeCompressed()
	if same {
		return a.last
	}
	f.fresh = false
	a.last = Document{Size: f.text.size, Length: f.length, Compressed: a.last.Compressed}
	if a.Whole == 0 || f.length <= a.Whole {
		a.last.Gzip = f.gzip()
		a.last.Sum = sha256.Sum256(a.last.Gzip)
		a.last.Hash = hex.EncodeToString(a.last.Sum[:])
		a.parts = nil
	}
	return a.last
}

// Size returns the length of the plain text of the pieces in bytes. It only looks at pieces between the
// first and the last one that differ from those of the last document.
func (a *Assembler) Size(pieces []*Piece) int {
	size, _ := a.measure(pieces)
	return size
}

// Rendered returns the maximum length of the text after config-reloader has substituted the variables in
// it. Otherwise it is like Size.
func (a *Assembler) Rendered(pieces []*Piece) int {
	size, growth := a.measure(pieces)
	return size + growth
}

func (a *Assembler) measure(pieces []*Piece) (size, growth int) {
	if f := a.used; f != nil && f.chunks != nil {
		old := f.pieces
		for len(old) > 0 && len(pieces) > 0 && old[0] == pieces[0] {
			old, pieces = old[1:], pieces[1:]
		}
		for len(old) > 0 && len(pieces) > 0 && old[len(old)-1] == pieces[len(pieces)-1] {
			old, pieces = old[:len(old)-1], pieces[:len(pieces)-1]
		}
		without, fixed := sizeOf(old)
		size, growth = f.text.size-without, f.growth-fixed
	}
	more, grows := sizeOf(pieces)
	return size + more, growth + grows
}

func sizeOf(pieces []*Piece) (size, growth int) {
	for _, p := range pieces {
		size, growth = size+p.size, growth+p.growth
	}
	return size, growth
}

// Length returns the compressed length of the last document in bytes.
func (a *Assembler) Length() int { return a.last.Length }

// Held returns the number of bytes held for the next version. Other documents may share them.
func (a *Assembler) Held() int {
	const pointer = 8
	return a.quick.length + a.best.length + len(a.last.Gzip) + pointer*(len(a.quick.pieces)+len(a.best.pieces))
}

// Close releases everything held for the next version.
func (a *Assembler) Close() {
	a.quick.drop(a.Shared)
	a.best.drop(a.Shared)
	a.used, a.parts, a.weights, a.last = nil, nil, nil, Document{}
}
