package promconfig

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Storage is the storage block.
type Storage struct {
	// Exemplars in memory.
	Exemplars *Exemplars `yaml:"exemplars,omitempty" since:"2.29.0" mode:"server"`
	// TSDB settings.
	TSDB *TSDB `yaml:"tsdb,omitempty" empty:"drop"`
}

// Exemplars is the exemplars block.
type Exemplars struct {
	// MaxExemplars kept over all series.
	MaxExemplars *int64 `yaml:"max_exemplars"`
}

// TSDB is the tsdb block.
type TSDB struct {
	// OutOfOrderTimeWindow within which late samples are taken.
	OutOfOrderTimeWindow v1.Duration `yaml:"out_of_order_time_window,omitempty" since:"2.39.0,agent=2.54.0"`
	// StaleSeriesCompactionThreshold is the share of stale series, 0 to 1, that starts a compaction.
	StaleSeriesCompactionThreshold *float64 `yaml:"stale_series_compaction_threshold,omitempty" since:"3.10.0"`
	// ChunkEncoding of samples.
	ChunkEncoding *ChunkEncoding `yaml:"chunk_encoding,omitempty" since:"3.13.0"`
	// Retention of data.
	Retention *Retention `yaml:"retention,omitempty" since:"3.11.0" mode:"server"`
}

// ChunkEncoding is the chunk_encoding block.
type ChunkEncoding struct {
	// Floats is xor or xor2.
	Floats string `yaml:"floats"`
}

// Retention is the retention block; data goes when either limit is reached.
type Retention struct {
	// Time data is kept.
	Time v1.Duration `yaml:"time,omitempty"`
	// Size of all data.
	Size v1.ByteSize `yaml:"size,omitempty"`
}

// serverStorage makes the block of a server; empty blocks are not written.
func serverStorage(s *v1.PrometheusSpec, t gate.Target) *Storage {
	out := &Storage{TSDB: tsdbFrom(s.TSDB)}
	if s.Exemplars != nil && s.Exemplars.MaxSize != nil {
		out.Exemplars = &Exemplars{MaxExemplars: s.Exemplars.MaxSize}
	}
	out.TSDB.Retention = retention(s, t)
	if out.Exemplars == nil && *out.TSDB == (TSDB{}) {
		return nil
	}
	return out
}

// agentStorage makes the block of an agent, which has a WAL only.
func agentStorage(f *v1.CommonPrometheusFields) (*Storage, error) {
	if f.TSDB == nil {
		return nil, nil
	}
	return &Storage{TSDB: tsdbFrom(f.TSDB)}, checkTSDB(f.TSDB, f.EnableFeatures)
}

func tsdbFrom(t *v1.TSDBSpec) *TSDB {
	if t == nil {
		return &TSDB{}
	}
	out := &TSDB{
		OutOfOrderTimeWindow:           t.OutOfOrderTimeWindow,
		StaleSeriesCompactionThreshold: number(t.StaleSeriesCompactionThreshold),
	}
	if t.ChunkEncoding != nil && t.ChunkEncoding.Floats != "" {
		out.ChunkEncoding = &ChunkEncoding{Floats: lower(t.ChunkEncoding.Floats)}
	}
	return out
}

// retention is nil for versions that take it from the command line, where it
// stays without being reported as left out.
func retention(s *v1.PrometheusSpec, t gate.Target) *Retention {
	if !t.AtLeast("3.11.0") {
		return nil
	}
	out := &Retention{Time: s.Retention, Size: s.RetentionSize}
	if out.Time == "" && out.Size == "" {
		out.Time = wellknown.DefaultRetention
	}
	return out
}

// checkTSDB holds for every version, also where the keys are left out.
func checkTSDB(t *v1.TSDBSpec, features []string) error {
	if t == nil {
		return nil
	}
	if f := number(t.StaleSeriesCompactionThreshold); f != nil && (*f < 0 || *f > 1) {
		return fmt.Errorf("tsdb.staleSeriesCompactionThreshold: %v is not between 0 and 1", *f)
	}
	if t.ChunkEncoding != nil && t.ChunkEncoding.Floats == v1.FloatChunkEncodingXor && slices.Contains(features, "st-storage") {
		return errors.New("tsdb.chunkEncoding.floats: Xor conflicts with the feature st-storage")
	}
	return nil
}
