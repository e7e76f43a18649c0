package routing

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
)

// maxConfigBytes limits the size of a configuration.
const maxConfigBytes = 256 << 20

// ReadConfig reads a configuration, plain or compressed with gzip.
//
// Errors: it is too long; those of in.
func ReadConfig(in io.Reader) ([]byte, error) {
	text, err := limited(in)
	if err != nil || !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
		return text, err
	}
	zipped, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return limited(zipped)
}

func limited(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxConfigBytes+1))
	if err == nil && len(text) > maxConfigBytes {
		err = fmt.Errorf("longer than %d bytes", maxConfigBytes)
	}
	return text, err
}
