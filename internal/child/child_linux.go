package child

import (
	"os/exec"
	"syscall"
)

// DiesWithUs lets the kernel end a process when this one ends, however it does.
// It must be called before the process is started.
func DiesWithUs(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
