package document

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// textPieces returns pieces that hardly compress, so that sizes are predictable.
func textPieces(n, size int, seed uint64) []*Piece {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]*Piece, n)
	for i := range out {
		text := make([]byte, size)
		for j := range text {
			text[j] = byte(r.Uint32())
		}
		out[i] = NewPiece(fmt.Sprintf("ServiceMonitor/ns/app-%d", i), text)
	}
	return out
}

func parts(t testing.TB, a *Assembler, ps []*Piece, c Cut) []Part {
	t.Helper()
	build(t, a, ps)
	out, err := a.Parts(c)
	if err != nil {
		t.Fatal(err)
	}
	return append(out.Parts, out.End)
}

func concat(ps []Part) []byte {
	var out []byte
	for _, p := range ps {
		out = append(out, p.Data...)
	}
	return out
}

// changed counts the parts before the end that are in b and not in a.
func changed(a, b []Part) int {
	n := 0
	for _, p := range b[:len(b)-1] {
		if !slices.ContainsFunc(a, func(q Part) bool { return q.Sum == p.Sum }) {
			n++
		}
	}
	return n
}

// checkParts checks the properties of every document and cut.
func checkParts(t testing.TB, whole Document, ps []Part, c Cut) {
	t.Helper()
	if !bytes.Equal(concat(ps), whole.Gzip) {
		t.Error("the parts are not the document")
	}
	count := c.Count + 1
	if c.Head {
		count++
	}
	for i := range ps {
		if plain, err := decompress(concat(ps[:i])); err == nil {
			t.Errorf("%d parts of %d pass as a document of %d bytes", i, len(ps), len(plain))
		}
	}
	if len(ps) > count {
		t.Errorf("%d parts, allowed are %d", len(ps), count)
	}
	for i, p := range ps {
		if len(p.Data) > c.Max || len(p.Data) == 0 || p.Sum != sha256.Sum256(p.Data) {
			t.Errorf("part %d of %d has %d bytes, allowed are %d", i, len(ps), len(p.Data), c.Max)
		}
	}
}

func TestNothingIsPutTogetherAboveTheLimit(t *testing.T) {
	ps := pieces(500)
	var free Assembler
	never := Assembler{Whole: -1}
	fast, hard := build(t, &free, ps).Length, build(t, &never, ps).Length
	for limit, want := range map[int]int{0: fast, fast: fast, fast - 1: hard, hard: hard, hard - 1: 0, -1: 0} {
		a := Assembler{Whole: limit}
		if d := build(t, &a, ps); len(d.Gzip) != want || (d.Hash == "") != (want == 0) || want > 0 && d.Length != want {
			t.Errorf("limit %d: %d bytes of %d, hash %q, want %d", limit, len(d.Gzip), d.Length, d.Hash, want)
		}
	}
}

// TestOneChangeChangesOnePart changes every piece in turn.
func TestOneChangeChangesOnePart(t *testing.T) {
	const n = 12_000
	ps := append([]*Piece{NewPiece("head", []byte("global: {}\n")), Fence}, textPieces(n, 40, 1)...)
	var a Assembler
	cut := Cut{Max: 64 << 10, Count: 16, Head: true}
	before := parts(t, &a, ps, cut)
	if len(before) < 8 {
		t.Fatalf("%d parts tell nothing", len(before))
	}
	more := 0
	for i := 2; i < len(ps); i += 61 {
		was := ps[i]
		ps[i] = NewPiece(was.name, fmt.Appendf(nil, "%040d", i))
		after := parts(t, &a, ps, cut)
		if changed(before, after) != 1 {
			more++
		}
		ps[i] = was
	}
	if more > n/61/50 {
		t.Errorf("%d of %d changes changed more than one part", more, n/61)
	}
	if changed(before, parts(t, &a, ps, cut)) != 0 {
		t.Error("the way back gave other parts")
	}
}

func TestAddedPiecesMoveFewBoundaries(t *testing.T) {
	all := textPieces(12_000, 40, 2)
	ps := append([]*Piece(nil), all[5:]...)
	var a Assembler
	cut := Cut{Max: 64 << 10, Count: 32}
	before := parts(t, &a, ps, cut)
	for i := range 5 {
		ps = slices.Insert(ps, i, all[i])
		after := parts(t, &a, ps, cut)
		if n := changed(before, after); n > 2 {
			t.Errorf("a piece at the front changed %d of %d parts", n, len(before))
		}
		before = after
	}
}

