package document

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/flate"

	"github.com/firekeeper-dev/firekeeper/internal/footprint"
)

func pieces(n int) []*Piece {
	out := make([]*Piece, n)
	for i := range out {
		out[i] = NewPiece(fmt.Sprintf("ServiceMonitor/ns-%d/app-%d", i%17, i),
			[]byte(strings.Repeat(fmt.Sprintf("- job_name: serviceMonitor/ns/app-%d\n  honor_labels: false\n", i), 30)))
	}
	return out
}

func plain(t testing.TB, gz []byte) string {
	t.Helper()
	text, err := decompress(gz)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func decompress(gz []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func joined(t testing.TB, ps []*Piece) string {
	t.Helper()
	var b strings.Builder
	if _, err := writeAll(&b, ps); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func build(t testing.TB, a *Assembler, ps []*Piece) Document {
	t.Helper()
	d, err := a.Build(ps)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestBuildIsOneGzipStreamOfAllPieces(t *testing.T) {
	for _, n := range []int{1, 2, 63, 64, 65, 1000} {
		ps := pieces(n)
		var a Assembler
		d := build(t, &a, ps)
		if got := plain(t, d.Gzip); got != joined(t, ps) || d.Size != len(got) {
			t.Errorf("%d pieces: the text differs (size %d)", n, d.Size)
		}
	}
}

func TestOneChangeCompressesOneChunk(t *testing.T) {
	ps := pieces(2000)
	var a Assembler
	first := build(t, &a, ps)
	if again := build(t, &a, ps); again.Compressed != 0 || again.Hash != first.Hash {
		t.Errorf("the same pieces: compressed %d chunks, hash equal %v", again.Compressed, again.Hash == first.Hash)
	}

	changed := append([]*Piece(nil), ps...)
	changed[1234] = NewPiece(ps[1234].name, []byte("- job_name: changed\n"))
	if d := build(t, &a, changed); d.Compressed != 1 || plain(t, d.Gzip) != joined(t, changed) {
		t.Errorf("a changed piece compressed %d chunks, want 1", d.Compressed)
	}
	removed := append(append([]*Piece(nil), changed[:700]...), changed[701:]...)
	if d := build(t, &a, removed); d.Compressed > 2 || plain(t, d.Gzip) != joined(t, removed) {
		t.Errorf("a removed piece compressed %d chunks, want at most 2", d.Compressed)
	}
	added := append(append(append([]*Piece(nil), removed[:10]...), NewPiece("new", []byte("- job_name: new\n"))), removed[10:]...)
	if d := build(t, &a, added); d.Compressed > 2 || plain(t, d.Gzip) != joined(t, added) {
		t.Errorf("an added piece compressed %d chunks, want at most 2", d.Compressed)
	}
}

// TestAChangeSeldomCompressesTheNextChunk: the next chunk is rarely recompressed although
// it may refer to the changed piece.
func TestAChangeSeldomCompressesTheNextChunk(t *testing.T) {
	ps := pieces(1000)
	var a Assembler
	build(t, &a, ps)
	sum := 0
	for i, was := range ps {
		ps[i] = NewPiece(was.name, []byte("- job_name: changed\n"))
		n := build(t, &a, ps).Compressed
		if n < 1 || n > 4 { // small chunks: the change may also reach further ones
			t.Errorf("piece %d: compressed %d chunks", i, n)
		}
		sum += n
		ps[i] = was
		build(t, &a, ps)
	}
	if sum > 1200 {
		t.Errorf("1000 changes compressed %d chunks", sum)
	}
}

// TestAChangeCompressesFewBytes: the work for a change depends neither on the size of the document nor,
// with rules, on the number of pieces that fill a chunk.
func TestAChangeCompressesFewBytes(t *testing.T) {
	monitors := pieces(500)
	rules := func(size int) []*Piece {
		out := make([]*Piece, 150)
		for i := range out {
			text := strings.Repeat(fmt.Sprintf("- alert: Rule%d\n", i), size/20)
			out[i] = NewTextPiece(fmt.Sprintf("ns-%d-rules-%d", i%17, i), sha256.Sum256([]byte(text)), []byte(text))
		}
		return out
	}
	for _, c := range []struct {
		name   string
		whole  int
		pieces []*Piece
		change func(*Piece) *Piece
		most   int // mean number of bytes
	}{
		{"monitors", 0, monitors, func(p *Piece) *Piece { return NewPiece(p.name, []byte("- job_name: changed\n")) }, 200 << 10},
		{"rules", -1, rules(12 << 10), changedText, 256 << 10},
		{"small rules", -1, rules(1 << 10), changedText, 128 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := Assembler{Whole: c.whole}
			build(t, &a, c.pieces)
			const changes = 30
			bytes := 0
			for i := range changes {
				at := i * len(c.pieces) / changes
				was, had := c.pieces[at], chunksOf(&a)
				c.pieces[at] = c.change(was)
				build(t, &a, c.pieces)
				for key, size := range chunksOf(&a) {
					if _, kept := had[key]; !kept {
						bytes += size
					}
				}
				c.pieces[at] = was
				build(t, &a, c.pieces)
			}
			t.Logf("a change compresses %d bytes", bytes/changes)
			if bytes/changes > c.most {
				t.Errorf("a change compresses %d bytes, want at most %d", bytes/changes, c.most)
			}
		})
	}
}

func changedText(p *Piece) *Piece {
	var buffer []byte
	content, err := p.content(&buffer)
	if err != nil {
		panic(err)
	}
	return NewTextPiece(p.name, [32]byte{1}, content[1:])
}

// chunksOf returns the sizes of the chunks of the last document in bytes.
func chunksOf(a *Assembler) map[[32]byte]int {
	out := map[[32]byte]int{}
	for _, c := range a.used.chunks {
		out[c.key] = c.text.size
	}
	return out
}

// TestUnchangedChunksAreNotCutAgain: a document that is built after another one has the same chunks as a new one, after
// any change.
func TestUnchangedChunksAreNotCutAgain(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, whole := range []int{0, -1} {
		all := pieces(400)
		old := Assembler{Whole: whole}
		ps := slices.Clone(all[:200])
		for round := range 25 {
			for range 1 + random.IntN(4) {
				at := random.IntN(len(ps))
				switch random.IntN(5) {
				case 0:
					ps = slices.Delete(slices.Clone(ps), at, min(at+random.IntN(40), len(ps)-1))
				case 1:
					ps = slices.Insert(slices.Clone(ps), at, Fence)
				case 2:
					ps = slices.Insert(slices.Clone(ps), at, NewPiece(fmt.Sprint("new-", round), fmt.Appendf(nil, "- $(V) %d\n", round)))
				case 3:
					ps = append(slices.Clone(ps), all[random.IntN(len(all))])
				default:
					ps[at] = NewPiece(ps[at].name, fmt.Appendf(nil, "- job_name: %d\n", random.IntN(4)))
				}
			}
			if ps[0] == Fence && len(ps) == 1 {
				ps = slices.Clone(all[:200])
			}
			if got, want := old.Rendered(ps), len(joined(t, ps))+footprint.Substitution([]byte(joined(t, ps))); got != want {
				t.Fatalf("round %d: rendered size %d, want %d", round, got, want)
			}
			if got, want := old.Size(ps), len(joined(t, ps)); got != want {
				t.Fatalf("round %d: size %d, want %d", round, got, want)
			}
			fresh := Assembler{Whole: whole}
			a, b := build(t, &old, ps), build(t, &fresh, ps)
			if !slices.EqualFunc(old.used.chunks, fresh.used.chunks, func(a, b *chunk) bool { return a.key == b.key }) ||
				!slices.Equal(old.used.cuts, fresh.used.cuts) || a.Length != b.Length || a.Hash != b.Hash || old.used.text != fresh.used.text {
				t.Fatalf("round %d: %d chunks, %d from scratch", round, len(old.used.chunks), len(fresh.used.chunks))
			}
		}
	}
}

func TestBytesDoNotDependOnHistory(t *testing.T) {
	ps := pieces(500)
	var fresh, old Assembler
	build(t, &old, pieces(300))
	build(t, &old, ps[100:])
	if a, b := build(t, &fresh, ps), build(t, &old, ps); !bytes.Equal(a.Gzip, b.Gzip) || a.Hash != b.Hash {
		t.Error("the same pieces gave other bytes after another history")
	}
}

// oneStream returns the length of all pieces compressed as a single stream.
func oneStream(t testing.TB, ps []*Piece, level int) int {
	t.Helper()
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, level)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := writeAll(w, ps); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Len()
}

func TestChunkedStaysCloseToOneStream(t *testing.T) {
	for _, n := range []int{10, 100, 1000, 10_000} {
		ps := pieces(n)
		for whole, effort := range map[int]*effort{0: quick, -1: best} {
			a := Assembler{Whole: whole}
			chunked, one := build(t, &a, ps).Length, oneStream(t, ps, effort.level)
			if float64(chunked) > 1.25*float64(one) {
				t.Errorf("%d pieces, level %d: %d bytes, in one go %d", n, effort.level, chunked, one)
			}
		}
	}
}

// TestWhatIsTooLargeIsCompressedHarder: a document that is too large is compressed at the highest
// level, and the same pieces always produce the same bytes, regardless of the form used before.
func TestWhatIsTooLargeIsCompressedHarder(t *testing.T) {
	ps := pieces(3000)
	limit := oneStream(t, ps, flate.BestCompression) * 11 / 10
	a := Assembler{Whole: limit}
	hard := build(t, &a, ps)
	if hard.Length > limit || plain(t, hard.Gzip) != joined(t, ps) {
		t.Errorf("%d bytes, the limit is %d", hard.Length, limit)
	}
	ps[1500] = NewPiece(ps[1500].name, []byte("- job_name: changed\n"))
	if d := build(t, &a, ps); d.Compressed > 4 || plain(t, d.Gzip) != joined(t, ps) {
		t.Errorf("one change compressed %d chunks", d.Compressed)
	}
	fewer := ps[:2000]
	var fresh Assembler
	if d, want := build(t, &a, fewer), build(t, &fresh, fewer); d.Hash != want.Hash || d.Length > limit {
		t.Errorf("a smaller document: %d bytes, %d from scratch", d.Length, want.Length)
	}
}

func TestPiecesKeepTheirContent(t *testing.T) {
	for _, n := range []int{0, 1, packFrom - 1, packFrom, 100_000} {
		content := bytes.Repeat([]byte("abcdefghij"), n/10+1)[:n]
		want := string(content)
		p := NewPiece("x", content)
		clear(content)
		var buffer []byte
		if got, err := p.content(&buffer); err != nil || string(got) != want || p.Size() != n {
			t.Errorf("%d bytes: size %d, equal %v, %v", n, p.Size(), string(got) == want, err)
		}
	}
}

// TestDocumentsShareChunks: documents that differ only in head and tail share the chunks
// in between, also after the same change to both.
func TestDocumentsShareChunks(t *testing.T) {
	var shared Chunks
	a, b := Assembler{Shared: &shared}, Assembler{Shared: &shared}
	of := func(owner string, ps []*Piece) []*Piece {
		head := []*Piece{NewPiece("head", []byte("# "+owner+"\n")), Fence}
		return append(append(append([]*Piece(nil), head...), ps...), Fence, NewPiece("tail", []byte("# end of "+owner+"\n")))
	}
	ps := pieces(1000)
	first := build(t, &a, of("a", ps))
	if second := build(t, &b, of("b", ps)); second.Compressed != 2 || plain(t, second.Gzip) != joined(t, of("b", ps)) {
		t.Errorf("the second document compressed %d chunks, want its head and its tail", second.Compressed)
	}
	if n := shared.Len(); n != first.Compressed+2 {
		t.Errorf("%d chunks are kept, want %d", n, first.Compressed+2)
	}
	ps[500] = NewPiece(ps[500].name, []byte("- job_name: changed\n"))
	if d := build(t, &a, of("a", ps)); d.Compressed != 1 {
		t.Errorf("the change compressed %d chunks, want 1", d.Compressed)
	}
	if d := build(t, &b, of("b", ps)); d.Compressed != 0 || plain(t, d.Gzip) != joined(t, of("b", ps)) {
		t.Errorf("the change compressed %d chunks again", d.Compressed)
	}
	a.Close()
	if d := build(t, &b, of("b", ps)); d.Compressed != 0 {
		t.Errorf("after the other has gone, %d chunks were compressed again", d.Compressed)
	}
	b.Close()
	if n := shared.Len(); n != 0 {
		t.Errorf("%d chunks are kept for nobody", n)
	}
}

// TestDocumentsOfSeveralGoroutines runs concurrent builds for the race detector.
func TestDocumentsOfSeveralGoroutines(t *testing.T) {
	var shared Chunks
	ps := pieces(300)
	want := joined(t, ps)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			a := Assembler{Shared: &shared}
			d, err := a.Build(ps)
			if err != nil || d.Size != len(want) {
				t.Errorf("size %d, want %d: %v", d.Size, len(want), err)
			}
			a.Close()
		})
	}
	wg.Wait()
	if n := shared.Len(); n != 0 {
		t.Errorf("%d chunks are kept for nobody", n)
	}
}

func BenchmarkOneChange(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		b.Run(fmt.Sprintf("pieces=%d", n), func(b *testing.B) {
			ps := pieces(n)
			var a Assembler
			build(b, &a, ps)
			i := 0
			b.ReportAllocs()
			for b.Loop() {
				i++
				ps[n/2] = NewPiece(ps[n/2].name, fmt.Appendf(nil, "- job_name: x%d\n", i))
				build(b, &a, ps)
			}
		})
	}
}

// TestTheRoomMayChange: Whole may change between builds of the same pieces.
func TestTheRoomMayChange(t *testing.T) {
	ps := pieces(500)
	var free Assembler
	fast := build(t, &free, ps).Length
	a := Assembler{}
	for _, limit := range []int{fast, 100, fast, -1, fast} {
		a.Whole = limit
		if d := build(t, &a, ps); (d.Gzip != nil) != (limit == fast) || (d.Hash != "") != (limit == fast) {
			t.Errorf("limit %d: %d bytes, hash %q", limit, len(d.Gzip), d.Hash)
		}
	}
}
