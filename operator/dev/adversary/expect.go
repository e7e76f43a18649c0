package adversary

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/amconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/promconfig"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/alertmanager"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/prometheus"
	"github.com/firekeeper-dev/firekeeper/operator/controllers/thanosruler"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/lint"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// kinds returns the kinds of workloads, newly allocated for each caller.
func kinds() []*engine.Kind {
	cfg := workload.Config{
		PrometheusBaseImage: "registry/prometheus", ThanosBaseImage: "registry/thanos", AlertmanagerBaseImage: "registry/alertmanager",
		ConfigReloaderImage: "registry/reloader:v1", RulesReloaderImage: "registry/reloader:v1",
	}
	cache := &rules.Cache{}
	servers, agents := prometheus.Kinds(prometheus.Options{Workload: cfg, Capabilities: promconfig.Capabilities{EndpointSlice: true, AgentDaemonSet: true}}, cache)
	return []*engine.Kind{servers, agents, thanosruler.Kind(cfg, cache), alertmanager.Kind(cfg)}
}

// rejected returns the error by which the operator's checks reject an object. It returns nil if they accept it or if
// the result depends on other objects.
func rejected(row *catalog.Row, raw []byte) error {
	object := row.New()
	if err := manifest.DecodeStored(raw, object); err != nil {
		return err
	}
	if err := v1.Undecodable(object); err != nil {
		return err
	}
	if config, is := object.(*v1alpha1.AlertmanagerConfig); is {
		return amconfig.Validate(config)
	}
	for _, f := range lint.Object(kinds(), row, object, raw) {
		if f.Severity == lint.SeverityError {
			return fmt.Errorf("%s: %s", f.Field, f.Message)
		}
	}
	return nil
}

// storedObject is an object as storedObject by the API server.
type storedObject struct {
	row        *catalog.Row
	raw        []byte
	name, uid  string
	generation int64
	bindings   []binding
	conditions []condition // if it is a workload
}

// binding is an entry of status.bindings.
type binding struct {
	Conditions []condition `json:"conditions"`
}

type condition struct {
	Type               string `json:"type"`
	Status             string `json:"status"`
	Message            string `json:"message"`
	ObservedGeneration int64  `json:"observedGeneration"`
}

func newStored(row *catalog.Row, raw []byte) (storedObject, error) {
	var o struct {
		Metadata struct {
			Name       string `json:"name"`
			UID        string `json:"uid"`
			Generation int64  `json:"generation"`
		} `json:"metadata"`
		Status struct {
			Bindings   []binding   `json:"bindings"`
			Conditions []condition `json:"conditions"`
		} `json:"status"`
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return storedObject{}, err
	}
	m := o.Metadata
	return storedObject{row: row, raw: raw, name: m.Name, uid: m.UID, generation: m.Generation, bindings: o.Status.Bindings, conditions: o.Status.Conditions}, nil
}

// fails reports whether the conditions of a workload report that it cannot be reconciled.
func (s storedObject) fails() bool {
	for _, c := range s.conditions {
		if c.Type == "Reconciled" && c.Status == "False" && c.Message != "" {
			return true
		}
	}
	return false
}

// says reports whether the status has a result for the current generation.
func (s storedObject) says() bool {
	for _, b := range s.bindings {
		for _, c := range b.Conditions {
			if c.ObservedGeneration == s.generation {
				return true
			}
		}
	}
	return false
}

// uses holds the objects that occur in the written configurations.
type uses struct {
	names map[string]bool // "job namespace/name", "route namespace/name"
	files []string        // names of rule files, which contain the UID
}

// usesOf collects the objects that occur in the configurations of all workloads.
func usesOf(all map[string]content) uses {
	out := uses{names: map[string]bool{}}
	note := func(prefix, text string) {
		parts := strings.SplitN(strings.Trim(text, `"' `), "/", 3)
		if len(parts) > 1 {
			out.names[prefix+parts[0]+"/"+parts[1]] = true
		}
	}
	for line := range strings.Lines(string(all["Prometheus"].config)) {
		if job, ok := strings.CutPrefix(line, "- job_name: "); ok {
			_, job, _ = strings.Cut(strings.Trim(strings.TrimSuffix(job, "\n"), `"'`), "/")
			note("job ", job)
		}
	}
	for line := range strings.Lines(string(all["Alertmanager"].config)) {
		if _, receiver, ok := strings.Cut(line, "receiver: "); ok {
			note("route ", strings.TrimSuffix(receiver, "\n"))
		}
	}
	for _, c := range all {
		for file := range c.rules {
			out.files = append(out.files, file)
		}
	}
	return out
}

// of reports whether an object occurs in the written configurations.
func (u uses) of(s storedObject) bool {
	switch s.row {
	case catalog.PrometheusRule:
		for _, file := range u.files {
			if strings.Contains(file, s.uid) {
				return true
			}
		}
		return false
	case catalog.AlertmanagerConfig:
		return u.names["route "+hostileNS+"/"+s.name]
	default:
		return u.names["job "+hostileNS+"/"+s.name]
	}
}

// empty reports whether a valid object generates no configuration.
func (s storedObject) empty() bool {
	var o struct {
		Spec map[string]any `json:"spec"`
	}
	if json.Unmarshal(s.raw, &o) != nil {
		return false
	}
	length := func(field string) int {
		list, _ := o.Spec[field].([]any)
		return len(list)
	}
	switch s.row {
	case catalog.ServiceMonitor:
		return length("endpoints") == 0
	case catalog.PodMonitor:
		return length("podMetricsEndpoints") == 0
	case catalog.PrometheusRule:
		return length("groups") == 0
	case catalog.AlertmanagerConfig:
		return o.Spec["route"] == nil
	}
	return false
}
