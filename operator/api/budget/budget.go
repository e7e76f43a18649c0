// Package budget defines the limits on the cost of a single user object: bytes, elements, generated text, regular
// expressions, compared names. Code whose work grows with user input takes its limit from here, and docs/security.md
// contains the table.
//
//	if err := budget.Check("ServiceMonitor", raw); err != nil { // before it is decoded
//		return err // spec.endpoints: has more than 2500 elements, the limit of one ServiceMonitor
//	}
//
// The limits are far above real objects. Together they keep a process with a memory limit of a few hundred megabytes
// alive, whatever objects are stored.
package budget

import "github.com/firekeeper-dev/firekeeper/internal/faults"

// Limits on the size of an object.
const (
	// StoredBytes is the maximum size of an object as JSON. API servers do not store larger ones.
	StoredBytes = 3 << 19
	// DecodedBytes is the maximum memory of a decoded object: an empty element of two bytes becomes a struct of
	// hundreds.
	DecodedBytes = 4 << 20
	// Endpoints is the maximum number of endpoints of a ServiceMonitor or PodMonitor. Each becomes a job.
	Endpoints = 2_500
	// Namespaces is the maximum number of namespaces in which the jobs of an object discover Kubernetes objects. Prometheus has
	// up to three watches for each, of about 60 kB each and as much in the API server.
	Namespaces = 1_000
	// KubernetesDiscoveries is the maximum number of entries of kubernetesSDConfigs of a ScrapeConfig. Without namespaces, each
	// that differs from the others keeps all pods of the cluster.
	KubernetesDiscoveries = 50
	// Discoveries is the maximum number of entries of all service discoveries of a ScrapeConfig, without staticConfigs. Prometheus
	// compares each with all others when it loads its configuration, which takes more than a minute with 20,000, and has a client
	// for each.
	Discoveries = 500
	// DNSNames is the maximum number of names in all dnsSDConfigs of a ScrapeConfig. Prometheus looks all of them up at the same
	// time, each with a socket of its own.
	DNSNames = 1_000
	// StaticTargets is the maximum number of static targets of an object. Prometheus needs 30 kB for each, also beyond a
	// target_limit and if it does not exist.
	StaticTargets = 10_000
	// StaticLabels is the maximum number of labels of static targets. For each target, Prometheus compares each of them with the
	// others.
	StaticLabels = 1_000
	// Groups is the maximum number of groups of a PrometheusRule.
	Groups = 10_000
	// Rules is the maximum number of rules of a PrometheusRule, in all groups.
	Rules = 20_000
	// Evaluations is the maximum number of rules of a PrometheusRule that are evaluated in a second, of the groups that set an
	// interval. With 10,000 groups of one rule, every 100 ms, Prometheus took 100 MB more each second.
	Evaluations = 2_000
	// Receivers is the maximum number of receivers of an AlertmanagerConfig.
	Receivers = 2_500
	// Routes is the maximum number of routes of an AlertmanagerConfig, on all levels.
	Routes = 5_000
	// GroupLabels is the maximum number of labels in groupBy of a route. Alertmanager has room for all of them in each group of
	// alerts, also on routes below, which inherit them: 60 bytes each.
	GroupLabels = 100
	// IntervalRanges is the maximum number of ranges of times, weekdays and so on in all time intervals that a route refers to.
	// Alertmanager compares the time with them before each notification of each group of alerts.
	IntervalRanges = 5_000
	// Integrations is the maximum number of integrations of all receivers of an AlertmanagerConfig. Each has a client of its own,
	// with the templates, of 4 kB, and twice of that while the configuration is loaded.
	Integrations = 5_000
	// RouteDepth is the maximum depth of a routing tree, which is the recursion depth of programs that walk it.
	RouteDepth = 64
	// Notifications is the maximum number of integrations that one alert reaches through the routes of an
	// AlertmanagerConfig. Alertmanager notifies all of them at the same time, each with a copy of the alerts. A route without
	// integrations counts as one: it has a group of alerts, of 8 kB.
	Notifications = 500
	// InhibitRules is the maximum number of inhibition rules of an AlertmanagerConfig. Alertmanager keeps each alert of the
	// namespace for each of them, before it takes the next one: a thousand alerts take 3 s with 500, and more than 20 s with
	// 2,000.
	InhibitRules = 500
	// InhibitLabels is the maximum number of matchers and labels of all inhibition rules of an AlertmanagerConfig.
	InhibitLabels = 10_000
	// Mounts is the maximum number of Secrets, and of ConfigMaps, that a workload mounts by name. Each becomes a volume of
	// half a kilobyte for every three bytes of its name; a StatefulSet with a tenth more is larger than API servers store.
	Mounts = 2_500
	// Containers is the maximum number of containers of a workload object.
	Containers = 100
	// Patches is the maximum number of containers of a workload object that patch the same container of the pods. Each is
	// merged with what the others have made of it.
	Patches = 10
	// ContainerItems is the maximum number of environment variables, of ports, of mounts and of devices in all containers
	// of a workload object. Kubernetes' code compares each of them with all others when it patches a container.
	ContainerItems = 1_000
	// ShardBytes is the maximum memory of the StatefulSets of all shards, which a reconciliation plans together. Usual ones
	// have 20 kB.
	ShardBytes = 64 << 20
	// RelabelSteps is the maximum number of relabelings of an object, in all lists.
	RelabelSteps = 20_000
)

