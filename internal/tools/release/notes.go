package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// published is the index of a program's image, whose digest is the same in every registry.
type published struct {
	program  program
	digest   v1.Hash
	packed   []int64 // sizes of the layers together, by platform
	unpacked []int64 // sizes of the binaries, by platform
}

// writeNotes writes notes.md: the images with their digests and sizes, and the section of the changelog.
func (r *release) writeNotes() error {
	changes, err := r.changes()
	if err != nil {
		return err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "# Firekeeper %s\n\nCommit %s. Check the files with `sha256sum --check SHA256SUMS`.\n\n", r.version, r.revision)
	out.WriteString("| image | digest |")
	for _, platform := range r.platform {
		fmt.Fprintf(&out, " %s: to pull, binary |", strings.ReplaceAll(platform, "-", "/"))
	}
	out.WriteString("\n|---|---|" + strings.Repeat("---|", len(r.platform)) + "\n")
	for _, image := range r.images {
		fmt.Fprintf(&out, "| `%s/%s:%s` | `%s` |", r.image, image.program.name, r.tag, image.digest)
		for i := range r.platform {
			fmt.Fprintf(&out, " %s, %s |", megabytes(image.packed[i]), megabytes(image.unpacked[i]))
		}
		out.WriteString("\n")
	}
	out.WriteString("\n" + changes)
	return os.WriteFile(filepath.Join(r.out, "notes.md"), []byte(out.String()), 0o644)
}

// changes returns the section of the release in CHANGELOG.md, without its heading.
func (r *release) changes() (string, error) {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return "", err
	}
	_, section, found := strings.Cut(string(text), "\n## "+r.version+"\n")
	if !found {
		return "", errors.New("CHANGELOG.md has no section " + r.version)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	return strings.Trim(section, "\n") + "\n", nil
}

// publish records the digest and sizes of an index.
func (r *release) publish(p program, index v1.ImageIndex, images []v1.Image) error {
	out := published{program: p}
	var err error
	if out.digest, err = index.Digest(); err != nil {
		return err
	}
	for i, image := range images {
		manifest, err := image.Manifest()
		if err != nil {
			return err
		}
		var packed int64
		for _, layer := range manifest.Layers {
			packed += layer.Size
		}
		binary, err := os.Stat(r.binary(r.platform[i], p))
		if err != nil {
			return err
		}
		out.packed, out.unpacked = append(out.packed, packed), append(out.unpacked, binary.Size())
	}
	r.images = append(r.images, out)
	return nil
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
