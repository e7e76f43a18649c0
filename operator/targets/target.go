package targets

// State is the outcome of evaluating a discovered target.
type State string

const (
	Kept       State = "kept"       // scraped
	OtherShard State = "otherShard" // scraped by other shards than the requested one
	Dropped    State = "dropped"    // by a relabel step, see [Target.Drop]
	Invalid    State = "invalid"    // Prometheus cannot scrape it: no address, a timeout above the interval, ...
	Duplicate  State = "duplicate"  // same labels and URL as another target of the job
	OverLimit  State = "overLimit"  // the job has more targets than targetLimit, so none is scraped
	Forbidden  State = "forbidden"  // the workload has no permission to discover it
	Unknown    State = "unknown"    // discovery by an unsupported mechanism, or too expensive to evaluate
)

// States are all states, in the order of reports.
var States = []State{Kept, OtherShard, Dropped, Invalid, Duplicate, OverLimit, Forbidden, Unknown}

// Target is one discovered target. Those that are forbidden, and those that are unknown without
// discovered labels, stand for any number of targets and have a message only.
type Target struct {
	// ID is equal for equal discovered labels in a job of the same name.
	ID    string `json:"id,omitempty"`
	Job   string `json:"job"`
	State State  `json:"state"`
	// URL that is scraped; of a dropped target, that it had when it was dropped.
	URL string `json:"url,omitempty"`
	// Shards that scrape it; never nil.
	Shards []int  `json:"shards"`
	Source Source `json:"source,omitzero"`
	// Discovered labels, before relabeling.
	Discovered map[string]string `json:"discovered,omitempty"`
	// Labels of its series; nil unless it reached the end of relabeling.
	Labels map[string]string `json:"labels,omitempty"`
	// Drop says which step dropped it; nil unless it is dropped.
	Drop *Drop `json:"drop,omitempty"`
	// Message is why it is in that state, for people; empty when it is kept.
	Message string `json:"message,omitempty"`
	// Winner is the ID of the target that is scraped in the place of a duplicate.
	Winner string `json:"winner,omitempty"`
}

// Source is the object in which a target was found, as far as its labels tell.
type Source struct {
	Kind      string `json:"kind,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Pod       string `json:"pod,omitempty"`
	Node      string `json:"node,omitempty"`
}

// Path returns KIND/NAMESPACE/NAME, or KIND/NAME for cluster-scoped objects; empty if the object is
// unknown.
func (s Source) Path() string {
	switch {
	case s.Kind == "" || s.Name == "":
		return ""
	case s.Namespace == "":
		return s.Kind + "/" + s.Name
	}
	return s.Kind + "/" + s.Namespace + "/" + s.Name
}
