// Package hostile has the strings with which tests try to turn templates against a cluster. Every test that takes strings of
// tenants takes these, so that what one room has learned is asked of all.
//
// It must know nothing of what is tested, and must give the same strings each time.
package hostile
