package handoff

import (
	"time"

	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// ID identifies a unit.
type ID = allocation.ID

// Nowhere is the shard of a unit that has none.
const Nowhere = allocation.Nowhere

// Rules are the settings of a workload.
type Rules struct {
	// ReassignAfter is the time after which a shard without a live replica is given up; 0: never.
	ReassignAfter time.Duration
}

// Want is where a unit should be.
type Want struct {
	Shard int
	Why   allocation.Reason
	// Series of the unit, for limits.
	Series uint64
	// Interval is the longest scrape interval of its targets.
	Interval time.Duration
}

// Pod is a replica of a shard.
type Pod struct {
	// Name is unique over time, such as the UID.
	Name  string
	Shard int
	// Live is true for pods that are Ready, not being deleted, and on a node that is Ready.
	Live bool
}

// Report is the report of a pod.
type Report struct {
	Pod string
	// Boot grows with each start of the pod's containers, Seq with each report since then.
	Boot, Seq uint64
	// Leader and Version identify the list that its Prometheus has fetched.
	Leader, Version uint64
	// Scraped are the units of [Machine.Watched] of its shard of which all targets are active and have been scraped.
	Scraped []ID
	// Blind is true if the pod cannot query its Prometheus.
	Blind bool
}

// Kind is the kind of an event of a unit or a shard.
type Kind uint8

const (
	// Started: the unit is added to shard To.
	Started Kind = iota
	// Done: it is on To only.
	Done
	// Back: it stays on From, because To did not scrape it in time or is no longer wanted.
	Back
	// Again: it is on From again, which had not lost it yet, because pods of To stopped just after they had
	// scraped it.
	Again
	// Direct: it is on To only, because From has no pods.
	Direct
	// Slow: shard To gets nothing for ten minutes.
	Slow
	// Dead: shard From is given up. Its units should be wanted elsewhere.
	Dead
)

// Kinds are all kinds of events.
var Kinds = []Kind{Started, Done, Back, Again, Direct, Slow, Dead}

func (k Kind) String() string {
	return [...]string{"started", "done", "back", "again", "direct", "slow", "dead"}[k]
}

// Event is a change made by a Step.
type Event struct {
	Kind Kind
	ID
	From, To int
}
