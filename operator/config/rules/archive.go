package rules

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/config/document"
)

// Archive is a tar archive of rule files in pieces; without files, it has no pieces.
type Archive struct {
	Pieces []*document.Piece
	Sums   map[string][sha256.Size]byte // of the files' contents
	Bytes  int                          // total size of the contents
}

// Archive returns an archive of the files with the given names, none of which may be rejected.
func (fs Files) Archive(names []string) (Archive, error) {
	if len(names) == 0 {
		return Archive{}, nil
	}
	files := make(map[string]*CompressedFragment, len(fs))
	for _, f := range fs {
		if f.Err == nil {
			files[f.FileName] = f.CompressedFragment
		}
	}
	out := Archive{Pieces: make([]*document.Piece, 0, len(names)+1), Sums: make(map[string][sha256.Size]byte, len(names))}
	for _, name := range names {
		piece, err := files[name].archived()
		if err != nil {
			return Archive{}, err
		}
		out.Pieces = append(out.Pieces, piece)
		out.Sums[name] = files[name].Sum
		out.Bytes += files[name].Bytes
	}
	out.Pieces = append(out.Pieces, endOfArchive)
	return out, nil
}

const tarBlock = 512

var (
	// endOfArchive is the end-of-archive marker of a tar file.
	endOfArchive = document.NewTextPiece("end", [32]byte{}, make([]byte, 2*tarBlock))

	zeros [tarBlock]byte
)

// Piece returns the rule file as a piece of an archive; nil if it is rejected.
func (f File) Piece() (*document.Piece, error) {
	if f.Err != nil {
		return nil, nil
	}
	return f.archived()
}

// archived returns the rule file as a piece of an archive.
func (c *CompressedFragment) archived() (*document.Piece, error) {
	c.once.Do(func() {
		var file bytes.Buffer
		// Only name and size vary, so the same rules result in the same bytes.
		err := tar.NewWriter(&file).WriteHeader(&tar.Header{Name: c.FileName, Mode: 0o644, Size: int64(c.Bytes)})
		if err != nil {
			c.pieceErr = fmt.Errorf("archive rules %s: %w", c.FileName, err)
			return
		}
		file.Write(c.Text())
		file.Write(zeros[:(tarBlock-c.Bytes%tarBlock)%tarBlock])
		sum := sha256.Sum256(append([]byte(c.FileName+"\x00"), c.Sum[:]...))
		c.piece = document.NewTextPiece(c.FileName, sum, file.Bytes())
	})
	return c.piece, c.pieceErr
}
