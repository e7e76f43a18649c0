package document

import (
	"bytes"
	"hash/crc32"
	"testing"
)

func FuzzChecksum(f *testing.F) {
	f.Add([]byte(""), []byte(""), []byte("x"))
	f.Add([]byte("scrape_configs:\n"), []byte("- job_name: a\n"), bytes.Repeat([]byte("y"), 5000))
	f.Fuzz(func(t *testing.T, a, b, c []byte) {
		of := func(text []byte) checksum { return checksumOf(crc32.ChecksumIEEE(text), len(text)) }
		all := append(append(bytes.Clone(a), b...), c...)
		if got := of(a).then(of(b)).then(of(c)); got != of(all) {
			t.Errorf("%+v, want %+v", got, of(all))
		}
	})
}
