// Package jobtext reads scrape jobs back from the text of a configuration, for reports about them.
// It compiles no regular expressions and does not evaluate jobs, as package targets does.
//
//	jobs, err := jobtext.Read(text) // items of scrape_configs
package jobtext

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"
)

// Job is the part of a job that reports describe.
type Job struct {
	Name       string       `yaml:"job_name"`
	Steps      []Step       `yaml:"relabel_configs"`
	Kubernetes []Kubernetes `yaml:"kubernetes_sd_configs"`
	Static     []Static     `yaml:"static_configs"`
	// Rest are the other keys.
	Rest map[string]any `yaml:",inline"`
}

// Step is a relabel step.
type Step struct {
	Source []string `yaml:"source_labels"`
	Target string   `yaml:"target_label"`
	Regex  string   `yaml:"regex"`
	Action string   `yaml:"action"`
}

// Kubernetes is a discovery in Kubernetes.
type Kubernetes struct {
	Role       string `yaml:"role"`
	Namespaces struct {
		Names []string `yaml:"names"`
		Own   bool     `yaml:"own_namespace"`
	} `yaml:"namespaces"`
	APIServer string `yaml:"api_server"`
	Attach    struct {
		Node      bool `yaml:"node"`
		Namespace bool `yaml:"namespace"`
	} `yaml:"attach_metadata"`
}

// Static is a list of targets.
type Static struct {
	Targets []string `yaml:"targets"`
}

// Read returns the jobs of a text.
//
// Errors: the text is not a list of jobs.
func Read(text []byte) (jobs []Job, err error) {
	if err := yaml.Unmarshal(text, &jobs); err != nil {
		return nil, fmt.Errorf("read the compiled jobs: %w", err)
	}
	return jobs, nil
}

// Others returns the keys of the discoveries other than those in Kubernetes and static targets,
// sorted.
func (j *Job) Others() (out []string) {
	for key := range j.Rest {
		if strings.HasSuffix(key, "_sd_configs") {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
