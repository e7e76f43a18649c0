//go:build race

package budgettest

// raced is whether the race detector is on.
const raced = true
