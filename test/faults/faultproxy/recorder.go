package faultproxy

import (
	"bytes"
	"context"
	"maps"
	"net/http"
)

// recorder keeps an answer. It is an http.ResponseWriter.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header returns the headers of the answer.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader keeps the status of the answer.
func (r *recorder) WriteHeader(status int) { r.status = status }

func (r *recorder) Write(text []byte) (int, error) { return r.body.Write(text) }

func (r *recorder) replay(w http.ResponseWriter) {
	maps.Copy(w.Header(), r.header)
	if r.status != 0 {
		w.WriteHeader(r.status)
	}
	_, _ = w.Write(r.body.Bytes())
}

// contextUntil is done when its parent is, or when the channel is closed.
func contextUntil(parent context.Context, done <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(parent)
	go func() {
		select {
		case <-done:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
