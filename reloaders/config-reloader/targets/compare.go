package targets

import (
	"bytes"
	"context"
	"errors"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/firekeeper-dev/firekeeper/internal/jsonstream"
	"github.com/firekeeper-dev/firekeeper/internal/targetreport"
)

const (
	// settled is how long Prometheus must have had the same targets of a job before they are compared with the scraped
	// ones. Prometheus applies new targets within 10 s.
	settled = 20 * time.Second
	// maxAsked is the maximum number of jobs whose dropped targets are requested for one comparison.
	maxAsked = 5
	// maxCompared is the maximum number of targets that are compared.
	maxCompared = 1_000_000
)

// comparison compares the targets of jobs with those that Prometheus scrapes. Jobs and targets are compared by
// discovered address: Prometheus scrapes one of several targets with the same labels after relabeling, and the list
// does not determine which one.
type comparison struct {
	seed   maphash.Seed
	jobs   map[string]*jobComparison
	listed map[uint64]bool // by job and address: whether it is scraped
	// foreign is true if Prometheus ignores the parameter for one job.
	foreign bool
}

// jobComparison is the result for one job.
type jobComparison struct {
	job            *job
	served, active int
	// absent are addresses in the list that are not scraped.
	absent                     *targetreport.Targets
	dropped, missing, unlisted *targetreport.Targets
	// suspects are those targets, with the time since when comparisons have found them.
	suspects map[targetreport.Kind]suspects
}

// compare compares jobs with the targets that Prometheus scrapes. single means that Prometheus can return the dropped
// targets of a single job; all jobs may have too many.
//
// Errors: Prometheus does not respond; there are too many targets to compare.
func compare(ctx context.Context, jobs map[string]*job, p Prometheus, single bool) (*comparison, error) {
	c := &comparison{seed: maphash.MakeSeed(), jobs: map[string]*jobComparison{}, listed: map[uint64]bool{}}
	for name, j := range jobs {
		of := &jobComparison{job: j, suspects: map[targetreport.Kind]suspects{}}
		c.jobs[name] = of
		err := j.addresses(func(address string) {
			of.served++
			c.listed[c.key(name, address)] = false
		})
		if err != nil {
			return nil, err
		}
		if len(c.listed) > maxCompared {
			return nil, errors.New("there are too many targets to compare")
		}
	}
	if err := p.active(ctx, c.scraped); err != nil {
		return nil, err
	}
	asked := 0
	for _, name := range slices.Sorted(maps.Keys(c.jobs)) {
		of := c.jobs[name]
		if err := c.findAbsent(name, of); err != nil {
			return nil, err
		}
		if of.absent == nil || asked == maxAsked || !single {
			continue
		}
		asked++
		err := of.findDropped(ctx, name, p)
		if errors.Is(err, errForeign) {
			single, c.foreign = false, true
		} else if err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *comparison) key(job, address string) uint64 { return hashOf(c.seed, job, address) }

// hashOf returns a hash of two strings.
func hashOf(seed maphash.Seed, a, b string) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	_, _ = h.WriteString(a) // never fails
	_ = h.WriteByte(0)
	_, _ = h.WriteString(b)
	return h.Sum64()
}

// scraped records a target that Prometheus scrapes.
func (c *comparison) scraped(s activeTarget) error {
	name := s.job()
	of := c.jobs[name]
	if of == nil {
		return nil
	}
	of.active++
	key := c.key(name, s.Discovered.Address)
	if _, listed := c.listed[key]; listed {
		c.listed[key] = true
	} else {
		of.unlisted = of.unlisted.Add(s.Discovered.Address)
	}
	return nil
}

// findAbsent finds the addresses of a job that are not scraped.
func (c *comparison) findAbsent(name string, of *jobComparison) error {
	return of.job.addresses(func(address string) {
		if key := c.key(name, address); !c.listed[key] {
			c.listed[key] = true // duplicates count once
			of.absent = of.absent.Add(address)
		}
	})
}

// errForeign is returned for targets of another job than the requested one.
var errForeign = errors.New("the parameter scrapePool is not supported")

// findDropped finds the absent targets that relabelings drop. The others have the same labels as scraped targets, or
// are missing if there are no such targets.
func (of *jobComparison) findDropped(ctx context.Context, name string, p Prometheus) error {
	err := p.dropped(ctx, name, func(s activeTarget) error {
		if s.job() != name {
			return errForeign
		}
		if s.Discovered.URL != "" { // not from the own discovery of the server
			of.dropped = of.dropped.Add(s.Discovered.Address)
		}
		return nil
	})
	if of.active == 0 && of.dropped == nil && err == nil {
		of.missing = of.absent
	}
	return err
}

// addresses calls each with the address of each target of the job.
//
// Errors: the list does not have the form of http_sd.
func (j *job) addresses(each func(string)) error {
	plain, err := gzip.NewReader(bytes.NewReader(j.packed))
	if err != nil {
		return err
	}
	// The size of the list is already limited.
	in := jsonstream.New(plain, jsonstream.Limits{Text: math.MaxInt64, Value: math.MaxInt64})
	return in.Array(func() error {
		var group struct{ Targets []string }
		if err := in.Decode(&group); err != nil {
			return err
		}
		for _, address := range group.Targets {
			each(address)
		}
		return nil
	})
}
