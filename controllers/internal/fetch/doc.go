// Package fetch is the only reader of what users write: it collects, through the cache's indexes, everything that the pure
// rooms may know about one Gateway or one route into a gateway.Snapshot.
//
// It owns the indexes. It must not judge what it reads, and it never scans objects that do not concern what was asked for.
// What it returns is shared with the cache and must not be changed.
package fetch
