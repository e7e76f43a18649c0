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

// Target is a discovered target. A target that is forbidden, or unknown and without discovered labels, represents any
// number of targets and has only a message.
type Target struct {
	// ID identifies the target within its job: it is derived from the discovered labels.
	ID    string `json:"id,omitempty"`
	Job   string `json:"job"`
	State State  `json:"state"`
	// URL is the URL that is scraped. For a dropped target, it is the URL at the time of the drop.
	URL string `json:"url,omitempty"`
	// Shards lists the numbers of the shards that scrape the target. Never null.
	Shards []int `json:"shards"`
	// Source is the object in which the target was found. Absent if unknown.
	Source Source `json:"source,omitzero"`
	// Discovered is the set of labels before relabeling.
	Discovered map[string]string `json:"discovered,omitempty"`
	// Labels is the set of labels of its series. Absent if relabeling did not complete.
	Labels map[string]string `json:"labels,omitempty"`
	// Drop is the relabel step that drops the target. Absent unless the target is dropped.
	Drop *Drop `json:"drop,omitempty"`
	// Message is the human-readable reason of the state. Absent if the target is scraped.
	Message string `json:"message,omitempty"`
	// Winner is the ID of the target that is scraped instead of this duplicate. Absent for other states.
	Winner string `json:"winner,omitempty"`
}

// Source is the object in which a target was found, as determined from its labels.
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
