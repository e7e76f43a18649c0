package child

import (
	"os/exec"
	"syscall"
)

// DiesWithUs makes the kernel kill the process of cmd when this process ends for any
// reason. It must be called before cmd is started.
func DiesWithUs(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
