package preview

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/allocation"
)

// Resharding is the effect of another number of shards on a workload: the targets that move, and how evenly the
// shards are filled.
type Resharding struct {
	Workload catalog.Ref `json:"workload"`
	// From is the current number of shards, To the requested one.
	From int `json:"from"`
	To   int `json:"to"`
	// Amount counts all targets, including those above targetLimit. A target counts as 500 series unless its label
	// __tmp_shard_weight has another number.
	Amount
	// Claimed is the number of targets with that label.
	Claimed int `json:"claimed,omitempty"`
	// Everywhere is the number of targets that are on all shards.
	Everywhere int `json:"onAllShards,omitempty"`
	// Lost is the number of targets that no shard would scrape: the relabeling of their job shards them by another
	// number, or their zone has no shard.
	Lost int `json:"lost,omitempty"`
	// Unknown is the number of discoveries with unknown targets, plus the number of targets that are too expensive to
	// evaluate. No other number includes them.
	Unknown int `json:"unknown,omitempty"`
	// Hash is the placement by the hash of the address, modulo the number of shards.
	Hash Reshaped `json:"hash"`
	// Weighted is the placement by numbers of series. Before is the result of this placement, too, not the current one.
	Weighted Reshaped `json:"weighted"`
}

// Amount is a number of targets and of their series.
type Amount struct {
	Targets int    `json:"targets"`
	Series  uint64 `json:"series"`
}

// Reshaped is the effect of another number of shards with one placement.
type Reshaped struct {
	// Moved counts the targets that move to another shard.
	Moved Amount `json:"moved"`
	// Before and After are the contents of the shards, starting with shard 0.
	Before []Amount `json:"before"`
	After  []Amount `json:"after"`
	// FullestBefore and FullestAfter are the series of the fullest shard, divided by the mean. Absent without series.
	FullestBefore float64 `json:"fullestBefore,omitempty"`
	FullestAfter  float64 `json:"fullestAfter,omitempty"`
}

// reshard compares a workload before and after a change of its number of shards.
type reshard struct {
	now, then []prometheus.Shard
	out       Resharding
	all       []placed
	units     map[allocation.ID]*unit
}

// placed is a target, and its shards by hash.
type placed struct {
	unit      *unit // nil if only the hash decides
	now, then []int
	series    uint64
}

// unit is a unit of the weighted placement.
type unit struct {
	zone      string
	series    uint64
	now, then []int // its shard
}

// ShardsError means that a workload cannot have so many shards.
type ShardsError struct{ err error }

func (e *ShardsError) Error() string { return e.err.Error() }
func (e *ShardsError) Unwrap() error { return e.err }

// newReshard returns a comparison without targets; nil if the targets of the workload are unknown.
//
// Errors: *[ShardsError].
func newReshard(w *Workload, shards int, opts prometheus.Options) (*reshard, error) {
	switch {
	case w.Error != "":
		return nil, nil
	case w.PerNode:
		return nil, &ShardsError{fmt.Errorf("%s has no shards, because each of its pods scrapes the targets on its node", w.Ref)}
	}
	out := &reshard{units: map[allocation.ID]*unit{}}
	var err error
	if out.now, err = prometheus.ShardsOf(w.object, int32(w.Shards), opts); err == nil {
		out.then, err = prometheus.ShardsOf(w.object, int32(shards), opts)
	}
	if err != nil {
		return nil, &ShardsError{err}
	}
	out.out = Resharding{Workload: w.Ref, From: len(out.now), To: len(out.then)}
	for _, m := range []*Reshaped{&out.out.Hash, &out.out.Weighted} {
		m.Before, m.After = make([]Amount, len(out.now)), make([]Amount, len(out.then))
	}
	return out, nil
}

// Reshard returns the effects of another number of shards on a workload; nil if its targets are unknown.
//
// Errors: *[ShardsError]; those of [Run].
func Reshard(ctx context.Context, w Workload, shards int, f Finder, opts prometheus.Options) (out *Resharding, err error) {
	if w.reshard, err = newReshard(&w, shards, opts); err != nil {
		return nil, err
	}
	report, err := Run(ctx, []Workload{w}, f, Query{Shard: AllShards, Shards: shards, States: []targets.State{}})
	return report.Resharding, err
}

