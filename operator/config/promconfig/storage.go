package promconfig

import (
	"errors"
	"fmt"
	"slices"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Storage is the storage block.
type Storage struct {
	// Exemplars holds the settings of the in-memory exemplar storage.
	Exemplars *Exemplars `yaml:"exemplars,omitempty" since:"2.29.0" mode:"server"`
	// TSDB holds settings of the TSDB.
	TSDB *TSDB `yaml:"tsdb,omitempty" empty:"drop"`
}

// Exemplars is the exemplars block.
type Exemplars struct {
	// MaxExemplars is the maximum number of exemplars over all series.
	MaxExemplars *int64 `yaml:"max_exemplars"`
}

// TSDB is the tsdb block.
type TSDB struct {
	// OutOfOrderTimeWindow is the maximum age of out-of-order samples that are accepted.
	OutOfOrderTimeWindow v1.Duration `yaml:"out_of_order_time_window,omitempty" since:"2.39.0,agent=2.54.0"`
	// StaleSeriesCompactionThreshold is the ratio of stale series, 0 to 1, that triggers a compaction.
	StaleSeriesCompactionThreshold *float64 `yaml:"stale_series_compaction_threshold,omitempty" since:"3.10.0"`
	// ChunkEncoding is the encoding of samples.
	ChunkEncoding *ChunkEncoding `yaml:"chunk_encoding,omitempty" since:"3.13.0"`
	// Retention limits the stored data.
	Retention *Retention `yaml:"retention,omitempty" since:"3.11.0" mode:"server"`
}

// ChunkEncoding is the chunk_encoding block.
type ChunkEncoding struct {
	// Floats is xor or xor2.
	Floats string `yaml:"floats"`
}

// Retention is the retention block. Data is deleted when either limit is reached.
type Retention struct {
	// Time is the maximum age of data.
	Time v1.Duration `yaml:"time,omitempty"`
	// Size is the maximum size of all data.
	Size v1.ByteSize `yaml:"size,omitempty"`
}

// serverStorage returns the block of a server; nil if it is empty.
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

// agentStorage returns the block of an agent, which has only a WAL.
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

// retention returns nil for versions that use command-line flags instead, so that it is not reported as dropped.
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

// checkTSDB applies to all versions, even if the keys are dropped.
func checkTSDB(t *v1.TSDBSpec, features []string) error {
	if t == nil {
		return nil
	}
	if f := number(t.StaleSeriesCompactionThreshold); f != nil && (*f < 0 || *f > 1) {
		return faults.At("tsdb.staleSeriesCompactionThreshold", fmt.Errorf("%v is not between 0 and 1", *f))
	}
	if t.ChunkEncoding != nil && t.ChunkEncoding.Floats == v1.FloatChunkEncodingXor && slices.Contains(features, "st-storage") {
		return faults.At("tsdb.chunkEncoding.floats", errors.New("the encoding Xor conflicts with the feature st-storage"))
	}
	return nil
}
