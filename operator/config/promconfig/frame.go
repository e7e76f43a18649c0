package promconfig

import (
	"errors"
	"path"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/wellknown"
	"github.com/firekeeper-dev/firekeeper/operator/config/regexcost"
	"github.com/firekeeper-dev/firekeeper/operator/kube/assets"
)

// Frame is the part of a document that belongs to the workload.
type Frame struct {
	// Head comes before scrape_configs, Tail after it.
	Head, Tail []byte
	// Additional holds the items of additional scrape jobs.
	Additional []byte
	// Origins holds the origins of the relabel_configs of each additional job, one per
	// step; nil without [Settings.WithOrigins].
	Origins [][]Origin
	// Dropped lists keys that the version does not support.
	Dropped []gate.Dropped
	// Deps are the Secrets and ConfigMaps that the frame depends on, even on error.
	Deps []assets.Dependency
	// Files are TLS assets by file name.
	Files map[string][]byte
	// Warnings are about values that are not used as written.
	Warnings []faults.Finding

	agent, daemonSet bool
}

// ConfigRuleDir is the directory to which config-reloader unpacks rules that are
// delivered with the configuration.
const ConfigRuleDir = "/etc/prometheus/config_out/rules"

// CompileServer compiles the frame of a Prometheus.
//
// ruleConfigMaps are, in the order of rule_files, names of ConfigMaps below
// wellknown.PrometheusRuleDir or absolute directory paths. Errors fail the
// reconciliation. In that case, only Deps and Head of the returned frame are usable.
func CompileServer(p *v1.Prometheus, s *Settings, ruleConfigMaps []string, r assets.Reader) (Frame, error) {
	res := newResolver(p.Namespace, r, s.target)
	f, err := compileServer(p, s, ruleConfigMaps, res)
	f.Deps, f.Files = res.Dependencies(), res.Files()
	return f, err
}

func compileServer(p *v1.Prometheus, s *Settings, ruleConfigMaps []string, res *resolver) (Frame, error) {
	var f Frame
	tail, additional, err := serverTail(p, s, res)
	head := Head{Runtime: serverRuntime(p.Spec.Runtime, s.target)}
	head.Global, f.Warnings = serverGlobal(p, s.capabilities)
	if p.Spec.RuleSelector != nil {
		for _, name := range ruleConfigMaps {
			if !path.IsAbs(name) {
				name = path.Join(wellknown.PrometheusRuleDir, name)
			}
			head.RuleFiles = append(head.RuleFiles, name+"/*.yaml")
		}
	}
	if err != nil {
		f.alone(head, s.target)
		return f, err
	}
	f.Warnings = append(f.Warnings, res.missingCredentials(p.Spec.ScrapeClasses)...)
	f.Origins = additional.origins
	err = f.encode(head, tail, additional.jobs, s.target)
	return f, err
}

// alone encodes only the head, after an error in the rest. It is enough to determine the
// targets of monitors.
func (f *Frame) alone(head Head, t gate.Target) { f.Head, _, _ = gate.Append(nil, head, t, "") }

// encode encodes the three parts.
func (f *Frame) encode(head Head, tail Tail, additional []gate.Node, t gate.Target) (err error) {
	var dropped []gate.Dropped
	if f.Head, f.Dropped, err = gate.Append(nil, head, t, ""); err != nil {
		return err
	}
	if f.Tail, dropped, err = gate.Append(nil, tail, t, ""); err != nil {
		return err
	}
	f.Dropped = append(f.Dropped, dropped...)
	f.Additional, _, err = gate.AppendItems(nil, additional, t, "scrape_configs")
	return err
}