// job adds the targets of a job of an object in a namespace.
func (r *reshard) job(namespace string, result targets.Result) {
	for i := range result.Rows {
		row := &result.Rows[i]
		if row.State == targets.Unknown || row.State == targets.Forbidden {
			r.out.Unknown++
		}
		p, hashed := result.Placement(i)
		if !hashed && len(row.Shards) == 0 {
			continue
		}
		one := placed{series: allocation.Estimate(p.Claim, nil, nil)}
		if p.Claim != nil {
			r.out.Claimed++
		}
		switch {
		case p.Everywhere:
			r.out.Everywhere++
			one.now, one.then = everywhere(r.now), everywhere(r.then)
		case hashed:
			one.unit = r.unit(allocation.ID{Namespace: namespace, Key: p.Key}, p.Zone)
			one.unit.series += one.series
			one.now, one.then = byHash(result, p, r.now), byHash(result, p, r.then)
		default: // the job has shards of its own, which do not depend on their number
			one.now = row.Shards
			one.then = slices.DeleteFunc(slices.Clone(row.Shards), func(shard int) bool { return shard >= len(r.then) })
		}
		r.out.add(one.series)
		r.all = append(r.all, one)
	}
}

func (r *reshard) unit(id allocation.ID, zone string) *unit {
	if r.units[id] == nil {
		r.units[id] = &unit{zone: zone}
	}
	return r.units[id]
}

// everywhere returns all shards.
func everywhere(shards []prometheus.Shard) (out []int) {
	for i := range shards {
		out = append(out, i)
	}
	return out
}

// byHash returns the shard of a target by hash; none if its zone has none.
func byHash(of targets.Result, p targets.Placement, shards []prometheus.Shard) []int {
	zones := map[string]bool{}
	for _, s := range shards {
		zones[s.Zone] = true
	}
	hash := of.Hash(p.Key, max(1, len(shards)/len(zones)))
	at := slices.IndexFunc(shards, func(s prometheus.Shard) bool { return s.Zone == p.Zone && s.Position == hash })
	return only(at)
}

// only returns a shard as a list; none for [allocation.Nowhere].
func only(shard int) []int {
	if shard == allocation.Nowhere {
		return nil
	}
	return []int{shard}
}

// result returns the comparison.
func (r *reshard) result() *Resharding {
	plan := allocation.New(planned(r.now))
	for id, u := range r.units {
		plan.Put(allocation.Unit{ID: id, Zone: u.zone, Weight: allocation.WeightOf(u.series)})
	}
	settle(plan)
	for id, u := range r.units {
		u.now = only(plan.On(id))
	}
	shards := planned(r.then)
	for _, s := range r.now[min(len(r.now), len(r.then)):] {
		shards = append(shards, allocation.Shard{Name: s.Name, Zone: s.Zone, Draining: true})
	}
	plan.SetShards(shards)
	settle(plan)
	for id, u := range r.units {
		if on := plan.On(id); on < len(r.then) { // else its zone has none any more
			u.then = only(on)
		}
	}
	for _, one := range r.all {
		if len(one.then) == 0 {
			r.out.Lost++
		}
		r.out.Hash.count(one.now, one.then, one.series)
		if one.unit != nil {
			one.now, one.then = one.unit.now, one.unit.then
		}
		r.out.Weighted.count(one.now, one.then, one.series)
	}
	for _, m := range []*Reshaped{&r.out.Hash, &r.out.Weighted} {
		m.FullestBefore, m.FullestAfter = fullest(m.Before), fullest(m.After)
	}
	return &r.out
}

func planned(shards []prometheus.Shard) (out []allocation.Shard) {
	for _, s := range shards {
		out = append(out, allocation.Shard{Name: s.Name, Zone: s.Zone})
	}
	return out
}

// settle places all units and balances the shards completely.
func settle(p *allocation.Plan) {
	for fill := true; ; fill = false {
		limits := allocation.Limits{Fill: fill, Series: math.MaxUint64, Whole: true}
		for _, l := range p.Loads() {
			if l.Over() {
				limits.Relieve = append(limits.Relieve, l.Shard)
			}
		}
		if len(p.Settle(limits)) == 0 && !fill {
			return
		}
	}
}

// count counts a target on its shards before and after the change.
func (m *Reshaped) count(now, then []int, series uint64) {
	for _, shard := range now {
		m.Before[shard].add(series)
	}
	for _, shard := range then {
		m.After[shard].add(series)
	}
	if len(now) == 1 && len(then) == 1 && now[0] != then[0] {
		m.Moved.add(series)
	}
}

func (a *Amount) add(series uint64) {
	a.Targets++
	a.Series += series
}

// fullest returns the series of the fullest shard, divided by the mean; 0 without series.
func fullest(shards []Amount) float64 {
	var total, most uint64
	for _, s := range shards {
		total += s.Series
		most = max(most, s.Series)
	}
	if total == 0 {
		return 0
	}
	return math.Round(float64(most)*float64(len(shards))/float64(total)*100) / 100
}
