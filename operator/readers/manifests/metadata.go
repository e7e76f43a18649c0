package manifests

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// metadata validates names, labels and annotations.
func metadata(object metav1.Object) field.ErrorList {
	all := validation.ValidateObjectMetaAccessor(object, object.GetNamespace() != "", validation.NameIsDNSSubdomain, field.NewPath("metadata"))
	for _, one := range all {
		value, isText := one.BadValue.(string)
		switch {
		case one.Field == "metadata.labels" && isText:
			one.Field = labelField(object.GetLabels(), value)
			one.Detail = "want a value of at most 63 letters, digits, -, _ and . that begins and ends with a letter or digit"
			if _, isKey := object.GetLabels()[value]; isKey {
				one.Detail = wantKey
			}
		case one.Field == "metadata.annotations" && isText && one.Type == field.ErrorTypeInvalid:
			one.Field, one.Detail = fmt.Sprintf("%s[%q]", one.Field, value), wantKey
		case (one.Field == "metadata.name" || one.Field == "metadata.namespace") && isText && one.Type == field.ErrorTypeInvalid:
			one.Detail = nameReason(value, one.Field == "metadata.namespace")
		}
	}
	return all
}

// wantKey describes valid names of labels and annotations.
const wantKey = "want a name of at most 63 letters, digits, -, _ and . that begins and ends with a letter or digit, possibly after a domain and a slash"

// maxNamespace is the maximum length of the name of a namespace.
const maxNamespace = 63

// labelField returns the path of the label that has a key or a value.
func labelField(set map[string]string, text string) string {
	path := field.NewPath("metadata", "labels")
	if _, isKey := set[text]; isKey {
		return fmt.Sprintf("%s[%q]", path, text)
	}
	for _, key := range slices.Sorted(maps.Keys(set)) {
		if set[key] == text {
			return fmt.Sprintf("%s[%q]", path, key)
		}
	}
	return path.String()
}

// nameReason describes valid names, with a valid one that is similar to the given one.
func nameReason(name string, namespace bool) string {
	text, valid := "want a name of lower case letters, digits, - and . that begins and ends with a letter or digit", validation.NameIsDNSSubdomain
	if namespace {
		text, valid = "want a name of lower case letters, digits and - that begins and ends with a letter or digit", validation.NameIsDNSLabel
	}
	meant := strings.Trim(strings.Map(func(r rune) rune {
		if r == '_' || r == ' ' || r == '/' {
			return '-'
		}
		return unicode.ToLower(r)
	}, name), "-.")
	switch {
	case len(name) > maxHead || namespace && len(name) > maxNamespace:
		return text + fmt.Sprintf(", not of %d characters", len(name))
	case len(valid(meant, false)) == 0:
		return text + "; write " + meant
	}
	return text
}
