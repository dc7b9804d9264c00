//go:build !linux

package main

import "syscall"

// endWithGoRun does nothing: this kernel cannot tell us of our parent's death.
func endWithGoRun() {}

// commandAttr gives the command a process group of its own unless a terminal
// controls us.
func commandAttr(terminal bool) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: !terminal}
}
