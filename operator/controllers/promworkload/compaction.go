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

func (o *Owner) compactionMode() compaction {
	switch {
	case o.err != nil || o.server == nil:
		return compactionDefault
	case o.server.DisableCompaction:
		return compactionDisabled
	case !o.objectStorage():
		return compactionDefault
	case withDelayedBlock.Has(o.version) && thanosWithDelayedBlock.Has(o.thanosVersion):
		return compactionDelayed
	}
	return compactionDisabled
}

// objectStorage reports whether the sidecar uploads blocks.
func (o *Owner) objectStorage() bool {
	t := o.thanos()
	return t != nil && (t.ObjectStorageConfig != nil || t.ObjectStorageConfigFile != "")
}

func (o *Owner) compactionIs(mode compaction) bool { return o.compaction == mode }

// blockSize returns the block size if compaction is disabled.
func (o *Owner) blockSize() string {
	if t := o.thanos(); t != nil && t.BlockSize != "" {
		return string(t.BlockSize)
	}
	return "2h"
}
