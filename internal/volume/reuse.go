package volume

import (
	"context"
	"crypto/sha256"
	"io/fs"
	"time"
)

// knownSum is the checksum of a file.
type knownSum struct {
	id   fileID
	size int64
	time time.Time // of the last change of the file
	at   time.Time // when it was read
	sum  [sha256.Size]byte
}

const (
	// maxKnown is the maximum number of files whose checksums are kept.
	maxKnown = 5000
	// recent is the time for which another change of a file may not have changed its time.
	recent = 2 * time.Second
)

// sumOf is like sumFile, and reuses the checksum of an unchanged file. A retry of a reload, which reads all files again, thus costs
// little.
func (r *Reader) sumOf(ctx context.Context, path string, info fs.FileInfo) (sum [sha256.Size]byte, err error) {
	if r.Reuse == 0 {
		return r.sumFile(ctx, path)
	}
	now := time.Now()
	next := knownSum{id: idOf(info), size: info.Size(), time: info.ModTime(), at: now}
	if last, ok := r.sums[path]; ok && now.Sub(last.at) < r.Reuse && next.id == last.id && next.size == last.size && next.time.Equal(last.time) {
		return last.sum, nil
	}
	if r.sums == nil || len(r.sums) >= maxKnown {
		r.sums = map[string]knownSum{}
	}
	delete(r.sums, path)
	if next.sum, err = r.sumFile(ctx, path); err == nil && now.Sub(next.time) > recent {
		r.sums[path] = next
	}
	return next.sum, err
}
