package manifests

import (
	"reflect"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
)

// ruleExpr matches the expression of a rule.
var ruleExpr = lazyregexp.New(`^spec\.groups\[\d+\]\.rules\[\d+\]\.expr$`)

// misread are fields that are often confused with fields of another type. In an explanation for a
// number, … is replaced by the number.
var misread = []misreading{
	{lazyregexp.New(`^spec\.endpoints\[\d+\]\.port$`), reflect.Int64, "want the name of a port of the Service, got a number; write its name, or targetPort: … for a port that containers declare"},
	{lazyregexp.New(`^spec\.podMetricsEndpoints\[\d+\]\.port$`), reflect.Int64, "want the name of a container port, got a number; write its name, or portNumber: …"},
	{ruleExpr, reflect.Map, "want PromQL as a string, got an object, because { begins one in YAML; put it in single quotes"},
	{ruleExpr, reflect.Slice, "want PromQL as a string, got a list; write one expression without a dash, and not in brackets"},
	{ruleExpr, reflect.Float64, "want PromQL as a string, got a number; put it in quotes"},
	{ruleExpr, reflect.Bool, "want PromQL as a string, got true or false; PromQL knows no truth values: a comparison such as up == 0 is true where it has a result"},
	{lazyregexp.New(`^spec\.targets$`), reflect.Slice, "want an object, got a list; write the targets into staticConfig: {static: […]}"},
	{lazyregexp.New(`\.[mM]atchers$|Match$`), reflect.Map, "want a list, got an object; write [{name: …, value: …, matchType: …}]"},
	{lazyregexp.New(`(\.[mM]atchers|Match)\[\d+\]$`), reflect.String, "want an object, got a string; write {name: …, value: …, matchType: …}"},
	{lazyregexp.New(`^spec\.namespaceSelector$`), reflect.String, "want an object, got a string; write {matchNames: […]}"},
	{lazyregexp.New(`^spec\.namespaceSelector$`), reflect.Slice, "want an object, got a list; write {matchNames: […]}"},
	{lazyregexp.New(`^spec\.prober$`), reflect.String, "want an object, got a string; write {url: …}"},
	{lazyregexp.New(`^spec\.(secrets|configMaps)\[\d+\]$`), reflect.Map, "want a string, got an object; write the name alone"},
	{lazyregexp.New(`^spec\.imagePullSecrets\[\d+\]$`), reflect.String, "want an object, got a string; write {name: …}"},
	{lazyregexp.New(`\.additionalArgs\[\d+\]$`), reflect.String, "want an object, got a string; write {name: …, value: …}"},
	{lazyregexp.New(`^spec\.(thanos\.)?image$`), reflect.Map, "want a string, got an object (a value of the Helm chart); write registry/repository:tag"},
	{lazyregexp.New(`^spec\.(thanos\.)?version$`), reflect.Float64, "want a string, got a number; write all parts of the version and put it in quotes, such as 'v3.1.0'"},
	{lazyregexp.New(`^spec\.alertmanagerConfigMatcherStrategy$`), reflect.String, "want an object, got a string; write {type: …}"},
	{lazyregexp.New(`^spec\.alertmanagerConfiguration$`), reflect.String, "want an object, got a string; write {name: …}, the name of an AlertmanagerConfig in this namespace"},
	{lazyregexp.New(`\.persistentVolumeClaimRetentionPolicy$`), reflect.String, "want an object, got a string; write {whenDeleted: …, whenScaled: …}"},
	{lazyregexp.New(`^spec\.storage$`), reflect.String, "want an object, got a string; write {volumeClaimTemplate: {spec: {resources: {requests: {storage: …}}}}}"},
	{lazyregexp.New(`\.daysOfMonth\[\d+\]$`), reflect.String, "want an object, got a string; write {start: …, end: …}"},
	{lazyregexp.New(`\.daysOfMonth\[\d+\]$`), reflect.Int64, "want an object, got a number; write {start: …, end: …}"},
	{lazyregexp.New(`[tT]emplate\.spec\.resources\.requests$`), reflect.String, "want an object, got a string; write {storage: …}"},
	{lazyregexp.New(`\.resources\.(requests|limits)$`), reflect.String, "want an object, got a string; write {cpu: …, memory: …}"},
	{lazyregexp.New(`\.affinity\.podAntiAffinity$`), reflect.String, "want an object, got a string (a value of the Helm chart); write {preferredDuringSchedulingIgnoredDuringExecution: […]}"},
	{lazyregexp.New(`\.nodeAffinity\.requiredDuringSchedulingIgnoredDuringExecution$`), reflect.Slice, "want an object, got a list; write {nodeSelectorTerms: […]}"},
	{lazyregexp.New(`^spec\.rules$`), reflect.Slice, "want an object, got a list; rules are objects of their own, PrometheusRules, which ruleSelector selects"},
	{lazyregexp.New(`\.(min|max)Version$`), reflect.Float64, "want TLS10, TLS11, TLS12 or TLS13, got a number"},
	{lazyregexp.New(`\.smartHost$`), reflect.String, "want an object, got a string; write {host: …, port: …}"},
	{lazyregexp.New(`\.staticConfigs\[\d+\]$`), reflect.String, "want an object, got a string; write {targets: [host:port]}"},
	{lazyregexp.New(`\.smarthost$`), reflect.Map, "want a string, got an object; write host:port"},
	{lazyregexp.New(`\.emailConfigs\[\d+\]\.headers$`), reflect.Map, "want a list, got an object; write [{key: …, value: …}]"},
	{lazyregexp.New(`\.selectors\[\d+\]\.(label|field)$`), reflect.Map, "want a string, got an object; write it as on the command line of kubectl, such as app=web"},
	{lazyregexp.New(`\.webhookConfigs\[\d+\]\.url$`), reflect.Map, "want a string, got an object; with the URL in a Secret write urlSecret: {name: …, key: …}"},
	{lazyregexp.New(`^spec\.params$`), reflect.Map, "want a list, got an object; write [{name: …, values: […]}], and the module of a prober as module"}, // of a Probe
	{lazyregexp.New(`^spec\.selector\.matchLabels$`), reflect.Map, "want a string, got an object; a Service selects by the labels themselves: write them directly below selector"},
	{lazyregexp.New(`\.volumes\[\d+\]\.configMap$`), reflect.String, "want an object, got a string; write {name: …}"},
	{lazyregexp.New(`\.volumes\[\d+\]\.secret$`), reflect.String, "want an object, got a string; write {secretName: …}"},
	{lazyregexp.New(`^spec\.configSecret$`), reflect.Map, "want the name of a Secret, got an object; its key is alertmanager.yaml"},
	{lazyregexp.New(`^spec\.additionalScrapeConfigs$`), reflect.Slice, "want a reference to a key of a Secret, {name: …, key: …}, got a list (a value of the Helm chart): put the list into a Secret"},
}

// misreading is a field with a value of another type.
type misreading struct {
	path *lazyregexp.Regexp
	got  reflect.Kind
	says string
}
