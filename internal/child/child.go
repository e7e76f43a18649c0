// Package child ends processes together with the process that started them, so that a
// killed test or tool leaves no processes behind, and measures their memory.
//
//	cmd := exec.Command(program, args...)
//	child.DiesWithUs(cmd)
//	err := cmd.Start()
package child

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Resident returns the current and the peak resident size of a process in bytes. (The peak that wait reports includes that
// of the process that started it.)
//
// Errors: the process does not exist; this is not Linux.
func Resident(pid int) (current, peak int, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		into := map[string]*int{"VmRSS": &current, "VmHWM": &peak}[name]
		if into == nil {
			continue
		}
		kib, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		if err != nil {
			return 0, 0, fmt.Errorf("/proc/%d/status: %w", pid, err)
		}
		*into = kib << 10
	}
	return current, peak, nil
}
