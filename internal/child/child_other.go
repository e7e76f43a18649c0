//go:build !linux

package child

import "os/exec"

// DiesWithUs is a no-op: only Linux supports it.
func DiesWithUs(*exec.Cmd) {}
