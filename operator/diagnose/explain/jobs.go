package explain

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// job is the part of a compiled job that matters for sharding.
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

// readJobs returns the names of compiled jobs and human-readable lines about which
// shards scrape their targets: one line if all jobs agree, otherwise one per job,
// and none for a single shard.
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

// shards describes which of n shards scrape the targets of the job. n is 0 for a DaemonSet.
func (j job) shards(n int) string {
	switch {
	case n == 0:
		return "each pod scrapes the targets on its own node"
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
		out = "each target is scraped by a shard in its zone, one of " + all + ", chosen by its hash"
	case keeps("SHARD"):
		out = "each target is scraped by one of " + all + ", chosen by the hash of " + j.hashed()
	default:
		return "each of " + all + " scrapes all targets, except those that the object's own relabelings drop"
	}
	if own {
		out += "; targets with the label " + noHashLabel + " are scraped by all of them"
	}
	return out
}

// hashed returns the label whose hash selects the shard.
func (j job) hashed() string {
	label := hashLabel
	for _, s := range j.Steps {
		if s.Target == hashLabel && s.Action != "hashmod" && len(s.Source) == 2 && s.Source[1] == hashLabel {
			label = s.Source[0]
		}
	}
	for _, s := range j.Steps {
		if s.Target == hashLabel && !slices.Contains(s.Source, hashLabel) {
			return "the label " + hashLabel + " if the object sets it, else of " + label
		}
	}
	return label
}
