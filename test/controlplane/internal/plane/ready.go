package plane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// probeEvery is how often a component is asked whether it is ready.
const probeEvery = 50 * time.Millisecond

// A probe returns nil once the component is ready, and until then why not.
type probe func(context.Context) error

// waitUntil asks until ready says yes. It gives up when the process ends, when
// ctx does, or after readyWithin, with the reason and the end of the log.
func waitUntil(ctx context.Context, proc *process, ready probe) error {
	limited, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	ticker := time.NewTicker(probeEvery)
	defer ticker.Stop()
	for {
		err := ready(limited)
		if err == nil {
			return nil
		}
		select {
		case <-ticker.C:
		case <-proc.done:
			return proc.failure()
		case <-limited.Done():
			if ctx.Err() != nil {
				return fmt.Errorf("stopped while waiting for %s: %w", proc.name, context.Cause(ctx))
			}
			return fmt.Errorf("%s was not ready within %s: %w%s", proc.name, readyWithin, err, proc.tail())
		}
	}
}

// probe asks the API server what a client depends on: that every start-up step
// is done, and that the default namespace, which is made after those, exists.
func (k *keys) probe(server string) probe {
	client := k.client()
	return func(ctx context.Context) error {
		for _, path := range []string{"/readyz", "/api/v1/namespaces/default"} {
			if err := get(ctx, client, server+path); err != nil {
				return err
			}
		}
		return nil
	}
}

// client trusts our authority and is the administrator.
func (k *keys) client() *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(k.ca)
	return &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{k.admin.tls()}},
		},
	}
}

// get fails unless the answer is 200; the error then holds what was answered:
// /readyz lists there what is not ready.
func get(ctx context.Context, client *http.Client, url string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s: %s", url, response.Status, strings.TrimSpace(string(body)))
	}
	return nil
}
