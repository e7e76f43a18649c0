//go:build !linux

package footprint

// releaseProgram does nothing where the kernel offers no such thing.
func releaseProgram() {}
