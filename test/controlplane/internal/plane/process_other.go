//go:build !linux

package plane

import "syscall"

// dieWithParent cannot be had from this kernel: components outlive us if we
// are killed outright.
func dieWithParent(attr *syscall.SysProcAttr, _ syscall.Signal) *syscall.SysProcAttr {
	return attr
}
