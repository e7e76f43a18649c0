// Package cputime measures the CPU time of tests, independent of other load on the
// machine.
package cputime

import (
	"syscall"
	"time"
)

// Now returns the CPU time that this process has used.
func Now() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err) // fails only for an invalid argument
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Since returns the CPU time that this process has used since begin, a result of [Now].
func Since(begin time.Duration) time.Duration { return Now() - begin }
