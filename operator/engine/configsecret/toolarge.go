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

// Origin describes the sources of a configuration, for the error that reports it as too large.
type Origin struct {
	Objects string           // plural name of the objects, for example "monitors"
	Divide  string           // advice on splitting the configuration into several smaller ones
	Each    iter.Seq[Source] // all objects in it; used only if it is too large
	// Rules yields all objects with rules if some of their files come with the configuration, nil
	// otherwise.
	Rules iter.Seq[Source]
}

// Source is an object that contributes to a configuration.
type Source struct {
	Kind, Namespace, Name string
	Bytes                 int // plain size of its contribution, with substituted variables

	Pieces   []*document.Piece // its contribution
	Rule     bool              // it has a file to itself
	LeaveOut func(error)       // rejects it
}

// TooLargeError means that a workload's configuration does not fit into the Secrets that its pods
// can read. The last configuration stays.
type TooLargeError struct {
	Config, Plain, Rules int     // bytes of the compressed and the plain configuration, and of the compressed rules
	Objects, RuleFiles   int     // number of objects and of rule files
	What, Divide         string  // from the Origin
	Keys                 int     // bytes of the other keys of the configuration Secret
	Room                 int     // capacity of the Secrets in bytes
	Namespaces           []Share // the largest contributors, in descending order
	Largest              Share   // the largest object

	// NoReader is the reason that the wanted pods cannot read parts, empty if they can.
	NoReader string
	// NotYet names a pod that cannot read parts until it is replaced, empty if there is none.
	NotYet string
	// NoRoom is set if the other keys leave no room for a first part.
	NoRoom bool
	// Memory is the size in bytes of the plain configuration that config-reloader can handle within
	// its memory limit Limit, set if that is too little. Needs is the sufficient limit, 0 for
	// unlimited.
	Memory, Limit, Needs int64
}

// Share is the contribution of a namespace or an object to a configuration, in plain bytes.
type Share struct {
	Name  string
	Bytes int
}

const mib = 1 << 20

func (s Share) String() string { return fmt.Sprintf("%s (%.1f MiB)", s.Name, float64(s.Bytes)/mib) }

// maxNamespacesNamed bounds the number of namespaces in the error message.
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

// divisible reports whether leaving out objects is allowed. It is not if the other keys leave no
// room, if the configuration is already in parts and the reloaders can no longer read them, or
// while pods are being replaced by ones that can read parts.
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

// remedy returns advice on how to get more room.
func (e *TooLargeError) remedy() string {
	switch {
	case e.NoReader != "":
		return e.NoReader + ": use the config-reloader of this operator, or name the image's repository with --parts-capable-reloaders if it is that one under another name; or " + e.Divide
	case e.Memory > 0:
		return fmt.Sprintf("set --config-reloader-memory-limit=%s, or %s", e.needs(), e.Divide)
	}
	return e.Divide
}

// needs returns the sufficient memory limit.
func (e *TooLargeError) needs() string {
	if e.Needs == 0 {
		return "0 (none)"
	}
	return fmt.Sprintf("%dMi", (e.Needs+mib-1)/mib)
}

// origin counts the objects and sums up their sizes.
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

// Plan returns the initial plan of the workload, without content.
func (e *TooLargeError) Plan() engine.Plan {
	return engine.Plan{Withheld: e, AwaitsPods: e.NotYet != ""}
}

// withheld returns the output for a configuration that is too large: the pods must match the
// content that stays.
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
