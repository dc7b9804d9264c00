package plane

import "syscall"

// dieWithParent has the kernel send the signal when we die, so that not even
// kill -9 leaves a component behind. The kernel means the thread that started
// it, which is as good: the Go runtime ends no thread that is not locked.
func dieWithParent(attr *syscall.SysProcAttr, sig syscall.Signal) *syscall.SysProcAttr {
	attr.Pdeathsig = sig
	return attr
}
