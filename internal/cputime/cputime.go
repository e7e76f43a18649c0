// Package cputime measures for tests what something costs, whatever else the machine does.
package cputime

import (
	"syscall"
	"time"
)

// Now returns the processor time that this process has used.
func Now() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // only a wrong argument fails
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Since returns the processor time that this process has used since an earlier Now.
func Since(begin time.Duration) time.Duration { return Now() - begin }
