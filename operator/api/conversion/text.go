package conversion

import (
	"cmp"
	"encoding/json"
	"slices"
)

// document is the text of a valid JSON value. Offsets are of the first byte of a value or
// key, ends are after the last one.
type document []byte

// skip returns the end of the value at an offset.
func (d document) skip(at int) (end int) {
	depth := 0
	for ; ; at++ {
		switch d[at] {
		case '"':
			at = d.quoted(at) - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		default:
			if depth > 0 {
				continue
			}
			for at+1 < len(d) && !delimiter(d[at+1]) { // a number, true, false or null
				at++
			}
		}
		if depth == 0 {
			return at + 1
		}
	}
}

// quoted returns the end of the string at an offset.
func (d document) quoted(at int) (end int) {
	for at++; d[at] != '"'; at++ {
		if d[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// blanks returns the offset of the next byte that is not white space.
func (d document) blanks(at int) int {
	for at < len(d) && (d[at] == ' ' || d[at] == '\t' || d[at] == '\n' || d[at] == '\r') {
		at++
	}
	return at
}

func delimiter(c byte) bool {
	return c == ',' || c == '}' || c == ']' || c == ' ' || c == '\t' || c == '\n' || c == '\r'
}

// field is a field of an object.
type field struct {
	name  string
	key   int // offset of the name
	keyed int // its end
	at    int // offset of the value
	end   int
}

// fields calls do for each field of the object at an offset. do returns the end of the
// value, so that no text is scanned twice. Values other than objects are skipped.
func (d document) fields(at int, do func(f field) (end int)) (end int) {
	if d[at] != '{' {
		return d.skip(at)
	}
	for at = d.blanks(at + 1); d[at] != '}'; at = d.blanks(at) {
		if d[at] == ',' {
			at = d.blanks(at + 1)
		}
		f := field{key: at, keyed: d.quoted(at)}
		f.name = d.text(f.key, f.keyed)
		f.at = d.blanks(d.blanks(f.keyed) + 1) // after the colon
		at = do(f)
	}
	return at + 1
}

// items calls do for each item of the list at an offset, like fields.
func (d document) items(at int, do func(i, at int) (end int)) (end int) {
	if d[at] != '[' {
		return d.skip(at)
	}
	i := 0
	for at = d.blanks(at + 1); d[at] != ']'; at = d.blanks(at) {
		if d[at] == ',' {
			at = d.blanks(at + 1)
		}
		at = do(i, at)
		i++
	}
	return at + 1
}

// object returns the fields of the object at an offset, and its end. Other values have no
// fields.
func (d document) object(at int) (all []field, end int) {
	end = d.fields(at, func(f field) int {
		f.end = d.skip(f.at)
		all = append(all, f)
		return f.end
	})
	return all, end
}

// text returns the value of a string, or "" for other values.
func (d document) text(at, end int) (out string) {
	if d[at] != '"' {
		return ""
	}
	if plain := d[at+1 : end-1]; !slices.Contains(plain, '\\') {
		return string(plain)
	}
	_ = json.Unmarshal(d[at:end], &out) // the string is valid
	return out
}

// only returns the field with a name and how often the name occurs. The field is only
// meaningful if times is 1.
func only(all []field, name string) (found field, times int) {
	for _, f := range all {
		if f.name == name {
			found = f
			times++
		}
	}
	return found, times
}

// edit is a replacement of a part of a text.
type edit struct {
	at, end int
	by      string
}

// edited applies edits, which must not overlap.
func (d document) edited(edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.at, b.at) })
	size := len(d)
	for _, e := range edits {
		size += len(e.by)
	}
	out, last := make([]byte, 0, size), 0
	for _, e := range edits {
		out = append(append(out, d[last:e.at]...), e.by...)
		last = e.end
	}
	return append(out, d[last:]...)
}

// added returns the edit that adds a field to an object that ends at an offset.
func added(object []field, end int, name, value string) edit {
	text := `"` + name + `":` + value
	if len(object) > 0 {
		text = "," + text
	}
	return edit{end - 1, end - 1, text}
}

// removed returns the edit that removes a field from an object.
func removed(object []field, name string) edit {
	i := slices.IndexFunc(object, func(f field) bool { return f.name == name })
	switch {
	case i > 0:
		return edit{object[i-1].end, object[i].end, ""}
	case len(object) > 1:
		return edit{object[0].key, object[1].key, ""}
	default:
		return edit{object[0].key, object[0].end, ""}
	}
}
