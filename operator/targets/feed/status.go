package feed

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// ShardStatus is the state of a list.
type ShardStatus struct {
	// Shard is the number of the shard; -1 for all shards that are kept after scaling down.
	Shard int `json:"shard"`
	Jobs  int `json:"jobs"`
	// Targets in the list.
	Targets int `json:"targets"`
	// Bytes is the compressed size of the list.
	Bytes int `json:"bytes"`
	// Version of the list, and the time of its last change.
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
	// Held are the jobs that shrank suspiciously and keep their targets for a while.
	Held []string `json:"held,omitempty"`
	// TooLarge are the jobs that are left out, because they have too many targets.
	TooLarge []string `json:"tooLarge,omitempty"`
	// Streams of pods, by name.
	Streams []StreamStatus `json:"streams"`
}

// StreamStatus is the state of a stream.
type StreamStatus struct {
	Pod string `json:"pod"`
	// Version that the pod has received.
	Version string    `json:"version"`
	Since   time.Time `json:"since"`
	// Report is the last report of the pod. Absent before the first.
	Report *PodReport `json:"report,omitempty"`
}

// status returns the state without version and streams.
func (l *list) status() ShardStatus {
	out := ShardStatus{Jobs: len(l.jobs), Targets: l.targets, Since: l.since, Streams: []StreamStatus{}}
	for _, name := range slices.Sorted(maps.Keys(l.jobs)) {
		j := l.jobs[name]
		if j.held != nil {
			out.Held = append(out.Held, name)
		}
		if j.tooLarge {
			out.TooLarge = append(out.TooLarge, name)
			out.Jobs, out.Targets = out.Jobs-1, out.Targets-j.targets
		} else {
			out.Bytes += len(j.block.packed)
		}
	}
	return out
}

// Status returns the state of all lists, and whether this replica leads.
func (s *Server) Status() (shards map[Shard]ShardStatus, leads bool) {
	streams := map[Shard][]StreamStatus{}
	reports := s.streams.reports()
	for _, st := range s.streams.all() {
		of := st.caller.shard
		streams[of] = append(streams[of], StreamStatus{st.caller.pod.Name, st.version().String(), st.since, reports[st.caller.uid]})
	}
	f := s.Feed
	f.mu.Lock()
	defer f.mu.Unlock()
	shards = map[Shard]ShardStatus{}
	for of, l := range f.lists {
		one := l.status()
		one.Shard, one.Version = of.Number, Version{f.leader, l.seq}.String()
		if all := streams[of]; len(all) > 0 {
			slices.SortFunc(all, func(a, b StreamStatus) int { return cmp.Or(strings.Compare(a.Pod, b.Pod), a.Since.Compare(b.Since)) })
			one.Streams = all
		}
		shards[of] = one
	}
	return shards, f.leader != 0
}
