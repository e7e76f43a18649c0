package insight

// KeepAtMost sets the memory limit of compiled objects in bytes.
func (c *Cluster) KeepAtMost(bytes int) { c.snapshots.held.Room = bytes }