func TestPartsAreFilledBeforeAnythingIsRefused(t *testing.T) {
	ps := textPieces(1500, 40, 3)
	var a Assembler
	whole := build(t, &a, ps)
	cut := Cut{Max: 8 << 10}
	cut.Count = a.Fewest(cut)
	dense := parts(t, &a, ps, cut)
	checkParts(t, whole, dense, cut)
	cut.Count--
	_, err := a.Parts(cut)
	tooLarge, ok := errors.AsType[*TooLargeError](err)
	if !ok || tooLarge.Length != whole.Length || tooLarge.Room != cut.Count*cut.Max {
		t.Errorf("error %v", err)
	}
	cut.Count = 1000
	if loose := parts(t, &a, ps, cut); len(loose) <= len(dense) {
		t.Errorf("%d parts where there is room for many, %d where there is not", len(loose), len(dense))
	}
}

// TestAChunkMayBeLargerThanAPart: a single piece can be as large as an object.
func TestAChunkMayBeLargerThanAPart(t *testing.T) {
	ps := append(textPieces(1, 50_000, 4), textPieces(100, 100, 5)...)
	for _, head := range []bool{false, true} {
		var a Assembler
		whole, cut := build(t, &a, ps), Cut{Max: 4 << 10, Count: 100, Head: head}
		checkParts(t, whole, parts(t, &a, ps, cut), cut)
	}
}

func TestPartsOfTextPieces(t *testing.T) {
	ps := []*Piece{NewTextPiece("a", [32]byte{1}, []byte("one two ")), NewTextPiece("b", [32]byte{2}, nil), NewTextPiece("c", [32]byte{3}, []byte("three"))}
	a := Assembler{Whole: -1}
	got, err := decompress(concat(parts(t, &a, ps, Cut{Max: 100, Count: 1})))
	if err != nil || string(got) != "one two three" {
		t.Errorf("%q, %v", got, err)
	}
}

func FuzzParts(f *testing.F) {
	f.Add(uint16(100), uint16(30), uint16(2000), uint8(9), uint64(1), true)
	f.Add(uint16(3), uint16(9000), uint16(64), uint8(255), uint64(2), false)
	f.Fuzz(func(t *testing.T, n, size, most uint16, count uint8, seed uint64, head bool) {
		ps := append([]*Piece{NewPiece("head", []byte("global: {}\n")), Fence}, textPieces(int(n%400), int(size%10_000)/(1+int(n%400)/8), seed)...)
		c := Cut{Max: 64 + int(most), Count: int(count), Head: head}
		var a, other Assembler
		whole := build(t, &a, ps)
		_, err := a.Parts(c)
		if err != nil {
			if a.Fewest(c) <= c.Count {
				t.Errorf("%v, though %d parts suffice", err, a.Fewest(c))
			}
			return
		}
		got := parts(t, &a, ps, c)
		checkParts(t, whole, got, c)
		// A different history results in the same parts, and a changed document keeps most of them.
		build(t, &other, ps[:len(ps)/2])
		if _, err := other.Parts(c); err == nil && changed(got, parts(t, &other, ps, c)) != 0 {
			t.Error("the parts depend on what was before")
		}
		ps[len(ps)-1] = NewPiece(ps[len(ps)-1].name, []byte("changed"))
		whole = build(t, &a, ps)
		if _, err := a.Parts(c); err == nil {
			checkParts(t, whole, parts(t, &a, ps, c), c)
		}
	})
}

// BenchmarkOneChangeOfParts changes one piece of a document with many parts, like that of
// a workload with 50,000 monitors.
func BenchmarkOneChangeOfParts(b *testing.B) {
	for _, n := range []int{5_000, 50_000} {
		b.Run(fmt.Sprintf("pieces=%d", n), func(b *testing.B) {
			ps := textPieces(n, 100, 9)
			a, cut := Assembler{Whole: -1}, Cut{Max: 1<<20 - 50000, Count: 12, Head: true}
			parts(b, &a, ps, cut)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				ps[n/2] = NewPiece(ps[n/2].name, fmt.Appendf(nil, "%0100d", i))
				parts(b, &a, ps, cut)
			}
		})
	}
}

// TestHeadThatHasLittleRoom: the object of the first part also holds other data.
func TestHeadThatHasLittleRoom(t *testing.T) {
	ps := textPieces(1500, 40, 9)
	var a Assembler
	whole := build(t, &a, ps)
	for _, most := range []int{0, 1, 10, 500, 8 << 10, 9 << 10} {
		cut := Cut{Max: 8 << 10, Count: 20, Head: true, HeadMax: most}
		got := parts(t, &a, ps, cut)
		checkParts(t, whole, got, cut)
		if head := len(got[0].Data); head == 0 || most > 0 && head > most {
			t.Errorf("a head of at most %d bytes has %d", most, head)
		}
	}
}
