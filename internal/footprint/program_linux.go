package footprint

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// mapping is a range of this process's memory, as listed in /proc/self/smaps.
type mapping struct {
	from, to uintptr
	file     string
	readOnly bool
	dirty    bool // has anonymous pages, which are not backed by the file
}

// releaseProgram drops the pages of the executable. Only read-only mappings without
// anonymous pages qualify, because dropping others would lose data.
func releaseProgram() {
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, m := range mappings(bufio.NewScanner(f)) {
		if m.file == exe && m.readOnly && !m.dirty {
			// On an error the pages stay resident.
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, m.from, m.to-m.from, syscall.MADV_DONTNEED)
		}
	}
}

// mappings parses the format of /proc/<pid>/smaps.
func mappings(lines *bufio.Scanner) (all []mapping) {
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 3 && fields[0] == "Anonymous:" && len(all) > 0 {
			all[len(all)-1].dirty = fields[1] != "0"
			continue
		}
		if len(fields) < 5 || strings.HasSuffix(fields[0], ":") {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		m := mapping{readOnly: fields[1] == "r-xp" || fields[1] == "r--p", dirty: true}
		if len(fields) == 6 {
			m.file = fields[5]
		}
		a, err1 := strconv.ParseUint(from, 16, 64)
		b, err2 := strconv.ParseUint(to, 16, 64)
		if err1 == nil && err2 == nil {
			m.from, m.to = uintptr(a), uintptr(b)
			all = append(all, m)
		}
	}
	return all
}
