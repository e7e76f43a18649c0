package footprint

import (
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// sidecarReserve is the memory of config-reloader itself, in bytes: its heap and the
	// resident pages of its executable.
	sidecarReserve = 20 << 20
	// MaxFileBytes is the maximum size of a file that config-reloader writes, independent
	// of the memory limit. It is far above any working configuration.
	MaxFileBytes = 1 << 30

	pageBytes = 4 << 10
	// fileOverhead is the kernel memory of a file in addition to its pages (inode and
	// name), in bytes.
	fileOverhead = 2 << 10
)

// MaxPlain returns how many bytes config-reloader may write into an in-memory volume if
// its container has this memory limit: the plain configuration plus each rule file,
// counted with [InMemoryVolume]. A limit of 0 means no limit.
//
// It assumes that the volume is charged to the container, that each file exists once
// (config-reloader removes the old files first if both versions do not fit) and that
// nothing else writes to the volume. config-reloader rejects more than that, and the
// operator does not write it. The result is monotonic in the limit.
func MaxPlain(memoryLimit int64) int64 {
	if memoryLimit <= 0 {
		return MaxFileBytes
	}
	// With a limit below 27 MiB the program gets less than its reserve: its share shrinks
	// too.
	room := max(memoryLimit-sidecarReserve, memoryLimit/4)
	return min(room-room/64, MaxFileBytes) // minus the kernel's index of the page cache
}

// MinLimit returns the smallest memory limit for which [MaxPlain] is at least plain, in
// bytes. It returns 0 (no limit) if there is none.
func MinLimit(plain int64) int64 {
	if plain > MaxFileBytes {
		return 0
	}
	limit := min(4*plain, plain+sidecarReserve) // approximate, without the index
	for MaxPlain(limit) < plain {
		limit += max(1<<20, plain/64)
	}
	return limit
}

// InMemoryVolume returns the memory that is charged to the writer of a file of size bytes
// in an in-memory volume.
func InMemoryVolume(size int64) int64 {
	if size < 0 || size > math.MaxInt64-pageBytes-fileOverhead {
		return math.MaxInt64
	}
	return (size+pageBytes-1)/pageBytes*pageBytes + fileOverhead
}

// ContainerLimit returns the memory limit of this process's container in bytes. It
// returns 0 if there is none or it cannot be read.
func ContainerLimit() int64 {
	limit, err := memlimit.FromCgroup()
	if err != nil || limit > math.MaxInt64 {
		return 0
	}
	return int64(limit)
}
