package pemfile_test

import (
	"bytes"
	"encoding/pem"
	"strings"
	"testing"

	"github.com/firekeeper-dev/firekeeper/internal/pemfile"
)

// A file of two certificates is cut wherever it ends within the second one.
func TestIsCut(t *testing.T) {
	one := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: bytes.Repeat([]byte("certificate"), 20)})
	comment := []byte("# the second one\n")
	text := bytes.Join([][]byte{one, comment, one}, nil)
	begins, ends := len(one)+len(comment), len(bytes.TrimSpace(text))
	for n := range len(text) + 1 {
		want := n > 0 && n < len(one)-1 || n > begins && n < ends
		if got := pemfile.IsCut(text[:n]); got != want {
			t.Errorf("ends with %q: %t", text[max(0, n-30):n], got)
		}
	}
	for _, whole := range []string{"", "\n", "nothing", "a-----BEGI", strings.ReplaceAll(string(text), "\n", "\r\n"), string(text) + "\n# the end"} {
		if pemfile.IsCut([]byte(whole)) {
			t.Errorf("%q is cut", whole)
		}
	}
}
