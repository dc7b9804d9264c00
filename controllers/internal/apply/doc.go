// Package apply is the only writer of rendered objects. It takes what is rendered for a parent, in order, asks package plan
// what to do with each object, and does it with server-side apply under one field manager; it deletes what plan permits.
//
// It owns the memory of what was applied last, which bridges the moment between a write and the watch event that confirms it.
// It must not decide what should exist, and it must never write to an object that is not the parent's own.
package apply
