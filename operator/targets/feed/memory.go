package feed

import "sync/atomic"

// Memory limits the bytes of encoded targets of many jobs together. nil is no limit. It is safe for
// concurrent use.
type Memory struct {
	// Most is the limit.
	Most int64

	used atomic.Int64
}

// take takes some bytes and reports whether there is room for them.
func (m *Memory) take(n int) bool {
	if m == nil {
		return true
	}
	if m.used.Add(int64(n)) <= m.Most {
		return true
	}
	m.used.Add(-int64(n))
	return false
}

// give releases bytes.
func (m *Memory) give(n int) {
	if m != nil {
		m.used.Add(-int64(n))
	}
}

// Used returns the number of bytes that are taken.
func (m *Memory) Used() int64 { return m.used.Load() }
