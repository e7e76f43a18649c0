package preview

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/config/redact"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/discovery/promapi"
)

// Comparison is the difference between the computed targets of a workload and those of its pods.
type Comparison struct {
	Workload catalog.Ref   `json:"workload"`
	Pods     []ComparedPod `json:"pods"`
	// Differences lists the differences, each with the pods that have it.
	Differences []Difference `json:"differences"`
	// Down lists the targets of pods whose last scrape failed. They are not differences.
	Down []Difference `json:"down,omitempty"`
	// NotCompared lists the jobs that were not compared because their targets are not completely known, with the
	// reasons.
	NotCompared []Without `json:"notCompared,omitempty"`
}

// ComparedPod is a pod whose targets were compared.
type ComparedPod struct {
	Pod     string `json:"pod"`
	Targets int    `json:"targets"` // number of compared targets
	// Error is the reason why the targets of the pod could not be read. Absent if they were.
	Error string `json:"error,omitempty"`
}

// DifferenceKind is the kind of a difference.
type DifferenceKind string

const (
	OnlyHere      DifferenceKind = "onlyHere"      // the pods lack the target
	OnlyInPod     DifferenceKind = "onlyInPod"     // the pods have an unexpected target
	OtherLabels   DifferenceKind = "otherLabels"   // same job and URL, different labels
	DroppedCounts DifferenceKind = "droppedCounts" // different numbers of dropped targets of a job
	Down          DifferenceKind = "down"          // the last scrape failed
)

// Difference is a difference between the computed targets and those of pods.
type Difference struct {
	Kind DifferenceKind `json:"kind"`
	Pods []string       `json:"pods"`
	Job  string         `json:"job"`
	URL  string         `json:"url,omitempty"`
	// Labels is the set of labels of the computed target.
	Labels map[string]string `json:"labels,omitempty"`
	// PodLabels is the set of labels of the target in the pods.
	PodLabels map[string]string `json:"podLabels,omitempty"`
	// Dropped is the computed number of dropped targets of the job.
	Dropped int `json:"dropped,omitempty"`
	// PodDropped is the number of dropped targets of the job in the pods.
	PodDropped int    `json:"podDropped,omitempty"`
	Health     string `json:"health,omitempty"`
	// Message is the reason: why the computed target is dropped, or why the target is down.
	Message string `json:"message,omitempty"`
	// Remedy is the usual fix of the error of a target that is down. Absent if it is unknown.
	Remedy string `json:"remedy,omitempty"`
}

// comparison collects the targets that a workload should scrape, and then compares them.
type comparison struct {
	w       *Workload
	jobs    []compared
	partial bool // there may be jobs that are not known here
	all     bool // the jobs are all jobs of the workload
	out     Comparison
	found   differences
}

// differences are the differences of several pods, with equal ones merged.
type differences struct {
	all  []Difference
	last map[string]int // index of the last equal difference, by key
}

// compared is a job to compare.
type compared struct {
	name    string
	targets []targets.Target
	byURL   map[string]*targets.Target // filled on demand by why
	unsure  bool                       // targets may be missing here
	uneven  bool                       // the numbers of dropped targets per shard are unknown
}

// add adds a job.
func (c *comparison) add(object catalog.Ref, name string, result targets.Result) {
	j := compared{name: name, targets: result.Targets()}
	for i := range j.targets {
		t := &j.targets[i]
		switch t.State {
		case targets.Unknown:
			j.unsure = true
		case targets.Duplicate, targets.Invalid:
			j.uneven = c.w.Shards > 1
		case targets.OverLimit:
			j.unsure = j.unsure || c.w.Shards > 1
		}
		if j.unsure {
			c.out.NotCompared = append(c.out.NotCompared, Without{c.w.Ref, object, name, t.Message})
			break
		}
	}
	c.jobs = append(c.jobs, j)
}

// with compares the jobs with the targets of the servers.
func (c *comparison) with(asked []ServerResponse) Comparison {
	c.out.Workload, c.out.Pods, c.out.Differences = c.w.Ref, []ComparedPod{}, []Difference{}
	c.found.last = map[string]int{}
	for i := range asked {
		c.pod(&asked[i])
	}
	slices.SortStableFunc(c.found.all, func(a, b Difference) int { return cmp.Or(cmp.Compare(a.Job, b.Job), cmp.Compare(a.URL, b.URL)) })
	for _, d := range c.found.all {
		if d.Kind == Down {
			c.out.Down = append(c.out.Down, d)
		} else {
			c.out.Differences = append(c.out.Differences, d)
		}
	}
	return c.out
}

// pod compares the jobs with one server.
func (c *comparison) pod(a *ServerResponse) {
	pod := ComparedPod{Pod: a.Pod}
	if a.Err != nil {
		pod.Error = a.Err.Error()
		c.out.Pods = append(c.out.Pods, pod)
		return
	}
	theirs := map[string][]promapi.Target{}
	for _, t := range a.Targets {
		theirs[t.Job] = append(theirs[t.Job], t)
	}
	for i := range c.jobs {
		j := &c.jobs[i]
		pod.Targets += len(theirs[j.name])
		c.down(a, theirs[j.name])
		if !j.unsure {
			c.job(a, j, theirs[j.name])
		}
		delete(theirs, j.name)
	}
	if c.all && !c.partial {
		for _, name := range slices.Sorted(maps.Keys(theirs)) {
			pod.Targets += len(theirs[name])
			c.down(a, theirs[name])
			c.job(a, &compared{name: name}, theirs[name])
		}
	}
	c.out.Pods = append(c.out.Pods, pod)
}

