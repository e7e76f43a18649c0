package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// file is one entry of an archive.
type file struct {
	name string // in the archive
	from string // path; empty: text or link
	text []byte
	link string // target of a symbolic link
	mode int64
}

// epoch is the time of every entry. Helm refuses archives with times before 1970.
var epoch = time.Unix(0, 0).UTC()

// writeArchive writes a tar.gz.
func writeArchive(to string, files []file) (err error) {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	packed, err := gzip.NewWriterLevel(out, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := writeTar(packed, files); err != nil {
		return fmt.Errorf("write %s: %w", to, err)
	}
	return packed.Close()
}

// tarred is a tar in memory.
func tarred(files []file) ([]byte, error) {
	var out bytes.Buffer
	err := writeTar(&out, files)
	return out.Bytes(), err
}

// writeTar writes entries sorted by name, of user and group 0, with folders before their content.
func writeTar(w io.Writer, files []file) error {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	out := tar.NewWriter(w)
	folders := map[string]bool{".": true}
	for _, f := range files {
		if err := addFolders(out, path.Dir(f.name), folders); err != nil {
			return err
		}
		if err := f.add(out); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return out.Close()
}

func addFolders(out *tar.Writer, folder string, have map[string]bool) error {
	if have[folder] {
		return nil
	}
	have[folder] = true
	if err := addFolders(out, path.Dir(folder), have); err != nil {
		return err
	}
	return out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: folder + "/", Mode: 0o755, ModTime: epoch, Format: tar.FormatUSTAR})
}

func (f file) add(out *tar.Writer) error {
	head := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: f.mode, ModTime: epoch, Format: tar.FormatUSTAR}
	if f.link != "" {
		head.Typeflag, head.Linkname, head.Mode = tar.TypeSymlink, f.link, 0o777
		return out.WriteHeader(head)
	}
	text := f.text
	if f.from != "" {
		var err error
		if text, err = os.ReadFile(f.from); err != nil {
			return err
		}
	}
	head.Size = int64(len(text))
	if err := out.WriteHeader(head); err != nil {
		return err
	}
	_, err := out.Write(text)
	return err
}
