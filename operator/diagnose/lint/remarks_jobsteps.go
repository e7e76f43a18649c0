package lint

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
)

// ownJob is the part of a job in a Secret that determines what is scraped.
type ownJob struct {
	Path   string              `yaml:"metrics_path"`
	Params map[string][]string `yaml:"params"`
	Before []ownStep           `yaml:"relabel_configs"`
	After  []ownStep           `yaml:"metric_relabel_configs"`
	Static []struct {
		Targets []string          `yaml:"targets"`
		Labels  map[string]string `yaml:"labels"`
	} `yaml:"static_configs"`
	HTTP []yaml.Node `yaml:"http_sd_configs"`
	File []yaml.Node `yaml:"file_sd_configs"`
}

// ownStep is a relabeling step of such a job.
type ownStep struct {
	Sources     []v1.LabelName `yaml:"source_labels"`
	Separator   *string        `yaml:"separator"`
	Regex       string         `yaml:"regex"`
	Target      string         `yaml:"target_label"`
	Replacement *string        `yaml:"replacement"`
	Action      string         `yaml:"action"`
}

// keysOfJobs replaces the names of fields of a ScrapeConfig with those of a job.
var keysOfJobs = strings.NewReplacer("spec.", "", "sourceLabels", "source_labels", "targetLabel", "target_label", "metricRelabelings", "metric_relabel_configs", "relabelings", "relabel_configs", "staticConfigs", "static_configs")

// maxJobRemarks is the maximum number of remarks about the jobs in one Secret.
const maxJobRemarks = 20

// stepRemarks reports steps of the jobs that read labels before they are set or
// after they are gone, exporters that are not asked, and selectors of federations that are none. Of the Secret, it quotes
// names of labels that Prometheus gives to targets, and what is wrong in a selector.
func (j ownJobs) stepRemarks() {
	if !lined(j.text) || new(manifest.Aliases).Check(j.text) != nil {
		return
	}
	root := parseLined(j.text)
	if root == nil || root.Kind != yaml.SequenceNode {
		return
	}
	said := 0
	for i, node := range root.Content {
		var job ownJob
		if node.Decode(&job) != nil {
			continue // reported as wrong
		}
		m := job.scrapeConfig()
		say := func(field, format string, args ...any) {
			if said++; said > maxJobRemarks {
				return
			}
			field = keysOfJobs.Replace(field)
			line := node.Line
			if value := find(node, manifests.SplitPath(field)); value != nil {
				line = value.Line
			}
			j.say(line, fmt.Sprintf("[%d].%s: %s", i, field, keysOfJobs.Replace(fmt.Sprintf(format, args...))))
		}
		exporterRemarks(say, m, nil)
		federationRemarks(say, "spec.params", job.Path, job.Params)
		instanceRemarks(say, "spec.relabelings", m.Spec.RelabelConfigs, nil, mayHaveInstance(m))
		goneRemarks(say, "spec.metricRelabelings", m.Spec.MetricRelabelConfigs, samples)
	}
}

// scrapeConfig returns a job as the fields of a ScrapeConfig.
func (j *ownJob) scrapeConfig() *v1alpha1.ScrapeConfig {
	m := &v1alpha1.ScrapeConfig{}
	m.Spec.MetricsPath, m.Spec.Params = j.Path, j.Params
	m.Spec.RelabelConfigs, m.Spec.MetricRelabelConfigs = stepsOf(j.Before), stepsOf(j.After)
	for _, s := range j.Static {
		m.Spec.StaticConfigs = append(m.Spec.StaticConfigs, v1alpha1.StaticConfig{Targets: s.Targets, Labels: s.Labels})
	}
	m.Spec.HTTPSDConfigs, m.Spec.FileSDConfigs = make([]v1alpha1.HTTPSDConfig, len(j.HTTP)), make([]v1alpha1.FileSDConfig, len(j.File))
	return m
}

// stepsOf returns steps of a job as those of a monitor.
func stepsOf(all []ownStep) (out []v1.RelabelConfig) {
	for _, s := range all {
		out = append(out, v1.RelabelConfig{SourceLabels: s.Sources, Separator: s.Separator, Regex: s.Regex, TargetLabel: s.Target, Replacement: s.Replacement, Action: s.Action})
	}
	return out
}
