package envelope

import "slices"

// Part is a series of measurements in which one number grows.
type Part struct {
	Name  string // for --only
	Title string
	About string // what is created and done; one paragraph
	Keys  []Key  // the numbers of a size
	By    int    // index of the key with which costs grow
	Sizes []Size // of a complete run
	Quick []Size // of a short one
	Costs []Cost
}

// Key is one of the numbers of a size.
type Key struct {
	Title string // "monitors"
	Per   int    // in formulas, the cost of so many: 1,000
}

// Size has a number for each key.
type Size []int

// Cost is something that is measured at each size.
type Cost struct {
	Title string
	Unit  Unit
}

// Column holds the measurements at one size: a value per cost of the part, in its unit; NaN if unknown.
type Column struct {
	Size   Size
	Values []float64
}

// Part returns the part of a name, or nil.
func Named(name string) *Part {
	if i := slices.IndexFunc(Parts, func(p *Part) bool { return p.Name == name }); i >= 0 {
		return Parts[i]
	}
	return nil
}

// Names returns the names of all parts.
func Names() []string {
	var out []string
	for _, p := range Parts {
		out = append(out, p.Name)
	}
	return out
}

// The costs of one change, of a start and of a restart, in the order in which they are measured.
var changeCosts = []Cost{
	{"settled after the start", Time},
	{"CPU of it", Time},
	{"one monitor, p50", Time},
	{"one monitor, p99", Time},
	{"CPU for one monitor", Time},
	{"calls for one monitor", Count},
	{"one rule, p50", Time},
	{"one rule, p99", Time},
	{"CPU for one rule", Time},
	{"calls for one rule", Count},
	{"memory after the changes", Bytes},
	{"memory at most", Bytes},
	{"live heap", Bytes},
	{"restart until settled", Time},
	{"CPU of the restart", Time},
	{"writes of the restart", Count},
	{"calls while idle", Count},
}

var (
	monitors  = Key{"monitors", 1000}
	rules     = Key{"rule objects", 1000}
	workloads = Key{"Prometheus objects", 1}
	pods      = Key{"pods", 1000}
)

// Parts are all parts, in the order in which they are measured and written.
var Parts = []*Part{
	{
		Name: "monitors", Title: "More monitors of one Prometheus",
		About: "One Prometheus selects everything.",
		Keys:  []Key{monitors, rules, workloads},
		Sizes: []Size{{100, 10, 1}, {1000, 100, 1}, {10_000, 1000, 1}, {50_000, 1800, 1}},
		Quick: []Size{{100, 10, 1}, {1000, 100, 1}},
		Costs: changeCosts,
	},
	{
		Name: "workloads", Title: "More Prometheus objects with the same monitors",
		About: "All Prometheus objects are in one namespace and select everything, so that each change has to be written for all of them. A change counts as seen when the last one has it.",
		Keys:  []Key{workloads, monitors, rules}, By: 0,
		Sizes: []Size{{1, 300, 100}, {10, 300, 100}, {50, 300, 100}, {200, 300, 100}},
		Quick: []Size{{1, 100, 10}, {5, 100, 10}},
		Costs: changeCosts,
	},
	{
		Name: "tenants", Title: "More tenants",
		About: "Each Prometheus has a namespace of its own and selects 1,000 monitors and 100 rule objects, those of its two or three namespaces, by a label of the namespace.",
		Keys:  []Key{monitors, rules, workloads},
		Sizes: []Size{{10_000, 1000, 10}, {50_000, 5000, 50}, {200_000, 20_000, 200}},
		Quick: []Size{{400, 40, 4}, {1600, 160, 16}},
		Costs: changeCosts,
	},
	{
		Name: "sustained", Title: "Many changes in succession",
		About: "One Prometheus selects everything. Ten objects change each second for ten minutes, nine monitors and then a rule, each of them once.",
		Keys:  []Key{{"changes", 1000}, monitors, rules},
		Sizes: []Size{{6000, 10_000, 1000}},
		Quick: []Size{{100, 1000, 100}},
		Costs: []Cost{
			{"changes that were seen", Count},
			{"a change, p50", Time},
			{"a change, p99", Time},
			{"CPU for one change", Time},
			{"writes", Count},
			{"memory before", Bytes},
			{"memory after", Bytes},
			{"memory at most", Bytes},
			{"live heap before", Bytes},
			{"live heap after", Bytes},
		},
	},
	{
		Name: "pods", Title: "More pods",
		About: "All pods are in one namespace, with a Service and an EndpointSlice for ten of them, and a ServiceMonitor selects a tenth of the Services. `operator targets` lists the targets of the ServiceMonitor and ends. " +
			"`operator ui` follows those of its Prometheus: until the targets are complete, the first 100 of them as a page and as JSON, and one changed endpoint until an answer has it.",
		Keys:  []Key{pods},
		Sizes: []Size{{1000}, {10_000}, {100_000}},
		Quick: []Size{{1000}, {2000}},
		Costs: []Cost{
			{"`targets`", Time},
			{"CPU of `targets`", Time},
			{"memory of `targets` at most", Bytes},
			{"`ui`: complete after the first question", Time},
			{"CPU of it", Time},
			{"first 100 targets as a page, p50", Time},
			{"first 100 targets as a page, p99", Time},
			{"first 100 targets as JSON, p50", Time},
			{"first 100 targets as JSON, p99", Time},
			{"one changed endpoint, p50", Time},
			{"CPU for one changed endpoint, with the questions", Time},
			{"memory of `ui`", Bytes},
			{"memory of `ui` at most", Bytes},
		},
	},
}
