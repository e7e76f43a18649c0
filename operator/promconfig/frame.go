package promconfig

import (
	"bytes"
	"fmt"
	"path"
	"reflect"

	"github.com/firekeeper-dev/firekeeper/internal/gate"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/assets"
)

// Frame is the owner's own part of a document.
type Frame struct {
	// Head comes before scrape_configs, Tail after it.
	Head, Tail []byte
	// Additional are the user's own items of scrape_configs.
	Additional []byte
	// Dropped is what the version does not know.
	Dropped []gate.Dropped
	// Deps are the Secrets and ConfigMaps the frame depends on, also on error.
	Deps []assets.Dependency
	// Files are TLS assets by file name.
	Files map[string][]byte
	// Warnings are about values that are not used as written.
	Warnings []string

	agent, daemonSet bool
}

// Lines before the items of scrape_configs, and instead of them when there are none.
const (
	ScrapeConfigs   = "scrape_configs:\n"
	NoScrapeConfigs = "scrape_configs: []\n"
)

// Monitors are the accepted fragments of each kind, sorted by namespace/name in
// byte order.
type Monitors struct {
	ServiceMonitors, PodMonitors, Probes, ScrapeConfigs [][]byte
}

// AdditionalJobs stands for the user's own items among the sections.
const AdditionalJobs = "additional"

// Sections are the kinds of monitor that the document has, and [AdditionalJobs],
// in the order of scrape_configs.
func (f *Frame) Sections() []string {
	switch {
	case f.daemonSet: // each pod scrapes the pods of its node and nothing else
		return []string{v1.PodMonitorKind, AdditionalJobs}
	case f.agent:
		return []string{v1.PodMonitorKind, AdditionalJobs, v1.ServiceMonitorKind, v1.ProbeKind, v1alpha1.ScrapeConfigKind}
	}
	return []string{v1.ServiceMonitorKind, v1.PodMonitorKind, v1.ProbeKind, v1alpha1.ScrapeConfigKind, AdditionalJobs}
}

// Jobs lists the pieces of scrape_configs in the order of the document.
func (f *Frame) Jobs(m Monitors) [][]byte {
	pieces := map[string][][]byte{
		v1.ServiceMonitorKind: m.ServiceMonitors, v1.PodMonitorKind: m.PodMonitors, v1.ProbeKind: m.Probes,
		v1alpha1.ScrapeConfigKind: m.ScrapeConfigs, AdditionalJobs: {f.Additional},
	}
	var out [][]byte
	for _, section := range f.Sections() {
		for _, piece := range pieces[section] {
			if len(piece) > 0 {
				out = append(out, piece)
			}
		}
	}
	return out
}

// Document puts the whole text together.
func (f *Frame) Document(m Monitors) []byte {
	jobs := f.Jobs(m)
	if len(jobs) == 0 {
		return bytes.Join([][]byte{f.Head, []byte(NoScrapeConfigs), f.Tail}, nil)
	}
	text := append([]byte(nil), f.Head...)
	text = append(text, ScrapeConfigs...)
	for _, piece := range jobs {
		text = append(text, piece...)
	}
	return append(text, f.Tail...)
}

// RuleDir is where a Prometheus container finds its rule ConfigMaps.
const RuleDir = "/etc/prometheus/rules"

// ConfigRuleDir is where config-reloader unpacks rules that come with the
// configuration.
const ConfigRuleDir = "/etc/prometheus/config_out/rules"

// CompileServer makes the frame of a Prometheus.
//
// ruleConfigMaps are names, in the order they shall be listed, of ConfigMaps below
// RuleDir, or absolute paths of folders. Errors fail the
// reconcile; the returned frame then carries Deps and nothing else of use.
func CompileServer(p *v1.Prometheus, s *Settings, ruleConfigMaps []string, r assets.Reader) (Frame, error) {
	res := &resolver{scope: assets.NewScope(p.Namespace, r), dir: AssetDir}
	f, err := compileServer(p, s, ruleConfigMaps, res)
	f.Deps, f.Files = res.scope.Dependencies(), res.scope.Files()
	return f, err
}

