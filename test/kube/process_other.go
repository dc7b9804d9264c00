//go:build !linux

package kube

import "syscall"

// EndWithUs is a courtesy that only Linux grants: elsewhere a test process that dies leaves it running.
func EndWithUs() *syscall.SysProcAttr { return nil }
