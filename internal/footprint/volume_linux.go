package footprint

import "syscall"

const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

// InMemory reports whether the files of a folder are kept in memory and therefore charged
// to the container that writes them. It returns true if the file system cannot be
// determined.
func InMemory(dir string) bool {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return true
	}
	return int64(fs.Type)&0xffffffff == tmpfsMagic || int64(fs.Type)&0xffffffff == ramfsMagic
}
