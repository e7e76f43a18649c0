package feed

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
)

// discard is a response to a buffer.
type discard struct{ io.Writer }

func (discard) Header() http.Header { return http.Header{} }
func (discard) WriteHeader(int)     {}

// A gzip reader returns each block as soon as it was written, without waiting for the next one, and all of them at the
// end.
func TestBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(0, 0))
	in, out := io.Pipe()
	got := make(chan string)
	go func() {
		z, err := gzip.NewReader(in)
		if err != nil {
			t.Error(err)
			close(got)
			return
		}
		lines := bufio.NewReader(z)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				close(got)
				return
			}
			got <- line
		}
	}()
	if _, err := out.Write(header); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		text := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(200_000)) + "\n"
		b := pack([]byte(text))
		if i%2 == 0 {
			b = stored([]byte(text))
		}
		if b.plain != len(text) {
			t.Fatalf("%d bytes of %d", b.plain, len(text))
		}
		var plain bytes.Buffer
		if err := b.unpack(&plain); err != nil || plain.String() != text {
			t.Fatalf("unpacked %d bytes of %d, %v", plain.Len(), len(text), err)
		}
		go func() { _, _ = out.Write(b.packed) }()
		if line := <-got; line != text {
			t.Fatalf("block %d: %d bytes, want %d", i, len(line), len(text))
		}
	}
	out.Close()
	if _, open := <-got; open {
		t.Error("more lines")
	}
}

func TestVersions(t *testing.T) {
	for text, want := range map[string]Version{"": {}, "3-7": {3, 7}, "1764208862123-18446744073709551615": {1764208862123, 1<<64 - 1}} {
		v, ok := parseVersion(text)
		if !ok || v != want || text != "" && v.String() != text {
			t.Errorf("%q: %v, %t", text, v, ok)
		}
	}
	for _, text := range []string{"-", "3", "3-", "-7", "3-7-1", "a-b", "3--7", "+3-7", "99999999999999999999-1", strings.Repeat("1", 1<<20)} {
		if v, ok := parseVersion(text); ok {
			t.Errorf("%.30q is %v", text, v)
		}
	}
}
