package explain

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// job is what is read of one compiled job.
type job struct {
	Name  string `json:"job_name"`
	Steps []step `json:"relabel_configs"`
}

type step struct {
	Source []string `json:"source_labels"`
	Target string   `json:"target_label"`
	Regex  string   `json:"regex"`
	Action string   `json:"action"`
}

const (
	hashLabel   = "__tmp_hash"
	noHashLabel = "__tmp_disable_sharding"
)

// readJobs returns the names of compiled jobs and which shards take their
// targets, for people: one line when that is the same for all jobs, one for each
// when it is not, and none when there is one shard only.
func readJobs(text string, shards int) (names, which []string, err error) {
	var jobs []job
	if err := yaml.Unmarshal([]byte(text), &jobs); err != nil {
		return nil, nil, fmt.Errorf("read the compiled jobs: %w", err)
	}
	said := map[string]bool{}
	for _, j := range jobs {
		names = append(names, j.Name)
		said[j.shards(shards)] = true
	}
	for _, j := range jobs {
		switch text := j.shards(shards); {
		case text == "":
		case len(said) == 1:
			return names, []string{text}, nil
		default:
			which = append(which, j.Name+": "+text)
		}
	}
	return names, which, nil
}

// shards says which shards take the targets of the job.
func (j job) shards(n int) string {
	switch {
	case n == 0:
		return "the pod of each node takes the targets on its node"
	case n == 1:
		return ""
	}
	all := fmt.Sprintf("the shards 0 to %d", n-1)
	keeps := func(variable string) bool {
		return slices.ContainsFunc(j.Steps, func(s step) bool {
			return s.Action == "keep" && slices.Contains(s.Source, hashLabel) && strings.Contains(s.Regex, "$("+variable+")")
		})
	}
	own := slices.ContainsFunc(j.Steps, func(s step) bool { return s.Target == noHashLabel })
	var out string
	switch {
	case keeps("INZONE_SHARD"):
		out = "each target is taken by the shard of its zone that its hash says, of " + all
	case keeps("SHARD"):
		out = "each target is taken by one of " + all + ", by the hash of " + j.hashed()
	default:
		return "every one of " + all + " takes all targets, but for what the object's own relabelings leave out"
	}
	if own {
		out += "; one that is given the label " + noHashLabel + " is taken by all"
	}
	return out
}

// hashed is the label whose hash decides.
func (j job) hashed() string {
	label := hashLabel
	for _, s := range j.Steps {
		if s.Target == hashLabel && s.Action != "hashmod" && len(s.Source) == 2 && s.Source[1] == hashLabel {
			label = s.Source[0]
		}
	}
	for _, s := range j.Steps {
		if s.Target == hashLabel && !slices.Contains(s.Source, hashLabel) {
			return "the label " + hashLabel + " that the object sets, else of " + label
		}
	}
	return label
}
