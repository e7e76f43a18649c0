package targets

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"reflect"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/config"
	"github.com/prometheus/prometheus/model/relabel"
	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
)

// Job is one scrape job. It is immutable and safe for concurrent use.
type Job struct {
	// Name is the job_name.
	Name string
	// Origins of the relabel steps.
	Origins []promconfig.Origin
	// Discoveries are the service discoveries of the job that are parsed.
	Discoveries
	// Others are the keys of discoveries that are not evaluated unless [Found.Looked] contains
	// them, for example "consul_sd_configs".
	Others []string
	// SDsDiffer is true when variables are used outside of relabel steps, so that shards discover
	// different targets.
	SDsDiffer bool

	// shards has the job's configuration on each shard.
	shards []*config.ScrapeConfig
	// common is the number of leading steps that are the same on all shards.
	common int
	hashed int // index of the step that hashes; -1 if there is none
	// movable is true if any shard can scrape each target, see [Job.Place].
	movable bool
	share   int // divides the budget among all jobs of the same object
	sieve   sieve
	costs   costs
	// for servers of major version 2, see legacy.go
	legacy, needsPort bool
}

// jobText has the parts of a job that are parsed. Other keys, including those of other Prometheus
// versions, do not affect targets.
type jobText struct {
	Name           string            `yaml:"job_name"`
	Interval       model.Duration    `yaml:"scrape_interval"`
	Timeout        model.Duration    `yaml:"scrape_timeout"`
	Path           string            `yaml:"metrics_path"`
	Scheme         string            `yaml:"scheme"`
	Params         url.Values        `yaml:"params"`
	TargetLimit    uint              `yaml:"target_limit"`
	NameValidation string            `yaml:"metric_name_validation_scheme"`
	Native         *bool             `yaml:"scrape_native_histograms"`
	Classic        *bool             `yaml:"always_scrape_classic_histograms"`
	CustomBuckets  *bool             `yaml:"convert_classic_histograms_to_nhcb"`
	Steps          []*relabel.Config `yaml:"relabel_configs"`
	Discoveries    `yaml:",inline"`
	Rest           map[string]any `yaml:",inline"`
}

// globalText has the settings that jobs inherit.
type globalText struct {
	Global struct {
		Interval       model.Duration `yaml:"scrape_interval"`
		Timeout        model.Duration `yaml:"scrape_timeout"`
		TargetLimit    uint           `yaml:"target_limit"`
		NameValidation string         `yaml:"metric_name_validation_scheme"`
	} `yaml:"global"`
}

// ReadJobs parses the jobs of a text.
//
// Errors: the text is not YAML or not a list of jobs, Prometheus rejects a job, the number of
// origins differs from the number of steps.
func ReadJobs(d promconfig.JobText) ([]Job, error) {
	global, err := readGlobal(d)
	if err != nil {
		return nil, err
	}
	shards := d.Shards
	if len(shards) == 0 {
		shards = []map[string]string{nil}
	}
	if err := promconfig.CheckExpressions(d.Text); err != nil { // in jobs that users write themselves
		return nil, err
	}
	var jobs []Job
	text := newShardedText(d)
	for i, variables := range shards {
		items, err := text.of(variables)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			jobs = make([]Job, len(items))
		}
		for n := range items {
			if err := jobs[n].addShard(&items[n], global); err != nil {
				return nil, fmt.Errorf("job %s: %w", items[n].Name, err)
			}
		}
	}
	if len(jobs) != len(d.Origins) {
		return nil, fmt.Errorf("there are %d jobs and the origins of %d", len(jobs), len(d.Origins))
	}
	shares(jobs)
	for i := range jobs {
		if err := jobs[i].finish(d.Origins[i]); err != nil {
			return nil, fmt.Errorf("job %s: %w", jobs[i].Name, err)
		}
		if legacy(d) {
			jobs[i].asLegacy(d.NoDefaultPort)
		}
		for k := range jobs[i].Kubernetes {
			jobs[i].Kubernetes[k].Release = d.Release
		}
		jobs[i].weigh()
	}
	return jobs, nil
}

// weigh computes the sieve and the costs once the relabel steps are final.
func (j *Job) weigh() {
	for _, c := range j.shards {
		for i, step := range c.RelabelConfigs {
			c.RelabelConfigs[i] = steps.share(step)
		}
	}
	j.sieve = newSieve(j.shards)
	j.costs = j.costOf(func(yield func(int) bool) {
		for i := range j.shards[0].RelabelConfigs {
			if !yield(i) {
				return
			}
		}
	})
	j.sieve.costs = j.costOf(func(yield func(int) bool) {
		for _, step := range j.sieve.shards[0].run {
			if !yield(step.at) {
				return
			}
		}
	})
}

