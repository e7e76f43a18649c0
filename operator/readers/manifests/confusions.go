package manifests

import (
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// confused is a field that users borrow from another format: the chart kube-prometheus-stack, the
// configuration of Prometheus itself, or another block of this API.
type confused struct {
	in    string // the Go type that lacks the field; "" is any, [aWorkload] the spec of any workload
	field string // "*" matches every other field
	says  string
}

// aWorkload is for the types of workloadSpecs.
const aWorkload = "*"

var workloadSpecs = []string{"PrometheusSpec", "PrometheusAgentSpec", "AlertmanagerSpec", "ThanosRulerSpec"}

// confusions are matched in this order.
var confusions = []confused{
	// Selectors.
	{"LabelSelector", "matchNames", "a label selector has matchLabels and matchExpressions; namespaces by name are matchLabels of kubernetes.io/metadata.name, matchNames is for spec.namespaceSelector"},
	{"LabelSelector", "any", "a label selector that selects everything is {}; any is for spec.namespaceSelector"},
	{"LabelSelector", "*", "labels belong in matchLabels"},
	{"NamespaceSelector", "matchLabels", "namespaces are given by name here, matchNames: […] or any: true; labels of namespaces are for the …NamespaceSelector fields of the workload"},
	{"NamespaceSelector", "matchExpressions", "namespaces are given by name here, matchNames: […] or any: true; labels of namespaces are for the …NamespaceSelector fields of the workload"},
	{"NamespaceSelector", "names", "write matchNames"},

	// References to Secrets and ConfigMaps.
	{"SecretKeySelector", "existingSecret", "a value of the Helm chart; name and key of the Secret stand directly here"},
	{"SecretKeySelector", "secret", "a value of the Helm chart; name and key of the Secret stand directly here"},
	{"SecretKeySelector", "secretKeyRef", "name and key of the Secret stand directly here"},
	{"SecretKeySelector", "valueFrom", "name and key of the Secret stand directly here"},
	{"SecretKeySelector", "secretName", "write name"},
	{"SecretKeySelector", "secretKey", "write key"},
	{"SecretKeySelector", "namespace", "the Secret is always in the namespace of the object that refers to it"},
	{"SecretKeySelector", "optional", "v1beta1 has no optional keys: remove it"},
	{"SecretKeySelector", "*", "the content belongs in a Secret; write its name and the key here, {name: …, key: …}"},
	{"ConfigMapKeySelector", "namespace", "the ConfigMap is always in the namespace of the object that refers to it"},
	{"SecretOrConfigMap", "name", "say what it is: {secret: {name: …, key: …}} or {configMap: {name: …, key: …}}"},
	{"SecretOrConfigMap", "key", "say what it is: {secret: {name: …, key: …}} or {configMap: {name: …, key: …}}"},
	{"SecretVolumeSource", "name", "write secretName"}, {"ConfigMap", "stringData", "a ConfigMap has data; stringData is of Secrets"}, {"VolumeMount", "path", "write mountPath"},
	{"PersistentVolumeClaimVolumeSource", "name", "write claimName"},
	{"BasicAuth", "*", "write username and password, each as {name: …, key: …} of a Secret"},
	{"", "existingSecret", "a value of the Helm chart; the API refers to a Secret with {name: …, key: …}"},

	// Values of the chart kube-prometheus-stack in the spec of a workload.
	{"", "prometheusSpec", "a value of the Helm chart; its fields stand directly in spec"},
	{"", "alertmanagerSpec", "a value of the Helm chart; its fields stand directly in spec"},
	{"", "storageSpec", "a value of the Helm chart; the field is storage"},
	{"", "alertingEndpoints", "a value of the Helm chart; the field is alerting: {alertmanagers: […]}"},
	{"", "additionalScrapeConfigsSecret", "a value of the Helm chart; the field is additionalScrapeConfigs: {name: …, key: …}"},
	{"", "additionalConfig", "a value of the Helm chart; its fields stand directly in spec"},
	{"", "serviceMonitorSelectorNilUsesHelmValues", helmSelector},
	{"", "podMonitorSelectorNilUsesHelmValues", helmSelector},
	{"", "probeSelectorNilUsesHelmValues", helmSelector},
	{"", "scrapeConfigSelectorNilUsesHelmValues", helmSelector},
	{"", "ruleSelectorNilUsesHelmValues", helmSelector},
	{"", "additionalServiceMonitors", "a value of the Helm chart; make each of them a ServiceMonitor"},
	{"", "additionalPodMonitors", "a value of the Helm chart; make each of them a PodMonitor"},
	{"", "additionalPrometheusRules", "a value of the Helm chart; make each of them a PrometheusRule"},
	{"", "additionalPrometheusRulesMap", "a value of the Helm chart; make each of them a PrometheusRule"},
	{"", "podAntiAffinity", "in affinity of the API, and hard or soft are values of the Helm chart; write affinity: {podAntiAffinity: {…}}"},
	{aWorkload, "ingress", ownObject + "an Ingress"}, {aWorkload, "ingressPerReplica", ownObject + "an Ingress"}, {aWorkload, "thanosIngress", ownObject + "an Ingress"},
	{aWorkload, "service", ownObject + "a Service"}, {aWorkload, "servicePerReplica", ownObject + "a Service"}, {aWorkload, "thanosService", ownObject + "a Service"},
	{aWorkload, "serviceMonitor", ownObject + "a ServiceMonitor"}, {aWorkload, "thanosServiceMonitor", ownObject + "a ServiceMonitor"},
	{aWorkload, "podDisruptionBudget", ownObject + "a PodDisruptionBudget"}, {aWorkload, "networkPolicy", ownObject + "a NetworkPolicy"}, {aWorkload, "extraSecret", ownObject + "a Secret"},
	{aWorkload, "persistence", "write " + inStorage}, {aWorkload, "persistentVolume", "write " + inStorage},
	{aWorkload, "pvc", "write " + inStorage}, {aWorkload, "volumeClaimTemplate", "write " + inStorage}, {aWorkload, "volumeClaimTemplates", "write " + inStorage},
	{aWorkload, "storageClassName", "write " + classInStorage}, {aWorkload, "storageClass", "write " + classInStorage},
	{aWorkload, "extraArgs", "write additionalArgs: [{name: …, value: …}]"}, {aWorkload, "args", "write additionalArgs: [{name: …, value: …}]"},
	{aWorkload, "replicaCount", "write replicas"}, {aWorkload, "podSecurityContext", "write securityContext"}, {aWorkload, "enabled", noSwitch}, {aWorkload, "template", noTemplate},
	{"ServiceMonitorSpec", "enabled", noSwitch}, {"PodMonitorSpec", "enabled", noSwitch}, {"ProbeSpec", "enabled", noSwitch}, {"PrometheusRuleSpec", "enabled", noSwitch},
	{"AlertmanagerSpec", "env", "write " + envOf + "alertmanager" + envEnd}, {"ThanosRulerSpec", "env", "write " + envOf + "thanos-ruler" + envEnd}, {aWorkload, "env", "write " + envOf + "prometheus" + envEnd},
	{"ThanosSpec", "enabled", "the sidecar is added if there is an object here: thanos: {} is enough"},
	{"", "persistentVolumeClaim", "write volumeClaimTemplate"},
	{"StorageSpec", "resources", inClaim}, {"StorageSpec", "storageClassName", inClaim}, {"StorageSpec", "accessModes", inClaim},
	{"StorageSpec", "storageClass", inClaim + ", as storageClassName"}, {"StorageSpec", "class", inClaim + ", as storageClassName"},
	{"StorageSpec", "size", sizeOfClaim}, {"EmbeddedPersistentVolumeClaim", "size", sizeOfClaim}, {"PersistentVolumeClaimSpec", "size", sizeOfClaim},
	{"ResourceRequirements", "*", "write it below requests or limits"},
	{"VolumeResourceRequirements", "*", "write it below requests"},
	{"PodSecurityContext", "readOnlyRootFilesystem", ofContainers}, {"PodSecurityContext", "allowPrivilegeEscalation", ofContainers},
	{"PodSecurityContext", "privileged", ofContainers}, {"PodSecurityContext", "capabilities", ofContainers},
	{"", "serviceAccount", "write serviceAccountName"},
	{"", "existingClaim", "mount an existing volume claim with spec.volumes; storage makes one for each pod from volumeClaimTemplate"},

	// Alertmanager.
	{"AlertmanagerSpec", "config", "a value of the Helm chart; put it into a Secret, under the key alertmanager.yaml, and its name into configSecret, or write an AlertmanagerConfig"},
	{"AlertmanagerConfigSpec", "global", "global settings are those of the Alertmanager: its spec.alertmanagerConfiguration.global"},
	{"AlertmanagerConfigSpec", "templates", "templates are those of the Alertmanager: its spec.alertmanagerConfiguration.templates"},
	{"AlertmanagerConfigSpec", "muteTimeIntervals", "v1beta1 calls them timeIntervals"},
	{"AlertmanagerConfigSpec", "timeIntervals", "v1alpha1 calls them muteTimeIntervals"},
	{"TimeInterval", "location", inUTC}, {"TimePeriod", "location", inUTC},
	{"Route", "timeIntervals", besideRoute}, {"Route", "time_intervals", besideRoute},
	{"InhibitRule", "source_match", asMatchers + "sourceMatch" + ofMatchers}, {"InhibitRule", "source_match_re", asMatchers + "sourceMatch" + ofMatchers}, {"InhibitRule", "sourceMatchRE", asMatchers + "sourceMatch" + ofMatchers},
	{"InhibitRule", "source_matchers", asMatchers + "sourceMatch" + ofMatchers}, {"InhibitRule", "sourceMatchers", asMatchers + "sourceMatch" + ofMatchers},
	{"InhibitRule", "target_match", asMatchers + "targetMatch" + ofMatchers}, {"InhibitRule", "target_match_re", asMatchers + "targetMatch" + ofMatchers}, {"InhibitRule", "targetMatchRE", asMatchers + "targetMatch" + ofMatchers},
	{"InhibitRule", "target_matchers", asMatchers + "targetMatch" + ofMatchers}, {"InhibitRule", "targetMatchers", asMatchers + "targetMatch" + ofMatchers},
	{"AlertmanagerConfigSpec", "routes", "write route, and routes inside of it"},
	{"SlackConfig", "webhookUrl", inAPIURL}, {"SlackConfig", "webhookURL", inAPIURL}, {"SlackConfig", "webhook_url", inAPIURL},
	{"DiscordConfig", "webhookUrl", inAPIURL}, {"DiscordConfig", "webhookURL", inAPIURL}, {"DiscordConfig", "webhook_url", inAPIURL},
	{"ThanosRulerSpec", "evalInterval", "write evaluationInterval"}, {"ThanosRulerSpec", "eval_interval", "write evaluationInterval"},
	{"AlertmanagerEndpoints", "url", "the API names a Service: {namespace: …, name: …, port: …}"},
	{"AlertmanagerEndpoints", "static_configs", "the API names a Service: {namespace: …, name: …, port: …}"},
	{"Route", "match", "write matchers: [{name: …, value: …, matchType: …}]"},
	{"Matcher", "regex", "write matchType: =~"},
	{"Route", "matchRe", "write matchers: [{name: …, value: …, matchType: =~}]"}, {"Route", "match_re", "write matchers: [{name: …, value: …, matchType: =~}]"},

	{"SlackConfig", "message", "write text"}, {"SlackField", "name", "write title"}, {"SlackField", "text", "write value"},
	{"EmailConfig", "username", "write authUsername"}, {"EmailConfig", "password", "write authPassword: {name: …, key: …}, with the password in a Secret"},
	{"EmailConfig", "smtp_smarthost", "write smarthost"}, {"EmailConfig", "smtpSmarthost", "write smarthost"}, {"EmailConfig", "host", "write smarthost"}, {"EmailConfig", "server", "write smarthost"},
	{"EmailConfig", "smtp_from", "write from"}, {"EmailConfig", "smtp_auth_username", "write authUsername"}, {"EmailConfig", "smtp_require_tls", "write requireTLS"},
	{"EmailConfig", "smtp_auth_password", "write authPassword: {name: …, key: …}, with the password in a Secret"},
	{"WebexConfig", "botToken", "write httpConfig, and in it " + inAuthorization}, {"WebexConfig", "bot_token", "write httpConfig, and in it " + inAuthorization},
	{"Receiver", "jiraConfigs", inFileOnly}, {"Receiver", "jira_configs", inFileOnly}, {"Receiver", "incidentioConfigs", inFileOnly}, {"Receiver", "incidentio_configs", inFileOnly},
	{"Receiver", "mattermostConfigs", inFileOnly}, {"Receiver", "mattermost_configs", inFileOnly},
	{"Receiver", "googleChatConfigs", byWebhook}, {"Receiver", "googlechatConfigs", byWebhook}, {"Receiver", "zulipConfigs", byWebhook}, {"Receiver", "matrixConfigs", byWebhook}, {"Receiver", "ntfyConfigs", byWebhook},

	// The configuration of Prometheus itself.
	{"PrometheusSpec", "scrapeClass", classOfMonitors}, {"PrometheusAgentSpec", "scrapeClass", classOfMonitors},
	{"PrometheusSpec", "mode", "a field of PrometheusAgent, not of Prometheus"},
	{"PrometheusSpec", "global", ofFile + "scrapeInterval, scrapeTimeout, evaluationInterval and externalLabels stand directly in spec"},
	{"PrometheusSpec", "scrape_configs", ofFile + "write ServiceMonitors, PodMonitors or ScrapeConfigs, or put the list into a Secret for additionalScrapeConfigs"},
	{"PrometheusSpec", "scrapeConfigs", "write ServiceMonitors, PodMonitors or ScrapeConfigs, or put the list into a Secret for additionalScrapeConfigs"},
	{"PrometheusSpec", "rule_files", ofFile + "write PrometheusRules, which ruleSelector selects"},
	{"PrometheusSpec", "ruleFiles", "write PrometheusRules, which ruleSelector selects"},
	{"PrometheusSpec", "alertmanager", "write alerting: {alertmanagers: [{namespace: …, name: …, port: …}]}"},
	{"Rules", "groups", "rules are objects of their own, PrometheusRules, which ruleSelector selects"},
	{"PrometheusSpec", "alertingRules", "write PrometheusRules, which ruleSelector selects"},
	{"PrometheusRuleSpec", "name", "rules are in groups, which have names: groups: [{name: …, rules: […]}]"},
	{"RuleGroup", "alerts", "write rules"}, {"RuleGroup", "alertRules", "write rules"},
	{"PodMonitorSpec", "endpoints", "a PodMonitor calls them podMetricsEndpoints"},
	{"ServiceMonitorSpec", "podMetricsEndpoints", "a ServiceMonitor calls them endpoints"},
	{"Endpoint", "name", "write port, with the name of a port of the Service"}, {"PodMetricsEndpoint", "name", "write port, with the name of a port of a container"},
	{"Endpoint", "labels", labelOfTargets}, {"PodMetricsEndpoint", "labels", labelOfTargets},
	{"Endpoint", "targets", ownTargets}, {"Endpoint", "static_configs", ownTargets}, {"Endpoint", "staticConfigs", ownTargets},
	{"PodMetricsEndpoint", "targets", ownTargets}, {"PodMetricsEndpoint", "static_configs", ownTargets}, {"PodMetricsEndpoint", "staticConfigs", ownTargets},
	{"RelabelConfig", "value", "write replacement"},
	{"RuleGroup", "evaluation_interval", "write interval"}, {"RuleGroup", "evaluationInterval", "write interval"},
	{"Endpoint", "tls", "write tlsConfig"}, {"PodMetricsEndpoint", "tls", "write tlsConfig"},
	{"SafeTLSConfig", "caFile", noFile + "ca: {secret: {name: …, key: …}}"},
	{"SafeTLSConfig", "certFile", noFile + "cert: {secret: {name: …, key: …}}"},
	{"SafeTLSConfig", "keyFile", noFile + "keySecret: {name: …, key: …}"},
	{"SafeTLSConfig", "insecure", "write insecureSkipVerify"}, {"SafeTLSConfig", "skipVerify", "write insecureSkipVerify"}, {"SafeTLSConfig", "insecureSkipTLSVerify", "write insecureSkipVerify"},
	{"TLSConfig", "insecure", "write insecureSkipVerify"}, {"TLSConfig", "skipVerify", "write insecureSkipVerify"}, {"TLSConfig", "insecureSkipTLSVerify", "write insecureSkipVerify"},
	{"SafeAuthorization", "credentialsFile", noFile + "credentials: {name: …, key: …}"},
	{"", "bearerTokenFile", noFile + "authorization: {credentials: {name: …, key: …}}"},
	{"ProbeTargetStaticConfig", "targets", "write static"},
	{"ProbeSpec", "proberSpec", "write prober"}, {"ProberSpec", "address", "write url"}, {"ProberSpec", "host", "write url"}, {"ProberSpec", "port", "the port is a part of url: host:port"},
	{"ProbeSpec", "scrapeInterval", "write interval"}, {"ProbeSpec", "scrape_interval", "write interval"}, {"ProbeSpec", "timeout", "write scrapeTimeout"},
	{"ProbeSpec", "relabelings", "write relabelingConfigs in targets.staticConfig or targets.ingress"},
	{"ProbeSpec", "url", "write prober.url for the exporter, and targets.staticConfig.static for what it asks"},
	{"Endpoint", "metrics_path", "write path"}, {"Endpoint", "metricsPath", "write path"},
	{"Endpoint", "scrape_interval", "write interval"}, {"Endpoint", "scrapeInterval", "write interval"},
	{"Endpoint", "timeout", "write scrapeTimeout"},
	{"Endpoint", "bearerToken", "the value itself cannot stand here; write authorization: {credentials: {name: …, key: …}}"},
	{"PodMetricsEndpoint", "metrics_path", "write path"}, {"PodMetricsEndpoint", "metricsPath", "write path"},
	{"PodMetricsEndpoint", "scrape_interval", "write interval"}, {"PodMetricsEndpoint", "scrapeInterval", "write interval"},
	{"PodMetricsEndpoint", "timeout", "write scrapeTimeout"},
	{"ScrapeConfigSpec", "port", "the port is a part of each target: staticConfigs: [{targets: [host:port]}]"},
	{"ScrapeConfigSpec", "interval", "write scrapeInterval"}, {"ScrapeConfigSpec", "path", "write metricsPath"},
	{"ProbeTargetStaticConfig", "relabelConfigs", inProbes}, {"ProbeTargetStaticConfig", "relabel_configs", inProbes}, {"ProbeTargetStaticConfig", "relabelings", inProbes},
	{"ProbeTargetIngress", "relabelConfigs", inProbes}, {"ProbeTargetIngress", "relabel_configs", inProbes}, {"ProbeTargetIngress", "relabelings", inProbes},
	{"", "relabelConfigs", "write relabelings"}, {"", "relabel_configs", "write relabelings"}, {"", "relabeling", "write relabelings"},
	{"", "metricRelabelConfigs", "write metricRelabelings"}, {"", "metric_relabel_configs", "write metricRelabelings"},
	{"", "metricsRelabelings", "write metricRelabelings"}, {"", "metricRelabeling", "write metricRelabelings"},
	{"Rule", "severity", "it is a label: labels: {severity: …}"},
	{"Rule", "summary", "it is an annotation: annotations: {summary: …}"},
	{"Rule", "description", "it is an annotation: annotations: {description: …}"},
	{"Rule", "message", "it is an annotation: annotations: {message: …}"},
	{"Rule", "name", "write alert, or record for a recording rule"},
	{"Rule", "duration", "write for"},
	{"Rule", "query", "write expr"}, {"Rule", "expression", "write expr"}, {"Rule", "condition", "write expr"},
	{"Rule", "alertname", "write alert"}, {"Rule", "title", "write alert"},
	{"Endpoint", "containerPort", "write targetPort"}, {"Endpoint", "portNumber", "write targetPort"},
	{"SafeAuthorization", "token", "write credentials"}, {"Authorization", "token", "write credentials"}, {"SafeAuthorization", "bearerToken", "write credentials"}, {"Authorization", "bearerToken", "write credentials"},
	{"K8SSelectorConfig", "matchLabels", "write label, as on the command line of kubectl: label: app=web"},
	{"", "bearerToken", "the value itself cannot stand here; write " + inAuthorization},
	{"PodMetricsEndpoint", "containerPort", "write portNumber"},
}

const (
	noSwitch        = "a value of the Helm chart, which the API does not have: remove it"
	noTemplate      = "the operator writes the pods: labels and annotations of them are in podMetadata, and containers, volumes and the like stand directly in spec"
	inAuthorization = "authorization: {credentials: {name: …, key: …}}, with the token in a Secret"
	inFileOnly      = "an AlertmanagerConfig cannot have it; write this receiver and its route into the configuration of the Alertmanager, the Secret of its configSecret"
	byWebhook       = "Alertmanager has no such receiver; write webhookConfigs with the address of a program that forwards to it"
	labelOfTargets  = "a label of all targets is a step: relabelings: [{targetLabel: …, replacement: …}]"
	ownTargets      = "targets are those of the selected objects; addresses belong in a ScrapeConfig, as staticConfigs: [{targets: […]}]"
	classOfMonitors = "the classes are defined here as scrapeClasses: [{name: …}], and default: true of one of them makes all monitors use it; scrapeClass is the field of a monitor that names another one"
	besideRoute     = "time intervals are defined beside route, as spec.muteTimeIntervals in v1alpha1 and spec.timeIntervals in v1beta1; a route names them in muteTimeIntervals or activeTimeIntervals"
	asMatchers      = "write "
	ofMatchers      = ": [{name: …, value: …, matchType: …}]"
	inProbes        = "write relabelingConfigs"
	inAPIURL        = "write apiURL: {name: …, key: …}, with the URL in a Secret"
	inUTC           = "times are in UTC here; convert them, or write the intervals with location into the configuration of the Alertmanager, the Secret of its configSecret"
	inStorage       = "storage: {volumeClaimTemplate: {spec: {resources: {requests: {storage: …}}}}}"
	classInStorage  = "storage: {volumeClaimTemplate: {spec: {storageClassName: …, resources: …}}}"
	envOf, envEnd   = "containers: [{name: ", ", env: […]}], which adds to the container of the operator"
)

const (
	inClaim      = "it belongs to volumeClaimTemplate.spec"
	sizeOfClaim  = "write volumeClaimTemplate: {spec: {resources: {requests: {storage: …}}}}"
	ofContainers = "a setting of containers, not of the pod: write it as securityContext of an item of containers"
	noFile       = "objects of this kind cannot refer to files in the pods of the workload; write "
)

const ownObject = "a value of the Helm chart, which makes an object of its own of it: write "

const ofFile = "of the configuration of Prometheus, which the operator writes; "

const helmSelector = "a value of the Helm chart; leave it out and set the selector itself, {} selects all"

var listIndex = lazyregexp.New(`\[\d+\]`)

// confusion returns an explanation for a commonly confused field; empty if there is none.
func confusion(kind string, f *manifest.FieldError) string {
	parent, name := parentOf(f.Path)
	if strings.ContainsFunc(name, unseen) {
		return unseenWords
	}
	if strings.HasPrefix(name, "–") || strings.HasPrefix(name, "—") {
		return "it begins with a typographic dash, often after a copy from a page or a chat; an item of a list begins with -"
	}
	if _, around := parentOf(parent); around == name && isBlock(f.Value) {
		return nestedTwice
	}
	for _, c := range confusions {
		any := c.field == "*" && f.Suggestion == "" && (f.Elsewhere == "" || !isBlock(f.Value))
		if (c.in == "" || c.in == f.Type.Name() || c.in == aWorkload && slices.Contains(workloadSpecs, f.Type.Name())) && (c.field == name || any) {
			return c.says
		}
	}
	if parent == "spec" && slices.Contains([]string{"labels", "annotations", "name", "namespace"}, name) {
		return "it belongs to metadata"
	}
	if f.Suggestion == "" && f.Elsewhere == "" && parent == "spec" {
		return sisters(kind, name)
	}
	return ""
}

// nestedTwice is about a block that is inside a block of the same name.
const nestedTwice = "it is in itself: remove one of the two lines, and move what is below it to the left"

const unseenWords = "there is a character in it that looks like a blank and is none, often after a copy from a page or a chat: type the line again"

// unseen reports whether a character is invisible and has no meaning in YAML.
func unseen(r rune) bool {
	return r > unicode.MaxASCII && (unicode.IsSpace(r) || unicode.Is(unicode.Cf, r))
}

// isBlock reports whether a value is an object or a list, which is then at the wrong level.
func isBlock(value any) bool {
	_, object := value.(map[string]any)
	_, list := value.([]any)
	return object || list
}

// sisters names the other kinds that have a field in their spec.
func sisters(kind, name string) string {
	var have []string
	for _, row := range catalog.All {
		spec, _ := reflect.TypeOf(row.New()).Elem().FieldByName("Spec")
		if row.Kind != kind && spec.Type != nil && manifest.HasField(spec.Type, name) && !strings.Contains(strings.Join(have, " "), row.Kind) {
			have = append(have, row.Kind)
		}
	}
	switch {
	case kind == catalog.PrometheusAgent.Kind && slices.Contains(have, catalog.Prometheus.Kind):
		return "only a Prometheus has it; an agent stores nothing, evaluates no rules and sends no alerts"
	case len(have) == 0 || len(have) > 2:
		return ""
	}
	return "a field of " + strings.Join(have, " and ") + ", not of " + kind
}

// parentOf splits off the last field of a path, ignoring list indexes.
func parentOf(path string) (parent, name string) {
	path = listIndex.ReplaceAllString(path, "")
	if head, quoted, is := strings.Cut(path, `["`); is {
		return head, strings.TrimSuffix(quoted, `"]`)
	}
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return path[:i], path[i+1:]
	}
	return "", path
}
