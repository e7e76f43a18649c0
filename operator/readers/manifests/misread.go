package manifests

import (
	"reflect"
	"regexp"
	"sync"
)

// ruleExpr matches the expression of a rule.
var ruleExpr = regexp.MustCompile(`^spec\.groups\[\d+\]\.rules\[\d+\]\.expr$`)

// misread are fields that are often confused with fields of another type. In an explanation for a
// number, … is replaced by the number.
var misread = sync.OnceValue(func() []misreading {
	return []misreading{
		{regexp.MustCompile(`^spec\.endpoints\[\d+\]\.port$`), reflect.Int64, "want the name of a port of the Service, got a number; write its name, or targetPort: … for a port that containers declare"},
		{regexp.MustCompile(`^spec\.podMetricsEndpoints\[\d+\]\.port$`), reflect.Int64, "want the name of a container port, got a number; write its name, or portNumber: …"},
		{ruleExpr, reflect.Map, "want PromQL as a string, got an object, because { begins one in YAML; put it in single quotes"},
		{ruleExpr, reflect.Slice, "want PromQL as a string, got a list; write one expression without a dash, and not in brackets"},
		{ruleExpr, reflect.Float64, "want PromQL as a string, got a number; put it in quotes"},
		{ruleExpr, reflect.Bool, "want PromQL as a string, got true or false; PromQL knows no truth values: a comparison such as up == 0 is true where it has a result"},
		{regexp.MustCompile(`^spec\.targets$`), reflect.Slice, "want an object, got a list; write the targets into staticConfig: {static: […]}"},
		{regexp.MustCompile(`\.[mM]atchers$|Match$`), reflect.Map, "want a list, got an object; write [{name: …, value: …, matchType: …}]"},
		{regexp.MustCompile(`(\.[mM]atchers|Match)\[\d+\]$`), reflect.String, "want an object, got a string; write {name: …, value: …, matchType: …}"},
		{regexp.MustCompile(`^spec\.namespaceSelector$`), reflect.String, "want an object, got a string; write {matchNames: […]}"},
		{regexp.MustCompile(`^spec\.namespaceSelector$`), reflect.Slice, "want an object, got a list; write {matchNames: […]}"},
		{regexp.MustCompile(`^spec\.prober$`), reflect.String, "want an object, got a string; write {url: …}"},
		{regexp.MustCompile(`^spec\.(secrets|configMaps)\[\d+\]$`), reflect.Map, "want a string, got an object; write the name alone"},
		{regexp.MustCompile(`^spec\.imagePullSecrets\[\d+\]$`), reflect.String, "want an object, got a string; write {name: …}"},
		{regexp.MustCompile(`\.additionalArgs\[\d+\]$`), reflect.String, "want an object, got a string; write {name: …, value: …}"},
		{regexp.MustCompile(`^spec\.(thanos\.)?image$`), reflect.Map, "want a string, got an object (a value of the Helm chart); write registry/repository:tag"},
		{regexp.MustCompile(`^spec\.(thanos\.)?version$`), reflect.Float64, "want a string, got a number; write all parts of the version and put it in quotes, such as 'v3.1.0'"},
		{regexp.MustCompile(`^spec\.alertmanagerConfigMatcherStrategy$`), reflect.String, "want an object, got a string; write {type: …}"},
		{regexp.MustCompile(`^spec\.alertmanagerConfiguration$`), reflect.String, "want an object, got a string; write {name: …}, the name of an AlertmanagerConfig in this namespace"},
		{regexp.MustCompile(`\.persistentVolumeClaimRetentionPolicy$`), reflect.String, "want an object, got a string; write {whenDeleted: …, whenScaled: …}"},
		{regexp.MustCompile(`[tT]emplate\.spec\.resources\.requests$`), reflect.String, "want an object, got a string; write {storage: …}"},
		{regexp.MustCompile(`\.resources\.(requests|limits)$`), reflect.String, "want an object, got a string; write {cpu: …, memory: …}"},
		{regexp.MustCompile(`\.affinity\.podAntiAffinity$`), reflect.String, "want an object, got a string (a value of the Helm chart); write {preferredDuringSchedulingIgnoredDuringExecution: […]}"},
		{regexp.MustCompile(`^spec\.rules$`), reflect.Slice, "want an object, got a list; rules are objects of their own, PrometheusRules, which ruleSelector selects"},
		{regexp.MustCompile(`\.smarthost$`), reflect.Map, "want a string, got an object; write host:port"},
		{regexp.MustCompile(`\.emailConfigs\[\d+\]\.headers$`), reflect.Map, "want a list, got an object; write [{key: …, value: …}]"},
		{regexp.MustCompile(`\.selectors\[\d+\]\.(label|field)$`), reflect.Map, "want a string, got an object; write it as on the command line of kubectl, such as app=web"},
		{regexp.MustCompile(`^spec\.configSecret$`), reflect.Map, "want the name of a Secret, got an object; its key is alertmanager.yaml"},
		{regexp.MustCompile(`^spec\.additionalScrapeConfigs$`), reflect.Slice, "want a reference to a key of a Secret, {name: …, key: …}, got a list (a value of the Helm chart): put the list into a Secret"},
	}
})

// misreading is a field with a value of another type.
type misreading struct {
	path *regexp.Regexp
	got  reflect.Kind
	says string
}
