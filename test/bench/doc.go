// Package bench measures the controller on a real API server against a bound that is measured in the same run: what the same
// objects cost a plain client. It prints ratios; it must never assert anything about time.
package bench
