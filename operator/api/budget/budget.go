// Package budget is the one table of what a single object of a user may cost: bytes, elements,
// generated text, regular expressions, words that are compared. Whatever does work of a
// size that a user chooses takes its limit from here, and docs/security.md shows the table.
//
//	if err := budget.Check("ServiceMonitor", raw); err != nil { // before it is decoded
//		return err // spec.endpoints has more than 2500 elements, the limit of one ServiceMonitor
//	}
//
// The limits are far above what people write; together they keep a process with a memory
// limit of some hundred megabytes alive, whatever is stored.
package budget

import "github.com/firekeeper-dev/firekeeper/internal/faults"

// Size of an object.
const (
	// StoredBytes bounds an object as JSON: no API server stores more.
	StoredBytes = 3 << 19
	// DecodedBytes bounds what an object takes in memory once it is decoded: two bytes of an
	// empty element become a struct of hundreds.
	DecodedBytes = 4 << 20
	// Endpoints bounds the endpoints of a ServiceMonitor or PodMonitor; each becomes a job.
	Endpoints = 2_500
	// Groups bounds the groups of a PrometheusRule.
	Groups = 10_000
	// Rules bounds the rules of a PrometheusRule, in all groups.
	Rules = 20_000
	// Receivers bounds the receivers of an AlertmanagerConfig.
	Receivers = 2_500
	// Routes bounds the routes of an AlertmanagerConfig, on all levels.
	Routes = 5_000
	// RouteDepth bounds the levels of a tree of routes, which are as many calls when a
	// program walks it.
	RouteDepth = 64
	// RelabelSteps bounds the relabelings of an object, in all lists.
	RelabelSteps = 20_000
)

// What objects of all namespaces share.
const (
	// RuleConfigMaps bounds the ConfigMaps of rules of one workload: every pod mounts each of
	// them.
	RuleConfigMaps = 100
)

// Memory that objects share, as a part of the memory limit of the process: 5 is a fifth. The
// rest is for work, and for what there is for each workload.
const (
	// StoredShare bounds all cached objects of users together with what they compile to. A
	// reconciliation may hold as much again: the objects that it began with.
	StoredShare = 5
	// HeldShare bounds what reconciliations keep for the next ones of their workloads. A workload
	// for which there is no room is compiled afresh each time.
	HeldShare = 12
	// ReferredShare bounds the contents of Secrets and ConfigMaps that are kept. What does not
	// fit is read again when it is asked for.
	ReferredShare = 10
)

// SelectionBytes is the memory of one selected object in the caches of its workload, without its
// fragment.
const SelectionBytes = 256

// Text that is made of an object.
const (
	// GeneratedBytes bounds the configuration that one object generates: values of Secrets,
	// what endpoints share and the indentation of deep routes multiply.
	GeneratedBytes = 4 << 20
	// RuleFileBytes bounds the rule file of one object, and the contents of one
	// ConfigMap together: half of what a ConfigMap may hold.
	RuleFileBytes = 512 << 10
	// ValueBytes bounds the values of Secrets and ConfigMaps that one object asks for, each
	// as often as it does: a hundred endpoints with a bundle of CAs each are a third of it,
	// ten thousand references to one large Secret are not.
	ValueBytes = 64 << 20
	// ReferredBytes bounds the Secrets and ConfigMaps that one object refers to, as a whole:
	// they are in memory together while it is compiled.
	ReferredBytes = 32 << 20
	// TLSFileBytes bounds a certificate, a key or a bundle of CAs that pods get as a file: a
	// bundle of all public CAs is a little smaller. Pods mount a fixed number of Secrets
	// for the files of all objects, and what one leaves free must be of use to the others.
	TLSFileBytes = 256 << 10
	// AliasBytes bounds what the aliases of one YAML document stand for. A text of a few
	// hundred kilobytes could stand for gigabytes: its readers count aliases, not what
	// is written for each.
	AliasBytes = 4 << 20
	// URLBytes bounds one URL of a receiver.
	URLBytes = 16 << 10
)

// Work on an object.
const (
	// RegexpCost bounds what the regular expressions of one object compile to, in
	// instructions and character ranges. It has room for a list of 20,000 names.
	RegexpCost = 500_000
	// RegexpOperators bounds one regular expression before it is parsed: each operator and
	// class becomes a node of about 200 bytes, so that parsing takes at most 40 MB. A list of
	// 20,000 addresses with unescaped dots is within it.
	RegexpOperators = 100_000
	// RuleRegexpCost is the same as RegexpCost for the expressions of a PrometheusRule: about 30 MB, and less
	// than 0.1 s. The names of all jobs of a large cluster, written into every expression
	// that has room for them, are a quarter of this.
	RuleRegexpCost = 4 << 20
	// ExpressionEffort bounds how long the expressions of one PrometheusRule keep a worker busy:
	// about a second. Checking types and printing both cost, in Prometheus' parser, depth
	// of the tree times length of the text; a sum of 200,000 numbers, which fits into an
	// object, takes minutes. An expression of a thousand tokens in 10 kB, far beyond what
	// people write, is a hundredth of this.
	ExpressionEffort = 1 << 30
	// MatchSteps bounds what the relabelings of one job may cost for one target: size of
	// the regular expression times bytes of the value it is matched with.
	MatchSteps = 50_000_000
	// JobMatchSteps bounds the same for all targets of a job in one evaluation.
	JobMatchSteps = 4_000_000_000
	// LabelBytes bounds the text that a relabeling reads or makes while it is followed.
	LabelBytes = 1 << 20
	// ComparedBytes bounds the names that are compared to suggest one: no name of Kubernetes
	// is longer.
	ComparedBytes = 256
	// ComparedPairs bounds the pairs of letters that the search for one suggestion compares; it
	// suffices for thousands of names.
	ComparedPairs = 1 << 20
	// CompiledBytes bounds the stored size of the objects that are compiled at the same time.
	CompiledBytes = 4 << 20
)

// What is said about an object.
const (
	// Faults is how many faults of one object are collected.
	Faults = faults.Most
	// FaultBytes is how much of the text of a fault is kept.
	FaultBytes = faults.MostBytes
	// DocumentFaults is how many fields of one document are reported that do not fit its type.
	DocumentFaults = 200
	// MessageBytes bounds the message of a rejection on the object.
	MessageBytes = 4 << 10
	// ConditionBytes bounds what a condition of a workload quotes: with a field of a megabyte
	// in it, the API server would refuse the whole status.
	ConditionBytes = 16 << 10
	// EventBytes bounds the reason in an Event: the API server rejects notes of more than 1 kB,
	// and names take up to 600 bytes.
	EventBytes = 400
	// PathBytes bounds the path of a field in a message.
	PathBytes = 1 << 10
)
