package document

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
)

// Part is a slice of the compressed document.
type Part struct {
	Data []byte
	Sum  [32]byte // SHA-256 of Data
}

// Cut limits the parts into which a document is split.
type Cut struct {
	// Max is the maximum length of a part in bytes.
	Max int
	// Count is the maximum number of parts.
	Count int
	// Head puts the first chunk into a separate part, which does not count towards Count. HeadMax limits the
	// length of that part in bytes if it is above 0 and below Max.
	Head    bool
	HeadMax int
}

// Multipart is a compressed document in parts: Parts in order, followed by End. End contains the checksum, which changes
// with every change. Without End, a reader fails with an unexpected EOF instead of reading a truncated document.
type Multipart struct {
	Parts []Part
	End   Part
}

// TooLargeError means that a document does not fit into the allowed number of parts.
type TooLargeError struct {
	Length int // compressed length of the document in bytes
	Room   int // total bytes of all parts
}

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("%d bytes compressed do not fit into %d bytes", e.Length, e.Room)
}

// fills lists minimum fill levels of a part, in eighths. The first one that needs few enough parts is used: the lower
// it is, the more likely the boundaries stay in place after a change before them. With the last one, every part is as
// full as possible.
var fills = []int{4, 6, 7, 8}

// Parts splits the document last returned by Build. Parts that did not change since the previous call are reused.
//
// Errors: TooLargeError.
func (a *Assembler) Parts(c Cut) (Multipart, error) {
	head, rest := a.units(c)
	for _, fill := range fills {
		if groups := spread(rest, c.Max, c.Max/8*fill); len(groups) <= c.Count {
			end := a.used.end()
			return Multipart{a.join(append(head, groups...)), Part{end, sha256.Sum256(end)}}, nil
		}
	}
	return Multipart{}, &TooLargeError{Length: a.last.Length, Room: c.Max * c.Count}
}

// Fewest returns the minimum number of parts for the document.
func (a *Assembler) Fewest(c Cut) int {
	_, rest := a.units(c)
	return len(spread(rest, c.Max, c.Max))
}

// unit is a sequence of bytes that is never split: a chunk, or a slice of a chunk that is too large.
type unit struct {
	data []byte
	key  [32]byte // of the chunk
	from int      // offset of data in the chunk's block
	rank uint64   // of its end
}

// rankOf ranks possible boundaries. Like the boundaries of chunks, the rank depends only on the name.
func rankOf(end *Piece) uint64 {
	h := fnv.New64a()
	h.Write([]byte(end.name))
	// FNV's high bits hardly depend on the last letters, in which names differ.
	x := h.Sum64()
	x = (x ^ x>>31) * 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// units returns the units to distribute, and separately those of the head.
func (a *Assembler) units(c Cut) (head [][]unit, rest []unit) {
	rest = make([]unit, 0, len(a.used.chunks)+1)
	for i, k := range a.used.chunks {
		block, shift := k.block, 0
		if i == 0 {
			block, shift = slices.Concat(gzipHeader, k.block), len(gzipHeader)
		}
		for from, end := 0, 0; from < len(block); from = end {
			end = min(from+c.Max, len(block))
			if c.Head && c.HeadMax > 0 && len(rest) == 0 {
				end = min(end, c.HeadMax)
			}
			rest = append(rest, unit{block[from:end], k.key, from - shift, a.used.cuts[i].rank})
		}
	}
	if !c.Head || len(rest) == 0 {
		return nil, rest
	}
	return [][]unit{rest[:1]}, rest[1:]
}

// spread groups units into groups of at most most bytes. A group ends at the highest-ranked boundary after at
// least low bytes.
func spread(units []unit, most, low int) [][]unit {
	left := 0
	for _, u := range units {
		left += len(u.data)
	}
	var out [][]unit
	for left > most {
		end, length, size := 0, 0, 0
		var best uint64
		for i, u := range units {
			if size += len(u.data); size > most {
				break
			}
			// Below low, take the last boundary, because the next unit may be too large.
			if length < low || u.rank >= best {
				end, length, best = i+1, size, u.rank
			}
		}
		out, units, left = append(out, units[:end]), units[end:], left-length
	}
	if len(units) > 0 {
		out = append(out, units)
	}
	return out
}

func (a *Assembler) join(groups [][]unit) []Part {
	now := make(map[[32]byte]Part, len(groups))
	out := make([]Part, len(groups))
	for i, g := range groups {
		key := keyOf(g)
		p, known := a.parts[key]
		if !known {
			length := 0
			for _, u := range g {
				length += len(u.data)
			}
			p.Data = make([]byte, 0, length)
			for _, u := range g {
				p.Data = append(p.Data, u.data...)
			}
			p.Sum = sha256.Sum256(p.Data)
		}
		out[i], now[key] = p, p
	}
	a.parts = now
	return out
}

func keyOf(units []unit) [32]byte {
	h := sha256.New()
	var place [16]byte
	for _, u := range units {
		h.Write(u.key[:])
		binary.LittleEndian.PutUint64(place[:8], uint64(u.from))
		binary.LittleEndian.PutUint64(place[8:], uint64(len(u.data)))
		h.Write(place[:])
	}
	return [32]byte(h.Sum(nil))
}
