package lint

import "strings"

// Manifests of the tests of remarks.

func withEndpoints(items string) string {
	return "---\napiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: web, namespace: app}\nspec:\n  selector: {}\n  namespaceSelector: {any: true}\n  sampleLimit: 100\n  endpoints:\n" + items
}

func withStaticTarget(target string) string {
	return "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: web, namespace: app}\nspec:\n  staticConfigs: [{targets: ['" + target + "']}]\n"
}

const anyRule = "---\napiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: web, namespace: app}\nspec:\n  groups:\n  - name: a\n    rules:\n    - {alert: A, expr: 'absent(up{namespace=\"kube-system\"})'}\n"

func withRelabelings(steps string) string {
	return withEndpoints("  - {port: a, relabelings: [" + steps + "]}\n")
}

func withMetricRelabelings(steps string) string {
	return withEndpoints("  - {port: a, metricRelabelings: [" + steps + "]}\n")
}

const ofName = "sourceLabels: [__name__]"

var withBasicAuth = withEndpoints("  - {port: a, basicAuth: {username: {name: web, key: user}, password: {name: web, key: password}}}\n")

func withPassword(password string) string {
	return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: web, namespace: app}\nstringData:\n  user: u\n  password: " + password + "\n"
}

func withProbeTargets(targets string) string {
	return "---\napiVersion: monitoring.coreos.com/v1\nkind: Probe\nmetadata: {name: web, namespace: app}\nspec: {prober: {url: 'b:9115'}, targets: {staticConfig: {static: [" + targets + "]}}}\n"
}

func withScrapeConfig(field string) string {
	return "---\napiVersion: monitoring.coreos.com/v1alpha1\nkind: ScrapeConfig\nmetadata: {name: web, namespace: app}\nspec: {" + field + "}\n"
}

func withPodSecurity(name string) string {
	return "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: mon, labels: {pod-security.kubernetes.io/enforce: " + name + "}}\n"
}

func withSummary(summary string) string {
	return strings.Replace(anyRule, "kube-system\"})'", "kube-system\"})', annotations: {summary: '"+summary+"'}", 1)
}
