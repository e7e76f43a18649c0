package amconfig

// Part is a section of a document: either a text that belongs to the Alertmanager, or the
// items of AlertmanagerConfigs in a section, which other Alertmanagers may share.
type Part[M any] struct {
	// Name is the name of a text: "head", "inhibit_rules", ... or "tail".
	Name string
	Text []byte
	// Section is the section of the items; empty for a text.
	Section Section
	Items   []M
}

// Assemble returns the parts of a document in order.
//
// items returns the items of the accepted AlertmanagerConfigs in a section, sorted by
// namespace/name in byte order, without empty ones. M is the type that the caller joins.
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
	Routes:        "  routes:\n", // the last key of the root route, at the end of the head
	InhibitRules:  "inhibit_rules:\n",
	Receivers:     "receivers:\n",
	MuteIntervals: "mute_time_intervals:\n",
}
