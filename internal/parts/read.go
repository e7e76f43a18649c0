package parts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// ErrMixed means that the files do not match the list.
var ErrMixed = errors.New("the files do not belong together")

// Read returns the plain configuration, and its rule files by name. It is for callers
// that have all files in memory. files has the contents by name, with or without a list;
// first is the name of the first file of the configuration.
//
// Errors: ErrMixed, and errors of Parse, gzip and tar.
func Read(files map[string][]byte, first string) (config []byte, rules map[string]string, err error) {
	list := List{Config: Stream{{Name: first}}}
	text, inParts := files[ListName]
	if inParts {
		if list, err = Parse(text, first); err != nil {
			return nil, nil, err
		}
	}
	stream, err := join(files, list.Config, inParts)
	if err != nil {
		return nil, nil, err
	}
	archive, err := join(files, list.Rules, true)
	if err != nil {
		return nil, nil, err
	}
	if config, err = inflate(stream); err != nil || len(list.Rules) == 0 {
		return config, nil, err
	}
	rules, err = untar(archive)
	return config, rules, err
}

func join(files map[string][]byte, s Stream, check bool) ([]byte, error) {
	var out []byte
	for _, f := range s {
		content, ok := files[f.Name]
		sum := sha256.Sum256(content)
		if !ok || check && hex.EncodeToString(sum[:]) != f.SHA256 {
			return nil, fmt.Errorf("%w: %s", ErrMixed, f.Name)
		}
		out = append(out, content...)
	}
	return out, nil
}

func inflate(text []byte) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func untar(archive []byte) (map[string]string, error) {
	plain, err := inflate(archive)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for r := tar.NewReader(bytes.NewReader(plain)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err != nil {
			return nil, err
		}
		out[h.Name] = string(content)
	}
}