// down records the targets that a server cannot scrape.
func (c *comparison) down(a *ServerResponse, all []promapi.Target) {
	for _, t := range all {
		if t.Health == "down" {
			c.found.add(a.Pod, Difference{Kind: Down, Job: t.Job, URL: redact.URL(t.URL), Health: t.Health, Message: redact.Text(t.LastError), Remedy: promapi.Remedy(t.LastError)})
		}
	}
}

// job compares the targets of a job.
func (c *comparison) job(a *ServerResponse, j *compared, theirs []promapi.Target) {
	note := func(d Difference) {
		d.Job, d.URL, d.Message = j.name, redact.URL(d.URL), redact.Text(d.Message)
		d.Labels, d.PodLabels = redact.Labels(d.Labels), redact.Labels(d.PodLabels)
		c.found.add(a.Pod, d)
	}
	ours, dropped := j.on(c.w, a)
	left := map[string][]promapi.Target{} // by URL
	equal := map[string]int{}             // by URL and labels
	for _, t := range theirs {
		equal[keyOfTarget(t.URL, t.Labels)]++
	}
	var missing []*targets.Target
	for _, t := range ours {
		if key := keyOfTarget(t.URL, t.Labels); equal[key] > 0 {
			equal[key]--
		} else {
			missing = append(missing, t)
		}
	}
	for _, t := range theirs {
		if key := keyOfTarget(t.URL, t.Labels); equal[key] > 0 {
			equal[key]--
			left[t.URL] = append(left[t.URL], t)
		}
	}
	for _, t := range missing {
		others := left[t.URL]
		if len(others) == 0 {
			note(Difference{Kind: OnlyHere, URL: t.URL, Labels: t.Labels})
			continue
		}
		left[t.URL] = others[1:]
		note(Difference{Kind: OtherLabels, URL: t.URL, Labels: t.Labels, PodLabels: others[0].Labels, Health: others[0].Health, Message: others[0].LastError})
	}
	for _, url := range slices.Sorted(maps.Keys(left)) {
		for _, t := range left[url] {
			note(Difference{Kind: OnlyInPod, URL: url, PodLabels: t.Labels, Health: t.Health, Message: j.why(a, url)})
		}
	}
	if there := a.Dropped[j.name]; a.Dropped != nil && !j.uneven && there != dropped {
		note(Difference{Kind: DroppedCounts, Dropped: dropped, PodDropped: there})
	}
}

// on returns the targets that a server should have, and the number of targets it should drop.
func (j *compared) on(w *Workload, a *ServerResponse) (scraped []*targets.Target, dropped int) {
	for i := range j.targets {
		t := &j.targets[i]
		switch {
		case w.PerNode && t.Source.Node != "" && t.Source.Node != a.Node: // not visible to this pod
		case t.State == targets.Kept && (w.PerNode || slices.Contains(t.Shards, a.Shard)), t.State == targets.OverLimit:
			scraped = append(scraped, t)
		case t.State == targets.Kept, t.State == targets.Dropped:
			dropped++
		}
	}
	return scraped, dropped
}

// why explains why a server should not have a URL.
func (j *compared) why(a *ServerResponse, url string) string {
	if j.targets == nil {
		return "there is no such job here"
	}
	if j.byURL == nil {
		j.byURL = map[string]*targets.Target{}
		for i := range j.targets {
			if t := &j.targets[i]; j.byURL[t.URL] == nil || t.State == targets.Kept {
				j.byURL[t.URL] = t
			}
		}
	}
	switch t := j.byURL[url]; {
	case t == nil:
		return ""
	case t.State != targets.Kept:
		return t.Redacted().Message
	case !slices.Contains(t.Shards, a.Shard):
		return "here it belongs to shard " + strings.Trim(fmt.Sprint(t.Shards), "[]")
	}
	return ""
}

// keyOfTarget returns a key that is equal for targets with the same URL and labels.
func keyOfTarget(url string, l map[string]string) string { return url + labelText(l) }

// add adds a difference of a pod and merges it with an equal one of other pods.
func (f *differences) add(pod string, d Difference) {
	key := fmt.Sprint(d.Kind, "\x00", d.Job, "\x00", d.Dropped, d.PodDropped, d.Health, d.Message, "\x00", keyOfTarget(d.URL, d.Labels), labelText(d.PodLabels))
	if i, has := f.last[key]; has && !slices.Contains(f.all[i].Pods, pod) {
		f.all[i].Pods = append(f.all[i].Pods, pod)
		return
	}
	d.Pods = []string{pod}
	f.last[key] = len(f.all)
	f.all = append(f.all, d)
}

// unknown reports whether something could not be compared.
func (c *Comparison) unknown() bool {
	return len(c.NotCompared) > 0 || slices.ContainsFunc(c.Pods, func(p ComparedPod) bool { return p.Error != "" })
}
