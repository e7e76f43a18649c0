package targets_test

import (
	"fmt"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/discovery/targetgroup"

	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
)

// A job is evaluated over discovered groups. A dropped target has the step that drops it.
func ExampleReadJobs() {
	jobs, err := targets.ReadJobs(promconfig.JobText{Text: []byte(`
- job_name: web
  relabel_configs:
  - {action: keep, source_labels: [__meta_port], regex: http}
`), Origins: [][]promconfig.Origin{{{Path: "spec.endpoints[0].port"}}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	group := &targetgroup.Group{Targets: []model.LabelSet{
		{"__address__": "10.0.0.1:80", "__meta_port": "http"},
		{"__address__": "10.0.0.1:9000", "__meta_port": "admin"},
	}}
	result := jobs[0].Evaluate(targets.Found{Groups: []*targetgroup.Group{group}})
	for i := range result.Rows {
		t := result.Target(i)
		fmt.Println(t.State, t.URL)
		if t.Drop != nil {
			fmt.Println(t.Drop.Origin)
		}
	}
	// Output:
	// kept http://10.0.0.1:80/metrics
	// dropped http://10.0.0.1:9000/metrics
	// spec.endpoints[0].port
}
