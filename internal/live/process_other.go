//go:build !linux

package live

import "syscall"

// diesWithParent is only known to Linux; elsewhere Close ends the child.
func diesWithParent() *syscall.SysProcAttr { return nil }
