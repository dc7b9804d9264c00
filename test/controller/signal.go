package controller

import (
	"fmt"
	"syscall"
)

// Kill ends the controller at once, as a power cut would, and waits until it is gone. It may be called more than once.
func (c *Controller) Kill() {
	_ = c.process.Process.Kill()
	_ = c.process.Wait()
}

// Pause stops the controller where it is, until Resume.
func (c *Controller) Pause() error { return c.signal(syscall.SIGSTOP) }

// Resume lets a paused controller go on, as if no time had passed for it.
func (c *Controller) Resume() error { return c.signal(syscall.SIGCONT) }

func (c *Controller) signal(s syscall.Signal) error {
	if err := c.process.Process.Signal(s); err != nil {
		return fmt.Errorf("sending %s to the controller: %w", s, err)
	}
	return nil
}
