// Package targetreport encodes the messages between pods with central discovery and the discovery service, except the
// list of targets.
//
//	report.go    the state of Prometheus: the version of the list, disagreements, watched targets that were scraped
//	watch.go     the targets about which the service requests reports without delay
//	inventory.go the list of a pod, with the number of series of each target
//
// A report only names exceptions, so its size does not depend on the number of targets: of each requested job that a report does not name, Prometheus has the targets at Version, scrapes all of them, and no others.
package targetreport

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// Path is the path to which pods send reports.
const Path = "/v1/reports"

// Limits of a report.
const (
	// MaxBytes is the maximum size of a report in bytes.
	MaxBytes = 32 << 10
	// MaxJobs is the maximum number of jobs that it names.
	MaxJobs = 100
	// MaxTargets is the maximum number of targets that it names, of one job and kind.
	MaxTargets = 5
	// MaxName is the maximum size of the name of a job and of an address in bytes.
	MaxName = 1 << 10
	// maxCount is the maximum of all numbers.
	maxCount = 100_000_000
)

// Report is a report of one pod.
type Report struct {
	// Version of the list that the pod has.
	Version string `json:"version"`
	// Requested is the number of jobs that Prometheus requests.
	Requested int `json:"requested"`
	// Served and Active are the numbers of targets in the list and of those that Prometheus scrapes, of all
	// jobs that were compared.
	Served int `json:"served"`
	Active int `json:"active"`
	// Compared is the number of jobs whose targets were compared with those of Prometheus.
	Compared int `json:"compared"`
	// Age is the time since the comparison in seconds; absent if there was none.
	Age *int `json:"age,omitempty"`
	// Jobs are the exceptions, More is the number of those that are not named.
	Jobs []Job `json:"jobs,omitempty"`
	More int   `json:"more,omitempty"`

	// Boot grows with each start of the pod's program, Seq with each report and inventory since then. Reports of
	// earlier releases have neither, nor what follows.
	Boot uint64 `json:"boot,omitempty"`
	Seq  uint64 `json:"seq,omitempty"`
	// Fetched is the last version of the list of which Prometheus has requested all jobs; "" for none.
	Fetched string `json:"fetched,omitempty"`
	// Watch is the Seq of the watch that Scraped is about; 0 for none.
	Watch uint64 `json:"watch,omitempty"`
	// Scraped are the IDs of its units all of whose targets are active, and were scraped after the list with
	// them was fetched.
	Scraped []string `json:"scraped,omitempty"`
	// Blind is true if Prometheus cannot be queried.
	Blind bool `json:"blind,omitempty"`
}

// Job is a job that is not as it should be, or not yet.
type Job struct {
	Job string `json:"job"`
	// Fetched is the version of the list at which Prometheus last requested the job, if the job has
	// changed since then.
	Fetched string `json:"fetched,omitempty"`
	// Pending is true if the targets were not compared since their last change.
	Pending bool `json:"pending,omitempty"`
	// Served and Active are the numbers of targets in the list, and of those that Prometheus scrapes. Targets
	// with the same labels after relabeling are scraped once.
	Served int `json:"served"`
	Active int `json:"active"`
	// Dropped are targets in the list that the relabelings in Prometheus drop.
	Dropped *Targets `json:"dropped,omitempty"`
	// Missing are targets in the list that Prometheus does not have, if it scrapes none of the job.
	Missing *Targets `json:"missing,omitempty"`
	// Unlisted are targets that Prometheus scrapes and that are not in the list.
	Unlisted *Targets `json:"unlisted,omitempty"`
}

// Targets are a number of targets, some of which are named by their discovered address.
type Targets struct {
	Count int      `json:"count"`
	Names []string `json:"names"`
}

// Add adds a target. It may be called for a nil receiver, and returns the result.
func (t *Targets) Add(address string) *Targets {
	if t == nil {
		t = &Targets{Names: []string{}}
	}
	t.Count++
	if len(t.Names) < MaxTargets && valid(address) {
		t.Names = append(t.Names, address)
	}
	return t
}

