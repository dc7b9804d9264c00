//go:build !linux

package kube

import "syscall"

// endWithUs is a courtesy that only Linux grants: elsewhere a test process that dies leaves its control plane running.
func endWithUs() *syscall.SysProcAttr { return nil }
