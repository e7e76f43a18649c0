package live

import "syscall"

// diesWithParent lets the kernel end a child when this process ends, however it does.
func diesWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