// Kind is a kind of disagreement.
type Kind string

// The kinds, see [Job].
const (
	Dropped  Kind = "dropped"
	Missing  Kind = "missing"
	Unlisted Kind = "unlisted"
)

// Kinds are all kinds.
var Kinds = []Kind{Dropped, Missing, Unlisted}

// Of returns the targets of a kind, nil for none.
func (j *Job) Of(kind Kind) *Targets {
	return map[Kind]*Targets{Dropped: j.Dropped, Missing: j.Missing, Unlisted: j.Unlisted}[kind]
}

// Disagreements returns the number of targets about which the list and Prometheus disagree.
func (j *Job) Disagreements() (n int) {
	for _, kind := range Kinds {
		if t := j.Of(kind); t != nil {
			n += t.Count
		}
	}
	return n
}

// Disagreements returns the sum over all named jobs.
func (r *Report) Disagreements() (n int) {
	for i := range r.Jobs {
		n += r.Jobs[i].Disagreements()
	}
	return n
}

// Encode returns the JSON of the report, without jobs that exceed the limits.
func (r Report) Encode() ([]byte, error) {
	named := r.Jobs
	r.Jobs = nil
	head, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	size := len(head) + len(`,"jobs":[],"more":100000000`)
	for i := range named {
		one, err := json.Marshal(&named[i])
		if err != nil {
			return nil, err
		}
		size += len(one) + 1
		if len(r.Jobs) == MaxJobs || size > MaxBytes || !valid(named[i].Job) {
			r.More += len(named) - i
			break
		}
		r.Jobs = append(r.Jobs, named[i])
	}
	return json.Marshal(r)
}

// Decode returns the report in JSON of at most MaxBytes.
//
// Errors: it is no report, or exceeds the limits.
func Decode(text []byte) (r Report, err error) {
	if len(text) > MaxBytes {
		return r, fmt.Errorf("the report has more than %d bytes", MaxBytes)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("the report is not valid: %w", err)
	}
	numbers := []int{r.Requested, r.Served, r.Active, r.Compared, r.More}
	names := []string{r.Version, r.Fetched}
	if r.Age != nil {
		numbers = append(numbers, *r.Age)
	}
	if len(r.Scraped) > MaxWatchUnits {
		return Report{}, fmt.Errorf("the report names more than %d units", MaxWatchUnits)
	}
	for _, id := range r.Scraped {
		if !validID(id) {
			return Report{}, fmt.Errorf("the report has the unit %.100q, which is not valid", id)
		}
	}
	if len(r.Jobs) > MaxJobs {
		return Report{}, fmt.Errorf("the report names more than %d jobs", MaxJobs)
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		numbers = append(numbers, j.Served, j.Active)
		names = append(names, j.Job, j.Fetched)
		for _, kind := range Kinds {
			t := j.Of(kind)
			if t == nil {
				continue
			}
			if len(t.Names) > MaxTargets || len(t.Names) > t.Count {
				return Report{}, fmt.Errorf("the report names too many targets of job %.100q", j.Job)
			}
			numbers = append(numbers, t.Count)
			names = append(names, t.Names...)
		}
	}
	for _, n := range numbers {
		if n < 0 || n > maxCount {
			return Report{}, fmt.Errorf("the report has the number %d, which is not within 0 and %d", n, maxCount)
		}
	}
	for _, name := range names {
		if !valid(name) {
			return Report{}, fmt.Errorf("the report has the name %.100q, which is too long or not printable", name)
		}
	}
	return r, nil
}

// valid reports whether a name can be part of a report. Valid names may be shown to users unchanged.
func valid(name string) bool {
	return len(name) <= MaxName && strings.IndexFunc(name, func(c rune) bool { return c == unicode.ReplacementChar || !unicode.IsPrint(c) }) < 0
}