// Limits shared by the objects of all namespaces.
const (
	// RuleConfigMaps is the maximum number of rule ConfigMaps of a workload. Every pod mounts all of them.
	RuleConfigMaps = 100
)

// Memory shared by objects, as a fraction of the memory limit of the process: 5 is a fifth. The rest is for processing
// and for the state of each workload.
const (
	// StoredShare limits all cached user objects together with their compiled form. A reconciliation may hold the same
	// amount again, because it keeps the objects it started with.
	StoredShare = 5
	// HeldShare limits the compiled objects that reconciliations keep for the next one of the same workload. Workloads
	// that do not fit are compiled from scratch each time.
	HeldShare = 12
	// ReferredShare limits the cached contents of Secrets and ConfigMaps. Contents that do not fit are read again on
	// use.
	ReferredShare = 10
)

// SelectionBytes is the memory of one selected object in the caches of its workload, without its fragment.
const SelectionBytes = 256

// Limits on generated text.
const (
	// GeneratedBytes is the maximum size of the configuration that one object generates. Values of Secrets, fields
	// shared by endpoints and the indentation of deep routes multiply.
	GeneratedBytes = 4 << 20
	// RuleFileBytes is the maximum size of the rule file of one object and of the data of one rule ConfigMap: half the
	// capacity of a ConfigMap.
	RuleFileBytes = 512 << 10
	// ValueBytes is the maximum total size of the Secret and ConfigMap values that one object uses, counted for each
	// use. A hundred endpoints with a CA bundle each use a third of it; ten thousand references to one large Secret
	// exceed it.
	ValueBytes = 64 << 20
	// ReferredBytes is the maximum total size of the Secrets and ConfigMaps that one object refers to. They are in
	// memory together while it is compiled.
	ReferredBytes = 32 << 20
	// TLSFileBytes is the maximum size of a certificate, key or CA bundle that pods get as a file. A bundle of all
	// public CAs is slightly smaller. Pods mount a fixed number of Secrets for the files of all objects, so a single
	// object must not use them up.
	TLSFileBytes = 256 << 10
	// AliasBytes is the maximum expanded size of the aliases of one YAML document. A few hundred kilobytes of text
	// could expand to gigabytes, because YAML parsers limit the number of aliases and not their size.
	AliasBytes = 4 << 20
	// GroupBytes is the maximum size of the labels of all targets of one object that is discovered: an EndpointSlice has
	// those of a pod once for each port of the service. It is sufficient for 1,000 pods with ten ports each.
	GroupBytes = 64 << 20
	// StaticBytes is the maximum size of the labels of all static targets of an object. The object has those of many targets once,
	// Prometheus has them for each.
	StaticBytes = 64 << 20
	// URLBytes is the maximum length of a URL of a receiver.
	URLBytes = 16 << 10
)

