package rules

// Bucket is a ConfigMap with rule files as it is in the cluster.
type Bucket struct {
	Name  string
	Files map[string]string // file name → content; only read
}

// Verb is what a step does.
type Verb int

const (
	// Upsert creates the ConfigMap or replaces its data.
	Upsert Verb = iota
	// Delete removes the ConfigMap.
	Delete
)

// String is the verb in lower case.
func (v Verb) String() string {
	if v == Delete {
		return "delete"
	}
	return "upsert"
}

// Step is one write.
type Step struct {
	Verb  Verb
	Name  string
	Files map[string]string // the complete data for Upsert, nil for Delete
}

// Plan leads from the ConfigMaps in the cluster to those wanted.
type Plan struct {
	// Steps are the writes, in the order in which they must be made. A failed step
	// must stop the plan: those behind it may take away what it should have put in
	// place. Empty when the cluster holds the wanted files already.
	Steps []Step

	// Overflow are the files for which PackWithin has no ConfigMap, sorted. They
	// must be written elsewhere before the first of the late Steps, those from index
	// Late on, which take files away.
	Overflow []string
	Late     int

	// Names are the ConfigMaps after the plan, sorted as strings (so -10 before
	// -2), at least one.
	Names []string

	// Refused are files larger than MaxFileBytes, sorted. Compile never makes one.
	Refused []string
}
