package assets

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"
)

// lockFile takes an exclusive lock that the kernel drops with the process,
// however it ends: a crashed builder blocks nobody. Every beatEvery of waiting
// it calls waiting. The lock file stays behind on purpose: removing it would
// let a third process lock a new file of the same name.
func lockFile(ctx context.Context, path string, waiting func(time.Duration)) (unlock func(), err error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	// Closing gives the lock back.
	unlock = func() { file.Close() }

	// Asking again and again, rather than blocking, keeps the wait
	// interruptible and lets it show life.
	retry := time.NewTicker(100 * time.Millisecond)
	defer retry.Stop()
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	started := time.Now()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return unlock, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			unlock()
			return nil, err
		}
		select {
		case <-retry.C:
		case <-beat.C:
			waiting(time.Since(started))
		case <-ctx.Done():
			unlock()
			return nil, context.Cause(ctx)
		}
	}
}
