// Package document puts a configuration file together from pieces and
// compresses it so that one changed piece costs one small chunk.
//
// The pieces, in order, are cut into chunks at boundaries that depend on the
// names of the pieces only (about one in [chunkPieces] ends a chunk). Each chunk
// becomes deflate blocks that may refer to a few pieces before it, and the file is
// one gzip stream of all blocks. A chunk is compressed again when its pieces or
// those few have changed, and because boundaries come from names, adding or
// removing a piece moves no other boundary. Documents may share chunks: what one
// owner has compressed, an owner with the same pieces takes over.
//
// A document that is too large for one file is compressed as hard as possible; one
// that is still too large is cut into parts ([Assembler.Parts]), again at
// boundaries that depend on names, so that one changed piece changes one part.
package document

import (
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
	// together. 0 means any, less than 0 none: the document is only cut into parts. It
	// may change between two calls of Build.
	Whole int

	quick, best form
	used        *form // that of the last document
	whole       int   // Whole of the last document
	last        Document
	parts       map[[32]byte]Part  // of the last call of Parts
	weights     map[[32]byte][]int // by chunk, of the last call of Weights
}

// Build returns the document made of the pieces. The result depends on nothing else.
func (a *Assembler) Build(pieces []*Piece) (Document, error) {
	if a.Shared == nil {
		a.Shared = &Chunks{}
	}
	if a.Whole >= 0 {
		if err := a.quick.build(quick, a.Shared, pieces); err != nil {
			return Document{}, err
		}
		if a.Whole == 0 || a.quick.length <= a.Whole {
			// Near the limit the other form is kept, because it may be needed again soon.
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

// use makes a form the document.
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
		sum := sha256.Sum256(a.last.Gzip)
		a.last.Hash = hex.EncodeToString(sum[:])
		a.parts = nil
	}
	return a.last
}

// Length is that of the last document, compressed, in bytes.
func (a *Assembler) Length() int { return a.last.Length }

// Held returns how many bytes are kept for the next version, which other documents may share.
func (a *Assembler) Held() int { return a.quick.length + a.best.length + len(a.last.Gzip) }

// Close drops what is kept for the next version.
func (a *Assembler) Close() {
	a.quick.drop(a.Shared)
	a.best.drop(a.Shared)
	a.used, a.parts, a.weights, a.last = nil, nil, nil, Document{}
}
