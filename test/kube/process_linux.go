package kube

import "syscall"

// endWithUs has the kernel stop the control plane when the test process dies without a chance to, as it does on a panic
// or when its time is up.
func endWithUs() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
}
