// Package convert makes PrometheusRules of rules that are not in objects: rule files of Prometheus, and ConfigMaps that
// contain them.
//
//	for _, made := range convert.Rules("rules.yml", text, convert.Options{Namespace: "demo"}) {
//		os.Stdout.Write(made.YAML)
//	}
//
// Comments and anchors of the rules are kept.
package convert
