package footprint

import (
	"math"

	"github.com/KimMachineGun/automemlimit/memlimit"
)

const (
	// sidecarReserve is what config-reloader needs for itself, in bytes: its heap, and
	// the pages of its program that it works with.
	sidecarReserve = 20 << 20
	// MaxFileBytes is how long one file that config-reloader writes may be, whatever the
	// memory limit: far above any working configuration.
	MaxFileBytes = 1 << 30

	pageBytes = 4 << 10
	// fileOverhead is what the kernel needs for a file beside its pages: inode and name.
	fileOverhead = 2 << 10
)

// MaxPlain returns how many bytes config-reloader may write into a volume in memory, in
// a container with this memory limit: the plain configuration, plus each file of rules
// that comes with it, counted with [InMemoryVolume]. A limit of 0 is none.
//
// It assumes that the volume is charged to the container, that each file is there once
// (config-reloader replaces files that do not fit twice after it has removed the old
// ones) and that nothing else writes there. config-reloader refuses what is more; the
// operator does not write it. The result only grows with the limit.
func MaxPlain(memoryLimit int64) int64 {
	if memoryLimit <= 0 {
		return MaxFileBytes
	}
	// Below 27 MiB the program must do with less, and does: its own share shrinks too.
	room := max(memoryLimit-sidecarReserve, memoryLimit/4)
	return min(room-room/64, MaxFileBytes) // the kernel's index of the pages
}

// MinLimit returns the smallest memory limit with which MaxPlain allows this many bytes,
// in bytes; 0 (no limit) when none does.
func MinLimit(plain int64) int64 {
	if plain > MaxFileBytes {
		return 0
	}
	limit := min(4*plain, plain+sidecarReserve) // about; the index is missing
	for MaxPlain(limit) < plain {
		limit += max(1<<20, plain/64)
	}
	return limit
}

// InMemoryVolume returns what a file of size bytes takes of the memory of whoever writes
// it into a volume in memory.
func InMemoryVolume(size int64) int64 {
	if size < 0 || size > math.MaxInt64-pageBytes-fileOverhead {
		return math.MaxInt64
	}
	return (size+pageBytes-1)/pageBytes*pageBytes + fileOverhead
}

// ContainerLimit is the memory limit of this process's container in bytes; 0 when it has
// none, or none that can be read.
func ContainerLimit() int64 {
	limit, err := memlimit.FromCgroup()
	if err != nil || limit > math.MaxInt64 {
		return 0
	}
	return int64(limit)
}
