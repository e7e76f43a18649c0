package footprint

import "syscall"

const (
	tmpfsMagic = 0x01021994
	ramfsMagic = 0x858458f6
)

// InMemory reports whether files in a folder are kept in memory, and so count to that of
// the container that writes them. One that cannot be asked counts as such.
func InMemory(dir string) bool {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return true
	}
	return int64(fs.Type)&0xffffffff == tmpfsMagic || int64(fs.Type)&0xffffffff == ramfsMagic
}
