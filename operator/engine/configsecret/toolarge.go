package configsecret

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/operator/config/document"
	"github.com/firekeeper-dev/firekeeper/operator/engine"
	"github.com/firekeeper-dev/firekeeper/operator/workload"
)

// Origin says what a configuration is made of, for whoever must make it smaller.
type Origin struct {
	Objects string           // what the objects are called: "monitors"
	Divide  string           // how to have several configurations that are smaller
	Each    iter.Seq[Source] // every object in it; it is asked for only when it is too large
	// Rules are all objects with rules, where some of these come with the configuration; nil
	// otherwise.
	Rules iter.Seq[Source]
}

// Source is an object that is a part of a configuration.
type Source struct {
	Kind, Namespace, Name string
	Bytes                 int // that it makes, plain

	Pieces   []*document.Piece // what it makes
	Rule     bool              // it makes a file of its own
	LeaveOut func(error)       // rejects it
}

// TooLargeError means that a workload's configuration does not fit into the Secrets that
// its pods can read. The last configuration stays.
type TooLargeError struct {
	Config, Plain, Rules int     // bytes of the configuration, compressed and plain, and of the compressed rules
	Objects, RuleFiles   int     // how many objects these are
	What, Divide         string  // of the Origin
	Keys                 int     // bytes of the other keys of the configuration Secret
	Room                 int     // bytes of the Secrets
	Namespaces           []Share // those whose objects make most of it, the largest first
	Largest              Share   // the object that makes most of it

	// NoReader says why the pods that are wanted cannot read parts; empty when they can.
	NoReader string
	// NotYet says which pod cannot read parts as long as it is not replaced; empty
	// when all can.
	NotYet string
	// NoRoom says that the other keys leave no room for a first part.
	NoRoom bool
	// Memory is how many bytes of plain configuration config-reloader has memory for within
	// its Limit, if that is too little, and Needs the limit that suffices, 0 for none.
	Memory, Limit, Needs int64
}

// Share is what a namespace or an object makes of a configuration, in plain bytes.
type Share struct {
	Name  string
	Bytes int
}

const mib = 1 << 20

func (s Share) String() string { return fmt.Sprintf("%s (%.1f MiB)", s.Name, float64(s.Bytes)/mib) }

// maxNamespacesNamed bounds how many namespaces the error names.
const maxNamespacesNamed = 3

func (e *TooLargeError) Error() string {
	rules := ""
	if e.Rules > 0 {
		rules = fmt.Sprintf(" and %d rule files beyond the ConfigMaps have %.1f MiB compressed", e.RuleFiles, float64(e.Rules)/mib)
	}
	size := fmt.Sprintf("the configuration of %d %s has %.1f MiB compressed (%.0f MiB plain)%s; ",
		e.Objects, e.What, float64(e.Config)/mib, float64(e.Plain)/mib, rules)
	if len(e.Namespaces) > 0 {
		var names []string
		for _, s := range e.Namespaces {
			names = append(names, s.String())
		}
		size += fmt.Sprintf("most of it is from the namespaces %s, the largest object is %s; ", strings.Join(names, ", "), e.Largest)
	}
	if e.Memory > 0 {
		return size + fmt.Sprintf("with a memory limit of %dMi, config-reloader has memory for %.1f MiB of plain configuration: %s. The last written configuration stays in use",
			e.Limit/mib, float64(e.Memory)/mib, e.remedy())
	}
	one := fmt.Sprintf("one Secret holds %.1f MiB", float64(e.Room)/mib)
	if e.Keys > 0 {
		one += fmt.Sprintf(", of which its other keys take %.1f MiB", float64(e.Keys)/mib)
	}
	switch {
	case e.NoReader != "":
		return size + fmt.Sprintf("%s, and %s. The last written configuration stays in use", one, e.remedy())
	case e.NotYet != "":
		return size + fmt.Sprintf("%s. It is written in parts as soon as all pods can read them; now %s. The last written configuration stays in use until then",
			one, e.NotYet)
	case e.NoRoom:
		return size + one + ", which leaves no room: mount what they hold from other Secrets. The last written configuration stays in use"
	}
	return size + fmt.Sprintf("the Secrets that pods mount hold %.1f MiB: %s. The last written configuration stays in use", float64(e.Room)/mib, e.Divide)
}

// divisible reports whether objects are left out. They are not where the other keys leave no
// room, where the configuration is in parts already and somebody took the readers of parts
// away, and while pods are replaced by such as read parts.
func (e *TooLargeError) divisible(b *workload.Base, live engine.Live) bool {
	switch {
	case e.NoRoom || e.Keys >= e.Room:
		return false
	case e.NoReader != "":
		main := live.Secrets[b.ConfigSecretName()]
		return main == nil || !b.Owns(main) || !inParts(main)
	}
	return e.NotYet == ""
}

// remedy says how to have more room.
func (e *TooLargeError) remedy() string {
	switch {
	case e.NoReader != "":
		return e.NoReader + ": use the config-reloader of this operator, or name the image's repository with --parts-capable-reloaders if it is that one under another name; or " + e.Divide
	case e.Memory > 0:
		return fmt.Sprintf("set --config-reloader-memory-limit=%s, or %s", e.needs(), e.Divide)
	}
	return e.Divide
}

// needs is the memory limit that suffices.
func (e *TooLargeError) needs() string {
	if e.Needs == 0 {
		return "0 (none)"
	}
	return fmt.Sprintf("%dMi", (e.Needs+mib-1)/mib)
}

// origin counts objects and what they make.
func (e *TooLargeError) origin(o Origin) {
	e.What, e.Divide = o.Objects, o.Divide
	byNamespace := map[string]int{}
	if o.Each == nil {
		return
	}
	for s := range o.Each {
		e.Objects++
		byNamespace[s.Namespace] += s.Bytes
		if s.Bytes > e.Largest.Bytes {
			e.Largest = Share{s.Kind + " " + s.Namespace + "/" + s.Name, s.Bytes}
		}
	}
	for name, bytes := range byNamespace {
		e.Namespaces = append(e.Namespaces, Share{name, bytes})
	}
	slices.SortFunc(e.Namespaces, func(a, b Share) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Name, b.Name))
	})
	e.Namespaces = e.Namespaces[:min(len(e.Namespaces), maxNamespacesNamed)]
}

// Plan begins the plan of the workload: nothing of its content.
func (e *TooLargeError) Plan() engine.Plan {
	return engine.Plan{Withheld: e, AwaitsPods: e.NotYet != ""}
}

// withheld is the output when the configuration is too large: the pods as they fit to
// the content that stays.
func (w *writer) withheld(why *TooLargeError, c Content) Output {
	why.Config, why.Plain, why.RuleFiles, why.Keys = w.out.Length, w.out.Size, c.Rules.Files, w.taken
	if why.RuleFiles > 0 {
		why.Rules = w.rules.Length()
	}
	why.origin(c.Origin)
	main := w.live.Secrets[w.ConfigSecretName()]
	return Output{
		Document: w.out.Document, Withheld: why, Warnings: w.out.Warnings,
		LeavePods: main == nil || !w.Owns(main) || why.NoReader != "" && inParts(main),
		InParts:   why.NoReader == "" || ReadParts(w.Base, w.live),
	}
}
