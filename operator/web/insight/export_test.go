package insight

// KeepAtMost sets how many bytes are kept of what was compiled.
func (c *Cluster) KeepAtMost(bytes int) { c.worlds.held.Room = bytes }
