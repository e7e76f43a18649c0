package explain

import (
	"fmt"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/variables"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/jobtext"
)

const (
	hashLabel   = "__tmp_hash"
	noHashLabel = "__tmp_disable_sharding"
)

// readJobs returns the names of compiled jobs and human-readable lines about which
// shards scrape their targets: one line if all jobs agree, otherwise one per job,
// and none for a single shard.
func readJobs(text string, shards int) (names, which []string, err error) {
	jobs, err := jobtext.Read([]byte(text))
	if err != nil {
		return nil, nil, err
	}
	said := map[string]bool{}
	for i := range jobs {
		names = append(names, jobs[i].Name)
		said[shardsOf(&jobs[i], shards)] = true
	}
	for i := range jobs {
		switch text := shardsOf(&jobs[i], shards); {
		case text == "":
		case len(said) == 1:
			return names, []string{text}, nil
		default:
			which = append(which, jobs[i].Name+": "+text)
		}
	}
	return names, which, nil
}

// shardsOf describes which of n shards scrape the targets of the job. n is 0 for a DaemonSet.
func shardsOf(j *jobtext.Job, n int) string {
	switch {
	case n == 0:
		return "each pod scrapes the targets on its own node"
	case n == 1:
		return ""
	}
	all := fmt.Sprintf("the shards 0 to %d", n-1)
	if j.Discovery() == wellknown.CentralDiscovery { // its own discovery could not be compiled
		return "the discovery service assigns each target to one of " + all + ", by its hash; targets with the label " + noHashLabel + " to all of them"
	}
	keeps := func(variable string) bool {
		return slices.ContainsFunc(j.Steps, func(s jobtext.Step) bool {
			return s.Action == "keep" && slices.Contains(s.Source, hashLabel) && strings.Contains(s.Regex, "$("+variable+")")
		})
	}
	own := slices.ContainsFunc(j.Steps, func(s jobtext.Step) bool { return s.Target == noHashLabel })
	var out string
	switch {
	case keeps(variables.InzoneShard):
		out = "each target is scraped by a shard in its zone, one of " + all + ", chosen by its hash"
	case keeps(variables.Shard):
		out = "each target is scraped by one of " + all + ", chosen by the hash of " + hashedOf(j)
	default:
		return "each of " + all + " scrapes all targets, except those that the object's own relabelings drop"
	}
	if own {
		out += "; targets with the label " + noHashLabel + " are scraped by all of them"
	}
	return out
}

// hashedOf returns the label whose hash selects the shard.
func hashedOf(j *jobtext.Job) string {
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
