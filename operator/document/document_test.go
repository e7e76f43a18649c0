package document

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"
)

func pieces(n int) []Piece {
	out := make([]Piece, n)
	for i := range out {
		out[i] = NewPiece(fmt.Sprintf("ServiceMonitor/ns-%d/app-%d", i%17, i),
			[]byte(strings.Repeat(fmt.Sprintf("- job_name: serviceMonitor/ns/app-%d\n  honor_labels: false\n", i), 30)))
	}
	return out
}

func plain(t testing.TB, gz []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(gz))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func joined(ps []Piece) string {
	var b strings.Builder
	for _, p := range ps {
		b.Write(p.Content)
	}
	return b.String()
}

func build(t testing.TB, a *Assembler, ps []Piece) Document {
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
		if got := plain(t, d.Gzip); got != joined(ps) || d.Size != len(got) {
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

	changed := append([]Piece(nil), ps...)
	changed[1234] = NewPiece(ps[1234].Name, []byte("- job_name: changed\n"))
	if d := build(t, &a, changed); d.Compressed != 1 || plain(t, d.Gzip) != joined(changed) {
		t.Errorf("a changed piece compressed %d chunks, want 1", d.Compressed)
	}
	removed := append(append([]Piece(nil), changed[:700]...), changed[701:]...)
	if d := build(t, &a, removed); d.Compressed > 2 || plain(t, d.Gzip) != joined(removed) {
		t.Errorf("a removed piece compressed %d chunks, want at most 2", d.Compressed)
	}
	added := append(append(append([]Piece(nil), removed[:10]...), NewPiece("new", []byte("- job_name: new\n"))), removed[10:]...)
	if d := build(t, &a, added); d.Compressed > 2 || plain(t, d.Gzip) != joined(added) {
		t.Errorf("an added piece compressed %d chunks, want at most 2", d.Compressed)
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

func TestChunkedStaysCloseToOneStream(t *testing.T) {
	ps := pieces(3000)
	var a Assembler
	chunked := len(build(t, &a, ps).Gzip)
	one, err := compress(ps)
	if err != nil {
		t.Fatal(err)
	}
	if chunked > 3*len(one)/2 {
		t.Errorf("chunked %d bytes, one stream %d", chunked, len(one))
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
				ps[n/2] = NewPiece(ps[n/2].Name, fmt.Appendf(nil, "- job_name: x%d\n", i))
				build(b, &a, ps)
			}
		})
	}
}
