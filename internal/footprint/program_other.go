//go:build !linux

package footprint

// releaseProgram is a no-op on other systems.
func releaseProgram() {}
