// Package integration shows on a real API server, with the manager as it runs in production, what Gatewright promises its
// users: what is rendered and when, what is never touched, what conditions and reports say, and how few writes it takes.
//
// It owns the API server that its tests run on, since there may be only one manager on each, and it plays the controllers of
// other projects whose objects blueprints render. It must not reach into the controllers: it sees what users see, and the
// API server's audit log.
package integration
