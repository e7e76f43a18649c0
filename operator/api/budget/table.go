package budget

import (
	"fmt"
	"strconv"
	"strings"
)

// row is the documentation of one limit.
type row struct {
	name  string // of the constant
	of    string // the object to which the limit applies
	what  string
	limit int
	unit  string
}

const (
	anyObject = "any object"
	monitors  = "ServiceMonitor, PodMonitor"
	scrapes   = "ServiceMonitor, PodMonitor, Probe, ScrapeConfig"
	workloads = "Prometheus, PrometheusAgent, Alertmanager, ThanosRuler"
	ruleKind  = "PrometheusRule"
	amConfig  = "AlertmanagerConfig"

	serverKinds = "all monitors, all PrometheusRules or all AlertmanagerConfigs of a workload"

	share = "share" // unit of a fraction of the memory limit; the value is its denominator
)

// table documents every limit of this package.
var table = []row{
	{"StoredBytes", anyObject, "size as JSON", StoredBytes, "bytes"},
	{"DecodedBytes", anyObject, "size in memory after decoding", DecodedBytes, "bytes"},
	{"Endpoints", monitors, "endpoints", Endpoints, ""},
	{"Mounts", "Prometheus, PrometheusAgent, Alertmanager", "secrets, and configMaps", Mounts, ""},
	{"Containers", workloads, "containers and initContainers, together", Containers, ""},
	{"Patches", workloads, "containers with the name of the same container of the pods", Patches, ""},
	{"ContainerItems", workloads, "environment variables, ports, volumeMounts and devices of all containers, each", ContainerItems, ""},
	{"ShardBytes", "Prometheus, PrometheusAgent", "size in memory of the StatefulSets of all shards", ShardBytes, "bytes"},
	{"RelabelSteps", scrapes, "relabelings and metricRelabelings, all together", RelabelSteps, ""},
	{"Groups", ruleKind, "groups", Groups, ""},
	{"Rules", ruleKind, "rules in all groups", Rules, ""},
	{"Evaluations", ruleKind, "rules that are evaluated in a second, of groups with an interval", Evaluations, ""},
	{"Namespaces", scrapes, "namespaces that Kubernetes discoveries name, all together", Namespaces, ""},
	{"KubernetesDiscoveries", "ScrapeConfig", "kubernetesSDConfigs", KubernetesDiscoveries, ""},
	{"Discoveries", "ScrapeConfig", "entries of all service discoveries, without staticConfigs", Discoveries, ""},
	{"DNSNames", "ScrapeConfig", "names in all dnsSDConfigs", DNSNames, ""},
	{"StaticTargets", "Probe, ScrapeConfig", "static targets", StaticTargets, ""},
	{"StaticLabels", "Probe, ScrapeConfig", "labels of a list of static targets", StaticLabels, ""},
	{"StaticBytes", "Probe, ScrapeConfig", "labels of all static targets; those of a list count for each of its targets", StaticBytes, "bytes"},
	{"Receivers", amConfig, "receivers", Receivers, ""},
	{"Integrations", amConfig, "integrations of all receivers", Integrations, ""},
	{"Routes", amConfig, "routes on all levels", Routes, ""},
	{"InhibitRules", amConfig, "inhibition rules", InhibitRules, ""},
	{"InhibitLabels", amConfig, "matchers and labels (sourceMatch, targetMatch, equal) of all inhibition rules", InhibitLabels, ""},
	{"Notifications", amConfig, "integrations that one alert can reach, and routes without integrations; routes with continue count as if all of them matched", Notifications, ""},
	{"GroupLabels", amConfig, "labels in groupBy of a route", GroupLabels, ""},
	{"IntervalRanges", amConfig, "ranges (times, weekdays, daysOfMonth, months, years) of all time intervals that a route refers to, each as often as it is named", IntervalRanges, ""},
	{"RouteDepth", amConfig, "levels of routes", RouteDepth, ""},
	{"StoredShare", "all objects of the API group", "size in memory together, with what is generated from them", StoredShare, share},
	{"HeldShare", "all workloads", "what reconciliations keep for the next ones; beyond it, those of the namespaces that hold most begin afresh each time", HeldShare, share},
	{"SelectionBytes", "workload", "what each object that it selects counts in addition, for the workload", SelectionBytes, "bytes"},
	{"ReferredShare", "all Secrets and ConfigMaps that are referred to", "contents that are kept in memory", ReferredShare, share},
	{"GeneratedBytes", scrapes + ", " + amConfig, "generated configuration; generation stops there", GeneratedBytes, "bytes"},
	{"RuleFileBytes", ruleKind, "generated rule file", RuleFileBytes, "bytes"},
	{"RuleConfigMaps", "all PrometheusRules of a workload", "ConfigMaps of 512 KiB each", RuleConfigMaps, ""},
	{"ValueBytes", anyObject, "values of Secrets and ConfigMaps, each as often as it is referred to", ValueBytes, "bytes"},
	{"ReferredBytes", anyObject, "Secrets and ConfigMaps that it refers to, as a whole", ReferredBytes, "bytes"},
	{"TLSFileBytes", anyObject, "one certificate, key or bundle of CAs that is mounted as a file", TLSFileBytes, "bytes"},
	{"AliasBytes", "document in YAML", "what its aliases stand for", AliasBytes, "bytes"},
	{"GroupBytes", "EndpointSlice, Endpoints, Pod and others that are discovered", "labels of all its targets; its targets are left out", GroupBytes, "bytes"},
	{"URLBytes", amConfig, "one URL", URLBytes, "bytes"},
	{"RegexpOperators", anyObject, "operators and character classes of one regular expression; a Unicode class counts 64, a range 256 where case is ignored", RegexpOperators, ""},
	{"RegexpCost", scrapes + ", " + amConfig, "instructions and character ranges of all regular expressions", RegexpCost, ""},
	{"MatcherWork", amConfig, "instructions of the regular expressions of all matchers that are executed for one character of a label", MatcherWork, ""},
	{"RelabelWork", scrapes, "instructions of the regular expressions of all relabelings that are executed for one character of a label, times the labels that they read", RelabelWork, ""},
	{"RuleRegexpCost", ruleKind, "instructions and character ranges of all regular expressions", RuleRegexpCost, ""},
	{"ExpressionEffort", ruleKind, "words × bytes of the expressions, summed up", ExpressionEffort, ""},
	{"ServerRegexps.All", serverKinds, "instructions and character ranges of all regular expressions", ServerRegexps.All, ""},
	{"ServerRegexps.Each", serverKinds, "the same in addition, for each of these objects", ServerRegexps.Each, ""},
	{"ServerMatcherWork.All", "all AlertmanagerConfigs of a workload", "instructions of the regular expressions of all matchers that are executed for one character of a label", ServerMatcherWork.All, ""},
	{"ServerMatcherWork.Each", "all AlertmanagerConfigs of a workload", "the same in addition, for each of these objects", ServerMatcherWork.Each, ""},
	{"ServerEffort.All", "all PrometheusRules of a workload", "words × bytes of the expressions, summed up", ServerEffort.All, ""},
	{"ServerEffort.Each", "all PrometheusRules of a workload", "the same in addition, for each of these objects", ServerEffort.Each, ""},
	{"MatchSteps", "job", "instructions × bytes of the value, for one target whose relabeling is followed; the jobs of an object share what ten of them may cost", MatchSteps, ""},
	{"JobMatchSteps", "job", "the same for all targets of one evaluation", JobMatchSteps, ""},
	{"LabelBytes", "job", "text that a relabeling reads or makes while it is followed", LabelBytes, "bytes"},
	{"LabelGrowth", scrapes, "size of the labels that one list of relabelings can make or join, in multiples of the labels of a target", LabelGrowth, ""},
	{"SeriesGrowth", ruleKind, "size of the labels that an expression can make with label_join and label_replace, in multiples of the labels of a series", SeriesGrowth, ""},
	{"IntervalMillis", scrapes + ", " + ruleKind + ", " + amConfig, "least interval of scrapes, evaluations, notifications and refreshes of targets", IntervalMillis, "ms"},
	{"CompiledBytes", "all objects of a workload", "size as JSON of those that are compiled at the same time", CompiledBytes, "bytes"},
	{"CompilationBytes", "all objects of a workload", "memory limit of the process for each that is compiled at the same time, two at least", CompilationBytes, "bytes"},
	{"TemplateBytes", amConfig, "output of one template of a receiver, and of all templates of one receiver", TemplateBytes, "bytes"},
	{"AlertTemplateBytes", ruleKind, "output of the template of a label or annotation", AlertTemplateBytes, "bytes"},
	{"TemplateGrowth", amConfig + ", " + ruleKind, "the same in addition, in multiples of the memory of the alerts of a notification, or of the results of queries, for one template", TemplateGrowth, ""},
	{"ReceiverGrowth", amConfig + ", " + ruleKind, "the same for all templates of one receiver or alert", ReceiverGrowth, ""},
	{"TemplatesBytes", amConfig + ", " + ruleKind, "output of all templates about one alert with one label", TemplatesBytes, "bytes"},
	{"TemplateBlocks", amConfig + ", " + ruleKind, "blocks (if, else, range, with, define, block) and variables of one template", TemplateBlocks, ""},
	{"TemplateNodes", amConfig + ", " + ruleKind, "actions and functions that are followed to find out what templates cost, where variables grow in loops", TemplateNodes, ""},
	{"ComparedBytes", "name", "length up to which a similar name is suggested", ComparedBytes, "bytes"},
	{"ComparedPairs", "name", "pairs of letters that are compared for one suggestion", ComparedPairs, ""},
	{"ObjectPairs", "all manifests, or what is read of a cluster", "pairs of monitors, Services and pods that are compared for hints of `lint`, `explain` and `operator ui`; beyond it, hints about them are left out", ObjectPairs, ""},
	{"Faults", anyObject, "faults listed", Faults, ""},
	{"FaultBytes", anyObject, "text of a fault", FaultBytes, "bytes"},
	{"DocumentFaults", "manifest", "unknown fields and wrong types listed", DocumentFaults, ""},
	{"MessageBytes", anyObject, "message of the condition of a rejected object", MessageBytes, "bytes"},
	{"BindingsBytes", anyObject, "status with what workloads say about it; those beyond say nothing there", BindingsBytes, "bytes"},
	{"StatusBytes", anyObject, "status that is read of an object that is too large, or for which there is no room; with a larger one, the operator leaves the status alone", StatusBytes, "bytes"},
	{"ConditionBytes", "workload", "message of a condition", ConditionBytes, "bytes"},
	{"EventBytes", anyObject, "reason in an Event", EventBytes, "bytes"},
	{"PathBytes", anyObject, "path of a field in a message", PathBytes, "bytes"},
}

// markdown returns the table for the documentation.
func markdown() string {
	var b strings.Builder
	b.WriteString("| of | what | limit |\n|---|---|---|\n")
	for _, r := range table {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.of, r.what, r.text())
	}
	return b.String()
}

func (r row) text() string {
	switch {
	case r.unit == share:
		return fmt.Sprintf("1/%d of the memory limit", r.limit)
	case r.unit == "":
		return grouped(r.limit)
	case r.limit%(1<<20) == 0:
		return strconv.Itoa(r.limit>>20) + " MiB"
	case r.limit%(1<<10) == 0:
		return strconv.Itoa(r.limit>>10) + " KiB"
	}
	return grouped(r.limit) + " " + r.unit
}

// grouped formats a number with a comma after the thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Markers around the table in a page.
const (
	begin = "<!-- limits: written by make generate -->\n"
	end   = "<!-- end of limits -->\n"
)

// Insert returns the page with the table between its markers.
func Insert(page string) (string, error) {
	before, rest, ok := strings.Cut(page, begin)
	_, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		return "", fmt.Errorf("the page has no lines %q and %q", strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + "\n" + markdown() + "\n" + end + after, nil
}
