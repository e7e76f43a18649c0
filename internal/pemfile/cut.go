// Package pemfile recognizes PEM files that are being written.
package pemfile

import "bytes"

var (
	begin = []byte("-----BEGIN ")
	end   = []byte("-----END ")
	dash  = []byte("-----")
)

// IsCut reports whether a PEM file ends within a block, because it is being written. Parsers ignore such an end, so that the last
// certificates of a chain or a bundle would be missing.
func IsCut(text []byte) bool {
	_, line := cutLast(text, []byte("\n"))
	if len(line) > 0 && len(line) < len(begin) && bytes.HasPrefix(begin, line) {
		return true
	}
	found, block := cutLast(text, begin)
	if !found {
		return false
	}
	_, last, found := bytes.Cut(block, end)
	return !found || !bytes.Contains(last, dash)
}

// cutLast returns what follows the last separator; all of the text if there is none.
func cutLast(text, separator []byte) (found bool, after []byte) {
	at := bytes.LastIndex(text, separator)
	if at < 0 {
		return false, text
	}
	return true, text[at+len(separator):]
}
