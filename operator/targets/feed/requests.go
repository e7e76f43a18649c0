package feed

import (
	"encoding/json"
	"maps"

	"k8s.io/apimachinery/pkg/types"

	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
)

// Questions are the requests to the pods of a workload in their streams. A pod gets no list before it has reported its
// targets, because a list must not remove targets that no other pod has.
type Requests struct {
	// Shards is the number of shards that have or may have lists, including those that are kept after scaling down.
	Shards int
	// Admitted are the pods that have reported their units.
	Admitted map[types.UID]bool
	// Watches are by shard.
	Watches map[int]targetreport.Watch
}

// podRequests holds the current requests to the pods of a workload.
type podRequests struct {
	Requests
	watches map[int]watch
	changed chan struct{} // closed at the next change
}

// watch is a line with a watch.
type watch struct {
	seq   uint64
	block block
}

// question is the current request to one pod.
type request struct {
	inventory bool // the pod must send its inventory before it gets a list
	watch     watch
	renewed   chan struct{} // closed when the request may have changed; nil if it never does
}

// Request sets the requests to the pods of a workload. nil removes them.
func (f *Feed) Request(of catalog.Ref, next *Requests) {
	f.mu.Lock()
	defer f.mu.Unlock()
	last := f.requests[of]
	if next == nil {
		if last != nil {
			delete(f.requests, of)
			close(last.changed)
		}
		return
	}
	a := &podRequests{Requests: *next, watches: map[int]watch{}, changed: make(chan struct{})}
	same := last != nil && last.Shards == next.Shards && maps.Equal(last.Admitted, next.Admitted) && len(last.watches) == len(next.Watches)
	for shard, w := range next.Watches {
		var was watch
		if last != nil {
			was = last.watches[shard]
		}
		if was.seq != w.Seq {
			same = false
			was = watch{w.Seq, pack(lineOf(w))}
		}
		a.watches[shard] = was
	}
	if same {
		return
	}
	f.requests[of] = a
	if last != nil {
		close(last.changed)
	}
}

// lineOf returns the line of a watch.
func lineOf(w targetreport.Watch) []byte {
	line, err := json.Marshal(struct {
		Watch targetreport.Watch `json:"watch"`
	}{w})
	if err != nil {
		panic(err) // strings can be marshaled
	}
	return append(line, '\n')
}

// requestTo returns the request to a pod. f.mu must be held.
func (f *Feed) requestTo(who caller) request {
	a := f.requests[who.shard.Workload]
	if a == nil || who.shard.Number == Retired {
		return request{watch: noWatch}
	}
	w, ok := a.watches[who.shard.Number]
	if !ok {
		w = noWatch
	}
	return request{inventory: !a.Admitted[who.uid], watch: w, renewed: a.changed}
}

// noWatch ends a watch.
var noWatch = watch{0, stored(lineOf(targetreport.Watch{Units: []targetreport.WatchUnit{}}))}

// Sender is a pod that sends a report.
type Sender struct {
	UID   types.UID
	Shard Shard
}

func (c caller) sender() Sender { return Sender{c.uid, c.shard} }

// Following returns the pods that have a stream, by workload.
func (s *Server) Following() map[catalog.Ref][]Sender {
	out := map[catalog.Ref][]Sender{}
	for _, st := range s.streams.all() {
		of := st.caller.shard.Workload
		out[of] = append(out[of], st.caller.sender())
	}
	return out
}