func compileServer(p *v1.Prometheus, s *Settings, ruleConfigMaps []string, res *resolver) (Frame, error) {
	var f Frame
	tail, additional, err := serverTail(p, s, res)
	if err != nil {
		return f, err
	}
	head := Head{Runtime: runtimeFrom(p.Spec.Runtime)}
	head.Global, f.Warnings = serverGlobal(p, s.capabilities)
	if p.Spec.RuleSelector != nil {
		for _, name := range ruleConfigMaps {
			if !path.IsAbs(name) {
				name = path.Join(RuleDir, name)
			}
			head.RuleFiles = append(head.RuleFiles, name+"/*.yaml")
		}
	}
	err = f.encode(head, tail, additional, s.target)
	return f, err
}

// encode writes the three parts.
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

// serverTail checks and reads everything of the owner in a fixed order.
func serverTail(p *v1.Prometheus, s *Settings, res *resolver) (tail Tail, additional []gate.Node, err error) {
	spec := &p.Spec
	fail := func(err error) (Tail, []gate.Node, error) { return Tail{}, nil, fmt.Errorf("spec.%w", err) }
	if err := checkScalars("", reflect.ValueOf(spec).Elem()); err != nil {
		return fail(err)
	}
	if tail.RemoteRead, err = res.remoteReads(spec.RemoteRead); err != nil {
		return fail(err)
	}
	if tail.RemoteWrite, err = res.remoteWrites(spec.RemoteWrite, s.rules); err != nil {
		return fail(err)
	}
	api, err := res.apiServer(spec.APIServerConfig)
	if err != nil {
		return fail(fmt.Errorf("apiserverConfig: %w", err))
	}
	if err := checkAlertmanagers(spec.Alerting, s.rules); err != nil {
		return fail(err)
	}
	managers, err := res.alertmanagers(p, s, api)
	if err != nil {
		return fail(err)
	}
	if err := res.scrapeClasses(spec.ScrapeClasses); err != nil {
		return fail(err)
	}
	if additional, err = res.additionalJobs(&spec.CommonPrometheusFields, s); err != nil {
		return fail(err)
	}
	if tail.Alerting, err = res.alerting(p, managers); err != nil {
		return fail(err)
	}
	if err := checkTSDB(spec.TSDB, spec.EnableFeatures); err != nil {
		return fail(err)
	}
	tail.Storage = serverStorage(spec, s.target)
	if err := res.telemetry(&spec.CommonPrometheusFields, s, &tail); err != nil {
		return fail(err)
	}
	return tail, additional, nil
}

// telemetry fills what the owner receives over OTLP and what it traces itself.
func (r *resolver) telemetry(f *v1.CommonPrometheusFields, s *Settings, tail *Tail) (err error) {
	if tail.OTLP, err = otlpFrom(f, s.target); err != nil {
		return fmt.Errorf("otlp: %w", err)
	}
	if tail.Tracing, err = r.tracing(f.TracingConfig); err != nil {
		return fmt.Errorf("tracingConfig: %w", err)
	}
	return nil
}

// scrapeClasses registers the TLS assets of the owner's classes.
func (r *resolver) scrapeClasses(classes []v1.ScrapeClass) error {
	for i := range classes {
		if _, err := r.tls(classes[i].TLSConfig); err != nil {
			return fmt.Errorf("scrapeClasses[%d] %q: tlsConfig: %w", i, classes[i].Name, err)
		}
	}
	return nil
}

// additionalJobs reads the user's own jobs and shards them.
func (r *resolver) additionalJobs(f *v1.CommonPrometheusFields, s *Settings) ([]gate.Node, error) {
	jobs, err := r.additional(f.AdditionalScrapeConfigs)
	if err == nil && !s.data.DaemonSet && s.data.Sharding.Shards > 1 {
		jobs, err = shardJobs(jobs, s.shardByAddress, s.target)
	}
	if err != nil {
		return nil, fmt.Errorf("additionalScrapeConfigs: loading additional scrape configs failed: %w", err)
	}
	return jobs, nil
}

// alerting puts the block together; nil when nothing asks for it.
func (r *resolver) alerting(p *v1.Prometheus, managers []any) (*Alerting, error) {
	relabel, err := r.additional(p.Spec.AdditionalAlertRelabelConfigs)
	if err != nil {
		return nil, fmt.Errorf("additionalAlertRelabelConfigs: loading additional alert relabel configs failed: %w", err)
	}
	more, err := r.additional(p.Spec.AdditionalAlertManagerConfigs)
	if err != nil {
		return nil, fmt.Errorf("additionalAlertManagerConfigs: loading additional alertmanager configs failed: %w", err)
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