// substitute replaces variables as config-reloader does.
func substitute(text []byte, variables map[string]string) []byte {
	for name, value := range variables {
		text = bytes.ReplaceAll(text, []byte("$("+name+")"), []byte(value))
	}
	return text
}

// readGlobal parses the global block and fills in its defaults.
func readGlobal(d promconfig.JobText) (config.GlobalConfig, error) {
	out := config.DefaultGlobalConfig
	var text globalText
	if err := yaml.Unmarshal(d.Head, &text); err != nil {
		return out, fmt.Errorf("read the global block: %w", err)
	}
	if text.Global.Interval > 0 {
		out.ScrapeInterval = text.Global.Interval
	}
	out.ScrapeTimeout = min(out.ScrapeTimeout, out.ScrapeInterval)
	if text.Global.Timeout > 0 {
		out.ScrapeTimeout = text.Global.Timeout
	}
	out.TargetLimit = text.Global.TargetLimit
	out.MetricNameEscapingScheme = ""
	switch {
	case legacy(d):
		out.MetricNameValidationScheme = model.LegacyValidation
	case text.Global.NameValidation != "":
		return out, out.MetricNameValidationScheme.Set(text.Global.NameValidation)
	}
	return out, nil
}

// addShard appends the job's configuration on the next shard.
func (j *Job) addShard(text *jobText, global config.GlobalConfig) error {
	c := config.DefaultScrapeConfig
	c.JobName, c.Params, c.TargetLimit, c.RelabelConfigs = text.Name, text.Params, text.TargetLimit, text.Steps
	c.ScrapeInterval, c.ScrapeTimeout = text.Interval, text.Timeout
	c.ScrapeNativeHistograms, c.AlwaysScrapeClassicHistograms, c.ConvertClassicHistogramsToNHCB = text.Native, text.Classic, text.CustomBuckets
	if text.Path != "" {
		c.MetricsPath = text.Path
	}
	if text.Scheme != "" {
		c.Scheme = text.Scheme
	}
	if text.NameValidation != "" {
		if err := c.MetricNameValidationScheme.Set(text.NameValidation); err != nil {
			return err
		}
	}
	if err := c.Validate(global); err != nil {
		return err
	}
	if len(j.shards) == 0 {
		j.Name, j.Discoveries, j.Others = text.Name, text.Discoveries, otherDiscoveries(text.Rest)
		if len(j.HTTP) > 0 {
			j.Others = append(j.Others, HTTPSDKey)
		}
	} else if len(c.RelabelConfigs) != len(j.shards[0].RelabelConfigs) {
		return errors.New("shards have different numbers of relabel steps")
	}
	j.SDsDiffer = j.SDsDiffer || j.Name != text.Name || !reflect.DeepEqual(j.Discoveries, text.Discoveries)
	j.shards = append(j.shards, &c)
	return nil
}

// finish sets the origins and the number of leading steps that are the same on all shards.
func (j *Job) finish(origins []promconfig.Origin) error {
	first := j.shards[0]
	if len(origins) != len(first.RelabelConfigs) {
		return fmt.Errorf("there are %d relabel steps and the origins of %d", len(first.RelabelConfigs), len(origins))
	}
	j.Origins, j.common = origins, len(first.RelabelConfigs)
	j.hashed = j.hashStep()
	for _, other := range j.shards[1:] {
		if !sameSeeds(first, other) {
			j.common = 0
		}
		for i := range j.common {
			if !reflect.DeepEqual(stepKey(first.RelabelConfigs[i]), stepKey(other.RelabelConfigs[i])) {
				j.common = i
				break
			}
		}
	}
	j.movable = j.isMovable()
	return nil
}

// sameSeeds reports whether targets start with the same labels in both configurations.
func sameSeeds(a, b *config.ScrapeConfig) bool {
	return a.MetricsPath == b.MetricsPath && a.Scheme == b.Scheme && a.ScrapeInterval == b.ScrapeInterval &&
		a.ScrapeTimeout == b.ScrapeTimeout && reflect.DeepEqual(a.Params, b.Params)
}

// stepKey returns a comparable form of a step, with the regular expression as text.
func stepKey(c *relabel.Config) any {
	out := *c
	out.Regex = relabel.Regexp{}
	return [2]any{out, c.Regex.String()}
}

// Shards returns the number of shards.
func (j *Job) Shards() int { return len(j.shards) }
