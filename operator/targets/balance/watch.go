package balance

import (
	"reflect"
	"strconv"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

// watchedUnits are the units that the pods of a shard must report.
type watchedUnits struct {
	targetreport.Watch
	units  map[string]*Unit // by ID
	beyond map[*Unit]bool   // no room in the watch
}

// Addresses are the discovered addresses of the targets of a unit, by job.
type Addresses map[string][]string

// Watched returns the units that pods must report.
func (b *Balancer) Watched() map[*Unit]Addresses {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[*Unit]Addresses{}
	for shard := range b.shards {
		if !b.ready {
			break
		}
		for _, id := range b.machine.Watched(shard) {
			if u := b.units[id]; u != nil {
				out[u] = Addresses{}
			}
		}
	}
	return out
}

// Watch returns the watch for the pods of each shard, with the addresses of the units of Watched. The number of a watch
// changes only if its contents do.
func (b *Balancer) Watch(of map[*Unit]Addresses) map[int]targetreport.Watch {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := map[int]targetreport.Watch{}
	for shard := range b.shards {
		if !b.ready {
			break
		}
		next := &watchedUnits{units: map[string]*Unit{}, beyond: map[*Unit]bool{}}
		for _, id := range b.machine.Watched(shard) {
			u := b.units[id]
			if u == nil || of[u] == nil {
				continue
			}
			name := "u" + strconv.FormatUint(u.number, 36)
			if next.Add(targetreport.WatchUnit{ID: name, Targets: of[u]}) {
				next.units[name] = u
			} else {
				next.beyond[u] = true
			}
		}
		if last := b.watches[shard]; last == nil || !reflect.DeepEqual(last.Units, next.Units) {
			b.numbers++ // which no unit has then
			next.Seq = b.numbers
		} else {
			next.Seq = last.Seq
		}
		b.watches[shard] = next
		out[shard] = next.Watch
	}
	return out
}