// serverTail validates and resolves all fields of the workload in a fixed order. Errors are joined.
func serverTail(p *v1.Prometheus, s *Settings, res *resolver) (tail Tail, additional ownJobs, err error) {
	spec, errs := &p.Spec, faults.List{}
	errs.Add("spec", checkScalars("", spec))
	set(&errs, "spec", &tail.RemoteRead)(res.remoteReads(spec.RemoteRead, s.target))
	set(&errs, "spec", &tail.RemoteWrite)(res.remoteWrites(spec.RemoteWrite, s.rules.counting(new(regexcost.Budget))))
	var api APIServer
	set(&errs, "spec.apiserverConfig", &api)(res.apiServer(spec.APIServerConfig))
	var managers []any
	set(&errs, "spec", &managers)(res.alertmanagers(p, s, api))
	errs.Add("spec", res.scrapeClasses(spec.ScrapeClasses))
	set(&errs, "spec", &additional)(res.additionalJobs(&spec.CommonPrometheusFields, s))
	set(&errs, "spec", &tail.Alerting)(res.alerting(p, managers, s.target))
	errs.Add("spec", checkTSDB(spec.TSDB, spec.EnableFeatures))
	tail.Storage = serverStorage(spec, s.target)
	errs.Add("spec", res.telemetry(&spec.CommonPrometheusFields, s, &tail))
	return tail, additional, errs.Err()
}

// telemetry sets the OTLP and tracing blocks.
func (r *resolver) telemetry(f *v1.CommonPrometheusFields, s *Settings, tail *Tail) error {
	var errs faults.List
	set(&errs, "otlp", &tail.OTLP)(otlpFrom(f, s.target))
	set(&errs, "tracingConfig", &tail.Tracing)(r.tracing(f.TracingConfig))
	return errs.Err()
}

// scrapeClasses registers the TLS assets of the workload's scrape classes.
func (r *resolver) scrapeClasses(classes []v1.ScrapeClass) error {
	return faults.Each("scrapeClasses", classes, func(c *v1.ScrapeClass) error {
		_, err := r.TLS(c.TLSConfig)
		return inClass(c, faults.At("tlsConfig", err))
	})
}

// ownJobs holds the additional items of scrape_configs.
type ownJobs struct {
	jobs    []gate.Node
	origins [][]Origin // nil unless requested
}

// additionalJobs reads the additional jobs and adds sharding steps.
func (r *resolver) additionalJobs(f *v1.CommonPrometheusFields, s *Settings) (ownJobs, error) {
	l, sel := ownScrapeConfigs, f.AdditionalScrapeConfigs
	read, text, err := r.additional(l, sel)
	if err != nil {
		return ownJobs{}, err
	}
	jobs := read
	if !s.data.DaemonSet && s.data.Sharding.Shards > 1 {
		if jobs, err = shardJobs(read, s.shardByAddress, s.target); err != nil {
			return ownJobs{}, l.failed(err)
		}
	}
	if err := r.checkAdditional(l, sel, read, text, s.target); err != nil {
		return ownJobs{}, err
	}
	out := ownJobs{jobs: jobs}
	if s.origins {
		out.origins = additionalOrigins(read, jobs)
	}
	return out, nil
}

// alerting returns the block; nil if it is not configured.
func (r *resolver) alerting(p *v1.Prometheus, managers []any, t gate.Target) (*Alerting, error) {
	relabel, errRelabel := r.additionalItems(ownAlertRelabels, p.Spec.AdditionalAlertRelabelConfigs, t)
	more, errMore := r.additionalItems(ownAlertmanagers, p.Spec.AdditionalAlertManagerConfigs, t)
	if err := errors.Join(errRelabel, errMore); err != nil {
		return nil, err
	}
	if p.Spec.Alerting == nil && len(relabel) == 0 && len(more) == 0 {
		return nil, nil
	}
	out := &Alerting{Alertmanagers: managers}
	if step := dropReplica(&p.Spec.CommonPrometheusFields); step != nil {
		out.RelabelConfigs = append(out.RelabelConfigs, step)
	}
	for _, node := range relabel {
		out.RelabelConfigs = append(out.RelabelConfigs, node)
	}
	for _, node := range more {
		out.Alertmanagers = append(out.Alertmanagers, node)
	}
	return out, nil
}
