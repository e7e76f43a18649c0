package promworkload

// compaction is how Prometheus compacts its blocks while a Thanos sidecar uploads them.
type compaction int

const (
	compactionDefault  compaction = iota // no uploads
	compactionDelayed                    // Prometheus compacts a block only after its upload
	compactionDisabled                   // blocks of fixed size, never merged
)

// shipperFile is the file in which the sidecar records its uploads for Prometheus.
const shipperFile = "thanos.shipper.json"

func (b *Builder) compactionMode() compaction {
	switch {
	case b.Err != nil || b.server == nil:
		return compactionDefault
	case b.server.DisableCompaction:
		return compactionDisabled
	case !b.objectStorage():
		return compactionDefault
	case withDelayedBlock.Has(b.Version) && thanosWithDelayedBlock.Has(b.thanosVersion):
		return compactionDelayed
	}
	return compactionDisabled
}

// objectStorage reports whether the sidecar uploads blocks.
func (b *Builder) objectStorage() bool {
	t := b.thanos()
	return t != nil && (t.ObjectStorageConfig != nil || t.ObjectStorageConfigFile != "")
}

func (b *Builder) compactionIs(mode compaction) bool { return b.compaction == mode }

// blockSize returns the block size if compaction is disabled.
func (b *Builder) blockSize() string {
	if t := b.thanos(); t != nil && t.BlockSize != "" {
		return string(t.BlockSize)
	}
	return "2h"
}
