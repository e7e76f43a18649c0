package lint

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/common/model"

	"k8s.io/utils/ptr"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1alpha1"
	"github.com/firekeeper-dev/firekeeper/operator/config/rules"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
)

// matchParam is the parameter with the selectors of a federation.
const matchParam = "match[]"

// maxSelectors is the maximum number of selectors of one endpoint that are parsed.
const maxSelectors = 20

// noSelector returns why a federation fails: a text is no selector. Empty if it is one, of Prometheus or VictoriaMetrics.
func noSelector(path, text string) string {
	if err := rules.MalformedSelector(text); err != nil && !strings.Contains(text, " or ") {
		return fmt.Sprintf("is no selector, and %s answers 400: %v", path, err)
	}
	return ""
}

// scrapeConfigFederation is like endpointRemarks for a ScrapeConfig that federates. Discovery may set the parameters of its targets.
func scrapeConfigFederation(say says, m *v1alpha1.ScrapeConfig) {
	labelled := slices.ContainsFunc(m.Spec.StaticConfigs, func(s v1alpha1.StaticConfig) bool { return len(s.Labels) > 0 })
	if strings.HasSuffix(m.Spec.MetricsPath, "/federate") && !labelled && len(m.Spec.HTTPSDConfigs)+len(m.Spec.FileSDConfigs) == 0 {
		endpointRemarks(say, "spec", m.Spec.MetricsPath, m.Spec.Params, ptr.Deref(m.Spec.HonorLabels, false), m.Spec.RelabelConfigs)
	}
}

// federationRemarks reports selectors of a federation that are none.
func federationRemarks(say says, field, path string, params map[string][]string) {
	if !strings.HasSuffix(path, "/federate") {
		return
	}
	for i, text := range params[matchParam][:min(len(params[matchParam]), maxSelectors)] {
		if why := noSelector(path, text); why != "" {
			say(faults.Index(faults.Key(field, matchParam), i), "%s", why)
		}
	}
}

// endpointRemarks reports endpoints of which the path is one that needs parameters or labels.
func endpointRemarks(say says, field, path string, params map[string][]string, honorLabels bool, steps []v1.RelabelConfig) {
	has := func(name string) bool {
		if len(params[name]) > 0 {
			return true
		}
		for _, s := range steps {
			if s.TargetLabel == "__param_"+name || strings.EqualFold(s.Action, "labelmap") {
				return true
			}
		}
		return false
	}
	switch {
	case strings.HasSuffix(path, "/federate"):
		if !has(matchParam) {
			remedy := "write params: {'match[]': [...]}"
			if has("match") {
				remedy = "the parameter is called match[], with the brackets"
			}
			say(field+".params", "%s answers with the series that match[] selects, and without it with none: %s", path, remedy)
		}
		federationRemarks(say, field+".params", path, params)
		if !honorLabels {
			say(field+".honorLabels", "is false, so job, instance, namespace and pod of all federated series become exported_job, exported_instance and so on; write honorLabels: true")
		}
	case strings.HasSuffix(path, "/probe"), path == "/snmp":
		if !has("target") {
			say(field+".params", "%s needs the parameter target, without which the exporter answers 400; write params: {target: [...]}, or use a Probe, which asks one exporter about many targets", path)
		} else if n := len(params["target"]); n > 1 {
			say(field+".params.target", "an exporter is asked about one target by each request, and takes the first of these %d, or answers 400; write them into targets.staticConfig.static of a Probe", n)
		}
	}
}

// exporterPorts are the usual ports of the exporters that are queried about targets, by the end of their paths.
var exporterPorts = map[string]string{"/probe": "9115", "/snmp": "9116"}

// exporterAddress returns the last of the steps that make Prometheus query an exporter about targets.
func exporterAddress(path string) string {
	return fmt.Sprintf("{targetLabel: __address__, replacement: EXPORTER:%s}", cmp.Or(exporterPorts[path], "PORT"))
}

// targetParam is the label of the parameter that names the target to an exporter.
const targetParam = model.ParamLabelPrefix + "target"

// asksAboutAddress reports whether a step makes the address of a target the parameter target.
func passesAddress(s v1.RelabelConfig) bool {
	return s.TargetLabel == targetParam && slices.Equal(s.SourceLabels, []v1.LabelName{model.AddressLabel}) && (s.Replacement == nil || strings.Contains(*s.Replacement, "$"))
}

// exporterSteps reports the first step that copies the address of targets into the parameter target, if no step replaces
// the address by that of the exporter. before are the steps of the scrape class; found is true if there is one.
func exporterSteps(say says, path, scraped string, steps, before []v1.RelabelConfig) (found bool) {
	i := slices.IndexFunc(steps, passesAddress)
	if i < 0 || nearmiss.LabelsSetBy(before, steps).Has(model.AddressLabel) {
		return false
	}
	say(fmt.Sprintf("%s[%d]", path, i), "makes the address of each target the parameter target, and no step sets __address__ to the exporter, so Prometheus scrapes the targets themselves: add the step %s", exporterAddress(scraped))
	return true
}

// exporterRemarks reports a ScrapeConfig that scrapes the targets of an exporter such as blackbox_exporter instead of the
// exporter. found is true if it does. before are the steps of the scrape class.
func exporterRemarks(say says, m *v1alpha1.ScrapeConfig, before []v1.RelabelConfig) (found bool) {
	return exporterSteps(say, "spec.relabelings", m.Spec.MetricsPath, m.Spec.RelabelConfigs, before) ||
		!nearmiss.LabelsSetBy(before, m.Spec.RelabelConfigs).Has(model.AddressLabel) && exporterTargets(say, m)
}

// exporterTargets reports the first static target that is a parameter of an exporter, if no step passes it there. found is
// true if there is one.
func exporterTargets(say says, m *v1alpha1.ScrapeConfig) (found bool) {
	path := m.Spec.MetricsPath
	given := nearmiss.LabelsSetBy(m.Spec.RelabelConfigs).Has(targetParam)
	if !given && (exporterPorts[path] == "" || len(m.Spec.Params["target"]) > 0) {
		return false
	}
	for i, s := range m.Spec.StaticConfigs {
		for j, target := range s.Targets {
			if !strings.Contains(string(target), "://") {
				continue
			}
			field := fmt.Sprintf("spec.staticConfigs[%d].targets[%d]", i, j)
			if given {
				say(field, "is scraped itself, because no step sets __address__ to the exporter, and Prometheus drops targets with a scheme: add to relabelings %s", exporterAddress(path))
			} else {
				say(field, "is scraped itself, and Prometheus drops targets with a scheme; to ask an exporter about it, write relabelings: [{sourceLabels: [__address__], targetLabel: __param_target}, {sourceLabels: [__param_target], targetLabel: instance}, %s], or use a Probe", exporterAddress(path))
			}
			return true
		}
	}
	return false
}
