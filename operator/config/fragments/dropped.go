package fragments

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/gate"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
)

// Unsupported returns findings about what a version of a program does not support in the selected
// object.
func (v Result) Unsupported(program string) []faults.Finding {
	if len(v.Dropped) == 0 {
		return nil
	}
	return Unsupported(manifest.Whole(v.Object), program, v.Dropped)
}

// Unsupported returns a finding for each part of an object that was left out because a version of a
// program does not support it. Its field is the one as the user wrote it, if the part is a key of
// the configuration.
//
// object: a pointer to a struct of the API.
func Unsupported(object any, program string, dropped []gate.Dropped) (out []faults.Finding) {
	for _, d := range dropped {
		f := faults.Finding{Field: d.Path, Need: d.Need}
		if !strings.HasPrefix(d.Path, "spec.") {
			f.Field, f.Reason = source(object, d.Path)
		}
		switch d.Need {
		case "":
		case gate.OtherProgram:
			f.Reason += " is supported by no version of " + program + " and"
		default:
			f.Reason += " needs " + program + " " + d.Need + " and"
		}
		f.Reason = strings.TrimSpace(f.Reason + " is left out")
		out = append(out, f)
	}
	return out
}

// renamed maps keys of the configuration, in lower case and without "_", to the fields of another name
// that generate them.
var renamed = map[string]string{
	"alwaysscrapeclassichistograms": "scrapeClassicHistograms", "metricnamevalidationscheme": "nameValidationScheme",
	"metricnameescapingscheme": "nameEscapingScheme", "protobufmessage": "messageVersion",
}

// source returns the field from which a key of the configuration was generated: the longest suffix
// of the key's path that exists in the object, below one of the fields that generate such keys. key
// is the path without the job.
func source(object any, path string) (field, key string) {
	places := [][]string{{"spec"}}
	if job, rest, ok := inJob(path); ok {
		places, path = [][]string{{"spec", "endpoints", job}, {"spec", "podMetricsEndpoints", job}, {"spec"}, {"spec", "prober"}}, rest
	}
	parts := strings.FieldsFunc(strings.ReplaceAll(path, "_", ""), func(r rune) bool { return r == '.' || r == '[' || r == ']' })
	for start := range len(parts) + 1 {
		for _, place := range places {
			if field, ok := find(reflect.ValueOf(object), slices.Concat(place, parts[start:])); ok {
				return field, path
			}
		}
	}
	return "spec", path
}

// inJob splits the path of a key in scrape_configs into the index of the job and the path of the
// key in the job. ok is false for other paths.
func inJob(path string) (job, key string, ok bool) {
	rest, is := strings.CutPrefix(path, "scrape_configs[")
	job, key, more := strings.Cut(rest, "].")
	return job, key, is && more
}

// find returns the path of the value that parts lead to, as manifests spell it. ok is false if the
// object has none.
func find(at reflect.Value, parts []string) (path string, ok bool) {
	for _, part := range parts {
		step, next := child(at, part)
		if step == "" {
			return "", false
		}
		path, at = faults.Join(path, step), next
	}
	return path, true
}

// child returns the field or item of a value, and its name in manifests; empty if the value has
// none. Case does not matter, as a key of a configuration (enable_http2) is generated from a field
// (enableHttp2).
func child(of reflect.Value, part string) (name string, value reflect.Value) {
	for of.Kind() == reflect.Pointer || of.Kind() == reflect.Interface {
		of = of.Elem()
	}
	switch of.Kind() {
	case reflect.Struct:
		for i := range of.NumField() {
			f := of.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" && f.Anonymous {
				if name, value := child(of.Field(i), part); name != "" {
					return name, value
				}
			} else if (strings.EqualFold(name, part) || strings.EqualFold(name, renamed[strings.ToLower(part)])) && !of.Field(i).IsZero() {
				return name, of.Field(i)
			}
		}
	case reflect.Slice:
		if i, err := strconv.Atoi(part); err == nil && i >= 0 && i < of.Len() {
			return faults.Index("", i), of.Index(i)
		}
	}
	return "", of
}
