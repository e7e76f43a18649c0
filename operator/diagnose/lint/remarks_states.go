package lint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// states are metrics of kube-state-metrics with a series for each state of an object, which is 1 for the one that it has and 0
// for all others: the label of the state, and what to write for the usual one.
var states = map[string]struct{ label, usual string }{
	"kube_pod_status_phase":                         {"phase", "Running"},
	"kube_namespace_status_phase":                   {"phase", "Active"},
	"kube_persistentvolumeclaim_status_phase":       {"phase", "Bound"},
	"kube_persistentvolume_status_phase":            {"phase", "Bound"},
	"kube_pod_status_ready":                         {"condition", "true"},
	"kube_pod_status_scheduled":                     {"condition", "true"},
	"kube_node_status_condition":                    {"status", "true"},
	"kube_deployment_status_condition":              {"status", "true"},
	"kube_horizontalpodautoscaler_status_condition": {"status", "true"},
}

var (
	stateConditions = []string{"true", "false", "unknown"}
	waitingReasons  = []string{"ContainerCreating", "CrashLoopBackOff", "CreateContainerConfigError", "CreateContainerError", "ErrImagePull", "ImagePullBackOff", "InvalidImageName", "PodInitializing"}
	endReasons      = []string{"OOMKilled", "Completed", "Error", "ContainerCannotRun", "DeadlineExceeded", "Evicted"}
	resourceNames   = []string{"cpu", "memory"}
)

// stateValues are the values of labels of kube-state-metrics that are often written in another case.
var stateValues = map[string]map[string][]string{
	"kube_pod_status_phase":                            {"phase": {"Pending", "Running", "Succeeded", "Failed", "Unknown"}},
	"kube_namespace_status_phase":                      {"phase": {"Active", "Terminating"}},
	"kube_persistentvolumeclaim_status_phase":          {"phase": {"Bound", "Lost", "Pending"}},
	"kube_persistentvolume_status_phase":               {"phase": {"Available", "Bound", "Failed", "Pending", "Released"}},
	"kube_pod_status_ready":                            {"condition": stateConditions},
	"kube_pod_status_scheduled":                        {"condition": stateConditions},
	"kube_pod_status_reason":                           {"reason": {"Evicted", "NodeAffinity", "NodeLost", "Shutdown", "UnexpectedAdmissionError"}},
	"kube_node_status_condition":                       {"condition": {"Ready", "MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"}, "status": stateConditions},
	"kube_deployment_status_condition":                 {"condition": {"Available", "Progressing", "ReplicaFailure"}, "status": stateConditions},
	"kube_horizontalpodautoscaler_status_condition":    {"condition": {"AbleToScale", "ScalingActive", "ScalingLimited"}, "status": stateConditions},
	"kube_job_complete":                                {"condition": stateConditions},
	"kube_job_failed":                                  {"condition": stateConditions},
	"kube_pod_container_status_waiting_reason":         {"reason": waitingReasons},
	"kube_pod_init_container_status_waiting_reason":    {"reason": waitingReasons},
	"kube_pod_container_status_terminated_reason":      {"reason": endReasons},
	"kube_pod_container_status_last_terminated_reason": {"reason": endReasons},
	"kube_pod_init_container_status_terminated_reason": {"reason": endReasons},
	"kube_pod_container_resource_requests":             {"resource": resourceNames},
	"kube_pod_container_resource_limits":               {"resource": resourceNames},
	"kube_node_status_allocatable":                     {"resource": resourceNames},
	"kube_node_status_capacity":                        {"resource": resourceNames},
}

// stateRemarks reports matchers of metrics of kube-state-metrics whose value has another case, and alerts that take a
// state which an object does not have for one that it has.
func stateRemarks(note says, queries []*query) {
	for _, q := range queries {
		if !strings.Contains(q.text, "kube_") || q.expr() == nil {
			continue
		}
		seen := map[string]bool{}
		for _, text := range append(misspelledStates(q), comparedStates(q)...) {
			if !seen[text] {
				seen[text] = true
				note(q.path("expr"), "%s", text)
			}
		}
	}
}

// misspelledStates returns remarks about the matchers of a query whose value has another case.
func misspelledStates(q *query) (out []string) {
	for _, selector := range q.selectors() {
		values := stateValues[nameIn(selector)]
		for _, m := range selector {
			if value, known := otherCase(values[m.Name], m); known != "" {
				out = append(out, fmt.Sprintf("%s has no series with %s=%q: write %q", nameIn(selector), m.Name, value, known))
			}
		}
	}
	return out
}

