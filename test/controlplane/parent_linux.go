package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// endWithGoRun asks the kernel to interrupt us when the `go run` that started
// us dies: a SIGTERM for it would otherwise end it and leave us, and a whole
// control plane, behind. Started by anything else we outlive our parent, as
// programs do.
func endWithGoRun() {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", os.Getppid()))
	if err == nil && strings.TrimSpace(string(name)) == "go" {
		// Best effort: where it is refused, only that courtesy is lost.
		_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGTERM), 0)
	}
}

// commandAttr gives the command a process group of its own unless a terminal
// controls us, and ends it with us.
func commandAttr(terminal bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !terminal, Pdeathsig: syscall.SIGTERM}
}
