// Package jobtext reads scrape jobs back from the text of a configuration, for reports about them.
// It compiles no regular expressions and does not evaluate jobs, as package targets does.
//
//	jobs, err := jobtext.Read(text) // items of scrape_configs
package jobtext

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v2"

	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
)

// Job is the part of a job that reports describe.
type Job struct {
	Name       string       `yaml:"job_name"`
	Steps      []Step       `yaml:"relabel_configs"`
	Kubernetes []Kubernetes `yaml:"kubernetes_sd_configs"`
	Static     []Static     `yaml:"static_configs"`
	HTTP       []HTTP       `yaml:"http_sd_configs"`
	Identity   Identity     `yaml:",inline"`
	// Rest are the other keys.
	Rest map[string]any `yaml:",inline"`
}

// Identity holds the credentials of a job's scrapes.
type Identity struct {
	Authorization *struct {
		File string `yaml:"credentials_file"`
	} `yaml:"authorization"`
	TokenFile string `yaml:"bearer_token_file"`
	TLS       struct {
		CertFile string `yaml:"cert_file"`
	} `yaml:"tls_config"`
	Basic  map[string]any `yaml:"basic_auth"`
	OAuth2 map[string]any `yaml:"oauth2"`
}

// identities are the keys of [Identity].
var identities = []string{"authorization", "bearer_token_file", "tls_config", "basic_auth", "oauth2"}

// Anonymous reports whether scrapes send nothing of it.
func (i *Identity) Anonymous() bool {
	return i.Authorization == nil && i.TokenFile == "" && i.TLS.CertFile == "" && i.Basic == nil && i.OAuth2 == nil
}

// Own reports whether scrapes send the token of the ServiceAccount of the pods.
func (i *Identity) Own() bool {
	file := i.TokenFile
	if i.Authorization != nil {
		file = i.Authorization.File
	}
	return strings.HasSuffix(file, "/run/secrets/kubernetes.io/serviceaccount/token")
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

// HTTP is an HTTP service discovery.
type HTTP struct {
	URL string `yaml:"url"`
}

// listed reports whether config-reloader serves the targets of the job, see central discovery in
// package promconfig.
func (h HTTP) listed(job string) bool {
	return h.URL == "http://"+wellknown.TargetsAddress+wellknown.TargetsPath+url.PathEscape(job)
}

// Discovery returns which program discovers the targets of the job in the cluster.
func (j *Job) Discovery() wellknown.TargetDiscovery {
	switch listed := slices.ContainsFunc(j.HTTP, func(h HTTP) bool { return h.listed(j.Name) }); {
	case !listed:
		return wellknown.OwnDiscovery
	case len(j.Kubernetes) > 0:
		return wellknown.BothDiscoveries
	}
	return wellknown.CentralDiscovery
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

// Discoveries is like [Read], but the jobs have only names, discoveries, static targets and identities. Most of a text are
// relabel steps, which it skips without parsing them.
//
// Errors: like [Read]. Errors in the skipped parts are not found.
func Discoveries(text []byte) ([]Job, error) { return Read(discoveries(text)) }

// discoveries returns the first line of each job and the lines of its discoveries and identity. A text whose form
// differs from that of the operator, with jobs in the first column and their keys in the third one, is returned
// unchanged.
func discoveries(text []byte) []byte {
	out := make([]byte, 0, len(text)/4)
	keep := false
	for line := range bytes.Lines(text) {
		switch {
		case bytes.HasPrefix(line, []byte("- ")):
			keep = true // any key can begin the job
		case len(line) < 3 || line[0] != ' ' || line[1] != ' ' || len(out) == 0:
			return text
		case line[2] != ' ' && line[2] != '-':
			key, _, _ := bytes.Cut(line[2:], []byte(":"))
			keep = bytes.HasSuffix(key, []byte("_sd_configs")) || string(key) == "static_configs" || string(key) == "job_name" || slices.Contains(identities, string(key))
		}
		if keep {
			out = append(out, line...)
		}
	}
	return out
}

// Others returns the keys of the discoveries other than those in Kubernetes, static targets and the
// discovery service, sorted.
func (j *Job) Others() (out []string) {
	if slices.ContainsFunc(j.HTTP, func(h HTTP) bool { return !h.listed(j.Name) }) {
		out = append(out, "http_sd_configs")
	}
	for key := range j.Rest {
		if strings.HasSuffix(key, "_sd_configs") {
			out = append(out, key)
		}
	}
	slices.Sort(out)
	return out
}