// comparedStates returns remarks about the comparisons with numbers in the query of an alert that are true for healthy objects.
func comparedStates(q *query) (out []string) {
	if q.rule.Alert == "" {
		return nil
	}
	parser.Inspect(q.expr(), func(n parser.Node, _ []parser.Node) error {
		e, is := n.(*parser.BinaryExpr)
		if !is || !e.Op.IsComparisonOperator() || e.ReturnBool {
			return nil
		}
		if n, is := literal(e.RHS); is {
			if text := stateCompared(e, n); text != "" {
				out = append(out, text)
			}
		}
		return nil
	})
	return out
}

// otherCase returns the value of a matcher that differs from a known one in case alone, and the known one; empty if there is
// none.
func otherCase(known []string, m *labels.Matcher) (value, instead string) {
	values := []string{m.Value}
	if m.Type == labels.MatchRegexp || m.Type == labels.MatchNotRegexp {
		values = m.SetMatches()
	}
	for _, value := range values[:min(len(values), 20)] {
		for _, instead := range known {
			if value != instead && strings.EqualFold(value, instead) && !slices.Contains(values, instead) {
				return value, instead
			}
		}
	}
	return "", ""
}

// stateCompared returns why a comparison of a metric of states with a number is true for healthy objects, or wrong for the count
// of its series. Empty if it may be as meant.
func stateCompared(e *parser.BinaryExpr, n float64) string {
	switch of := bare(e.LHS).(type) {
	case *parser.VectorSelector:
		state, is := states[of.Name]
		zero := n == 0 && (e.Op == parser.EQLC || e.Op == parser.LTE) || n == 1 && (e.Op == parser.NEQ || e.Op == parser.LSS)
		if is && zero && !comparesLabel(of, state.label) {
			return fmt.Sprintf("%s has a series for each %s, of which all but one are 0, and so the comparison is true for each object: add the matcher %[2]s=%q, or another one", of.Name, state.label, state.usual)
		}
	case *parser.AggregateExpr:
		selector, is := bare(of.Expr).(*parser.VectorSelector)
		if !is || of.Op != parser.COUNT {
			return ""
		}
		if state, is := states[selector.Name]; is && comparesLabel(selector, state.label) {
			return fmt.Sprintf("count counts the series of value 0, too, which %s has for each object and %s: write sum, or == 1 in it", selector.Name, state.label)
		}
	}
	return ""
}

// comparesLabel reports whether a selector has a matcher for a label.
func comparesLabel(s *parser.VectorSelector, label string) bool {
	return slices.ContainsFunc(s.LabelMatchers, func(m *labels.Matcher) bool { return m.Name == label })
}

var (
	// thousandths matches a comparison with a number of minutes, as Kubernetes writes thousandths.
	thousandths = lazyregexp.New(`[<>=]=?\s*[0-9]+m\b`)
	// cores matches names of metrics of CPUs in cores.
	cores = lazyregexp.New(`_cpu(?:_cores|_requests|_limits|_usage)?$|_cores$`)
)

// coresRemarks reports comparisons of a number of CPUs with a duration.
func coresRemarks(note says, queries []*query) {
	for _, q := range queries {
		if !thousandths.MatchString(q.text) || q.expr() == nil {
			continue
		}
		parser.Inspect(q.expr(), func(n parser.Node, _ []parser.Node) error {
			e, is := n.(*parser.BinaryExpr)
			if !is || !e.Op.IsComparisonOperator() {
				return nil
			}
			number, is := bare(e.RHS).(*parser.NumberLiteral)
			if is && number.Duration && int64(number.Val)%60 == 0 && inCores(e.LHS) {
				minutes := number.Val / 60
				note(q.path("expr"), "%vm is a duration of %v minutes, which is the number %v: for thousandths of a CPU write %v", minutes, minutes, number.Val, minutes/1000)
			}
			return nil
		})
	}
}

// inCores reports whether all metrics of an expression are numbers of CPUs.
func inCores(e parser.Expr) bool {
	selectors := parser.ExtractSelectors(e)
	return len(selectors) > 0 && !slices.ContainsFunc(selectors, func(s []*labels.Matcher) bool {
		return !cores.MatchString(nameIn(s)) && !perSecond(e, nameIn(s)) && !slices.ContainsFunc(s, func(m *labels.Matcher) bool {
			return m.Type == labels.MatchEqual && m.Name == "resource" && strings.HasSuffix(m.Value, "cpu")
		})
	})
}

// perSecond reports whether an expression has the rate of seconds of CPUs, which is a number of them.
func perSecond(e parser.Expr, name string) bool {
	text := e.String()
	return strings.HasSuffix(name, "_cpu_usage_seconds_total") && (strings.Contains(text, "rate("+name) || strings.Contains(text, "irate("+name))
}
