package gate

import "reflect"

// Rejects returns the first field of entry whose reject tag the target meets: a key
// that its version does not know, and that must not get lost. field is the value of the
// tag; need is what the target lacks, "Prometheus >= 2.45.0". Both are empty when there
// is none.
//
// entry: a pointer to a struct; the structs in it are not looked at, and keys without a
// value are not missed.
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