// Limits on the work for an object.
const (
	// RegexpCost is the maximum compiled size of the regular expressions of one object, in instructions and character
	// ranges. It is sufficient for a list of 20,000 names.
	RegexpCost = 500_000
	// RegexpOperators is the maximum number of operators and classes of a regular expression, checked before it is
	// parsed. Each becomes a node of about 200 bytes, so parsing takes at most 20 MB. A list of 10,000 addresses with
	// unescaped dots is within the limit.
	RegexpOperators = 50_000
	// MatcherWork is the maximum work for a character of an alert's label in all matchers of an AlertmanagerConfig: about 5 ms
	// for an alert whose labels have 30 characters. Alertmanager compares each alert of all namespaces with them, one after
	// another. A matcher of a list of names counts one, .* before a name its length.
	MatcherWork = 10_000
	// RelabelWork is the maximum work for a character of a label in all relabelings of an object: about 0.4 s for a target with an
	// annotation of 1 kB, and 100 s for the longest annotation that Kubernetes stores. The largest monitors of
	// kube-prometheus have 300.
	RelabelWork = 20_000
	// RuleRegexpCost is like RegexpCost, for the expressions of a PrometheusRule: about 16 MB and less than 0.1 s. The
	// names of all jobs of a large cluster, in every expression that has room for them, use half of it.
	RuleRegexpCost = 2 << 20
	// ExpressionEffort limits the time for which the expressions of one PrometheusRule block a worker to about a
	// second. In Prometheus' parser, type checking and printing cost the depth of the tree times the length of the
	// text. A sum of 200,000 numbers, which fits into an object, takes minutes. A very large realistic expression, a
	// thousand tokens in 10 kB, uses a hundredth of the limit.
	ExpressionEffort = 1 << 30
	// MatchSteps limits the cost of the relabelings of a job for one target: the size of the regular expression times
	// the length of the matched value in bytes. A step that reads every label costs the square of their number more.
	MatchSteps = 50_000_000
	// JobMatchSteps limits the same cost for all targets of a job in one evaluation.
	JobMatchSteps = 4_000_000_000
	// LabelBytes is the maximum size of the text that a traced relabeling reads or produces.
	LabelBytes = 1 << 20
	// LabelGrowth is the maximum factor by which a list of relabelings may enlarge the labels of a target. A labelmap can
	// double them: ten of them that may read each other's labels reach the limit.
	LabelGrowth = 1 << 10
	// SeriesGrowth is the maximum factor by which label_join and label_replace in an expression may enlarge the labels of a
	// series. A label that is joined from a few others counts as many.
	SeriesGrowth = 1 << 8
	// IntervalMillis is the least interval of scrapes, evaluations, notifications and refreshes of targets, in milliseconds.
	// At 1 ms, one object occupies a server that many share. See [CheckInterval].
	IntervalMillis = 100
	// TemplateBytes is the maximum length of the output of a template of an AlertmanagerConfig, in addition to
	// TemplateGrowth.
	TemplateBytes = 16 << 20
	// TemplatesBytes is the maximum length of the output of all templates of an AlertmanagerConfig, about an alert with
	// one label.
	TemplatesBytes = 64 << 20
	// AlertTemplateBytes is the same for a label or annotation of an alert, which Prometheus keeps for each active alert.
	AlertTemplateBytes = 1 << 20
	// TemplateGrowth limits the output of one template to a multiple of the memory of the alerts that it is about. A mail
	// that lists all labels and annotations, in HTML, has half of it at most.
	TemplateGrowth = 32
	// ReceiverGrowth is the same for all templates of a receiver.
	ReceiverGrowth = 256
	// TemplateBlocks is the maximum number of blocks and variables of a template. Parsers and Alertmanager need more than a
	// kilobyte of stack for each level of blocks, and compare each use of a variable with all of them.
	TemplateBlocks = 1_000
	// TemplateNodes limits the time to find out what the templates of an object may cost, to about a second.
	TemplateNodes = 4_000_000
	// ComparedBytes is the maximum length of names that are compared for suggestions. No Kubernetes name is longer.
	ComparedBytes = 256
	// ComparedPairs is the maximum number of character pairs compared to find one suggestion. It is sufficient for
	// thousands of names.
	ComparedPairs = 1 << 20
	// ObjectPairs is the maximum number of pairs of monitors, Services and pods that are compared to find out why targets
	// are missing or found twice. Three hundred of each that all select each other reach it, in a few seconds.
	ObjectPairs = 20_000_000
	// CompiledBytes is the maximum stored size of the objects that are compiled concurrently.
	CompiledBytes = 4 << 20
	// CompilationBytes is the memory of the process for each object that is compiled concurrently, at least two. An
	// object may need half of it for its regular expressions, most of it as garbage.
	CompilationBytes = 128 << 20
)

// Limits on messages about an object.
const (
	// Faults is the maximum number of errors collected for one object.
	Faults = faults.Most
	// FaultBytes is the length to which the text of an error is truncated.
	FaultBytes = faults.MostBytes
	// DocumentFaults is the maximum number of reported fields of one document that do not match its type.
	DocumentFaults = 200
	// MessageBytes is the maximum length of the rejection message on an object.
	MessageBytes = 4 << 10
	// BindingsBytes is the maximum size of the status of an object with the results of all workloads that select it.
	// With thousands of them, no user could change the object any more: it must fit into etcd together with its status.
	BindingsBytes = 256 << 10
	// StatusBytes is the maximum size of the status that is read of an object that is not used otherwise, because it is
	// too large or there is no room for it. It is more than BindingsBytes, with room for characters that JSON escapes.
	StatusBytes = 512 << 10
	// ConditionBytes is the maximum length of quoted text in a condition of a workload. With a field of a megabyte in
	// it, the API server would reject the whole status.
	ConditionBytes = 16 << 10
	// EventBytes is the maximum length of the reason in an Event. The API server rejects notes above 1 kB, and names
	// take up to 600 bytes.
	EventBytes = 400
	// PathBytes is the maximum length of the path of a field in a message.
	PathBytes = 1 << 10
)
