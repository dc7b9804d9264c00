package kube

import "syscall"

// EndWithUs has the kernel stop a process that a test starts when the test process dies without a chance to, as it does on a panic
// or when its time is up.
func EndWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
