// Package intake turns objects, as they stand in files or come from an API server, into the typed world that package gateway
// selects from. It owns which kinds play a part, in which versions, and what is said of a field that no type knows.
//
// It must not read files or clusters, and must not judge what objects say: whatever has the right shape is taken in.
package intake
