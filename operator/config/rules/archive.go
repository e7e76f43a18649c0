package rules

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/firekeeper-dev/firekeeper/operator/config/document"
)

// Archive is rule files as a tar archive in pieces; no pieces for no files.
type Archive struct {
	Pieces []*document.Piece
	Sums   map[string][sha256.Size]byte // of the files' contents
	Bytes  int                          // of these contents
}

// Archive returns the files with these names, none of them rejected, as an archive.
func (fs Files) Archive(names []string) (Archive, error) {
	if len(names) == 0 {
		return Archive{}, nil
	}
	files := make(map[string]*Compiled, len(fs))
	for _, f := range fs {
		if f.Err == nil {
			files[f.FileName] = f.Compiled
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
		out.Bytes += len(files[name].Content)
	}
	out.Pieces = append(out.Pieces, endOfArchive)
	return out, nil
}

const tarBlock = 512

var (
	// endOfArchive ends a tar archive.
	endOfArchive = document.NewTextPiece("end", [32]byte{}, string(make([]byte, 2*tarBlock)))

	zeros = string(make([]byte, tarBlock))
)

// Piece is the rule file as a piece of an archive; nil for one that is rejected.
func (f File) Piece() (*document.Piece, error) {
	if f.Err != nil {
		return nil, nil
	}
	return f.archived()
}

// archived is the rule file as a piece of an archive. It shares the content.
func (c *Compiled) archived() (*document.Piece, error) {
	c.once.Do(func() {
		var header bytes.Buffer
		// Nothing varies but name and size: the same rules make the same bytes.
		err := tar.NewWriter(&header).WriteHeader(&tar.Header{Name: c.FileName, Mode: 0o644, Size: int64(len(c.Content))})
		if err != nil {
			c.pieceErr = fmt.Errorf("archive rules %s: %w", c.FileName, err)
			return
		}
		pad := (tarBlock - len(c.Content)%tarBlock) % tarBlock
		sum := sha256.Sum256(append([]byte(c.FileName+"\x00"), c.Sum[:]...))
		c.piece = document.NewTextPiece(c.FileName, sum, header.String(), c.Content, zeros[:pad])
	})
	return c.piece, c.pieceErr
}
