package gate

import "reflect"

// Rejects returns the first field of entry that is set, has a reject tag, and is not
// supported by the version of the target: a key that must not be dropped silently. field
// is the value of the tag; need is the unmet condition, "Prometheus >= 2.45.0". Both are
// empty if there is no such field.
//
// entry: a pointer to a struct. Nested structs are not checked, and unset keys are
// ignored.
func Rejects(entry any, t Target) (field, need string) {
	v := reflect.ValueOf(entry).Elem()
	for i := range v.NumField() {
		tag := v.Type().Field(i).Tag
		name, ok := tag.Lookup("reject")
		if !ok || v.Field(i).IsZero() {
			continue
		}
		if need := t.Needs(tag.Get("since")); need != "" {
			return name, need
		}
	}
	return "", ""
}
