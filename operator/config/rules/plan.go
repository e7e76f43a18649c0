package rules

// Bucket is an existing ConfigMap with rule files.
type Bucket struct {
	Name  string
	Files map[string]string // file name to digest of the content; read-only
}

// Verb is the action of a step.
type Verb int

const (
	// Upsert creates the ConfigMap or replaces its data.
	Upsert Verb = iota
	// Delete removes the ConfigMap.
	Delete
)

// String returns the verb in lower case.
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
	Files map[string]string // file name to digest of all contents for Upsert, nil for Delete
}

// Plan transforms the existing ConfigMaps to the wanted ones.
type Plan struct {
	// Steps are the writes, in the required order. If a step fails, stop: later ones may remove
	// files that it should have put in place. Empty if the cluster already holds the wanted files.
	Steps []Step

	// Overflow lists the files for which PackWithin has no ConfigMap, sorted. They must
	// be written elsewhere before Steps[Late:], which remove files.
	Overflow []string
	Late     int

	// Names lists the ConfigMaps after the plan, sorted as strings (so -10 before -2); at least one.
	Names []string

	// Refused lists files larger than MaxFileBytes, sorted. Compile never returns one.
	Refused []string
}
