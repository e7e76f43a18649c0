package amconfig

// Part is a stretch of a document: a text of the Alertmanager's own, or what
// AlertmanagerConfigs add to a section, which other Alertmanagers may have as well.
type Part[M any] struct {
	// Name of a text: "head", "inhibit_rules", … or "tail".
	Name string
	Text []byte
	// Section of the items, "" for a text.
	Section Section
	Items   []M
}

// Assemble lists the parts of a document in their order.
//
// items returns what the accepted AlertmanagerConfigs add to a section, sorted by
// namespace/name in byte order, in the form that the caller joins; those that add nothing
// are left out.
func Assemble[M any](f *Frame, items func(Section) []M) []Part[M] {
	if f.Raw != nil {
		return []Part[M]{{Name: "raw", Text: f.Raw}}
	}
	out := []Part[M]{{Name: "head", Text: f.Head}}
	for _, section := range []Section{Routes, InhibitRules, Receivers, MuteIntervals} {
		own, added := f.Items[section], items(section)
		if len(own) == 0 && len(added) == 0 {
			continue
		}
		texts := Part[M]{Name: string(section), Text: own}
		both := Part[M]{Section: section, Items: added}
		key := Part[M]{Name: string(section) + " key", Text: []byte(sectionKeys[section])}
		if section == Routes {
			out = append(out, key, both, texts)
		} else {
			out = append(out, key, texts, both)
		}
	}
	return append(out, Part[M]{Name: "tail", Text: f.Tail})
}

var sectionKeys = map[Section]string{
	Routes:        "  routes:\n", // the last key of the root route, which ends the head
	InhibitRules:  "inhibit_rules:\n",
	Receivers:     "receivers:\n",
	MuteIntervals: "mute_time_intervals:\n",
}
