package manifests

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/firekeeper-dev/firekeeper/internal/faults"
	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// pattern describes the values that a regular expression of the CRDs accepts. meant (optional) guesses the
// intended value; empty for no guess.
type pattern struct {
	want  string
	meant func(text string) string
}

// patterns are commonly violated patterns, exactly as in the CRDs.
var patterns = map[string]pattern{
	`^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$`:       {durationWords, meantDuration},
	`^(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?$`:           {durationWords, meantDuration},
	`^(0|(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$`:                                           {"want a duration such as 30s, 5m or 1h30m: integers with the units h, m, s and ms, without blanks", meantHours},
	`(^0|([0-9]*[.])?[0-9]+((K|M|G|T|E|P)i?)?B)$`:                                                       {"want a size such as 512MB or 20GiB: a number, a unit and B, without blanks", meantSize},
	`^((?i)sun|mon|tues|wednes|thurs|fri|satur)day(?:((:(sun|mon|tues|wednes|thurs|fri|satur)day)$)|$)`: {"want a day such as monday, or days such as monday:friday, in full", nil},
	`^https?://.+$`:                  {"want a URL with http:// or https://", nil},
	`^(http|https)://.+$`:            {"want a URL with http:// or https://", nil},
	`^(http|https|socks5)://.+$`:     {"want a URL with http://, https:// or socks5://", nil},
	`^[a-zA-Z][a-zA-Z0-9+.-]*://.+$`: {"want a URL with a scheme, such as https://", nil},
	`^/.*`:                           {"must begin with /", nil},
	`^[^*]*(\*[^/]*)?\.(json|yml|yaml|JSON|YML|YAML)$`: {"want a path that ends in .json, .yml or .yaml, with * in the name of the file only", nil},
	`^https?://[^/?#]+(/.*[^/])?$`:                     {"want a URL with http:// or https://, without a slash at its end, query or fragment", nil},
	`^2\d{3}(?::2\d{3}|$)`:                             {"want a year such as 2026, or years such as 2026:2028", nil},
	`^((?i)january|february|march|april|may|june|july|august|september|october|november|december|1[0-2]|[1-9])(?:((:((?i)january|february|march|april|may|june|july|august|september|october|november|december|1[0-2]|[1-9]))$)|$)`: {"want a month such as january or 1, or months such as march:may", nil},
	`^(?i)(abort|warn)?$`: {"want abort or warn", nil},
	`^[0-9a-zA-Z-.]+$`:    {"want letters, digits, - and . only", nil},
	`^[\w\s:/.\\-]+$`:     {"want letters, digits, blanks and _ : / . \\ - only", nil},
	`^((([01][0-9])|(2[0-3])):[0-5][0-9])$|(^24:00$)`:                                                                   {"want a time of day such as 09:30, from 00:00 to 24:00", nil},
	`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`: {"want a quantity such as 500m, 2, 50G or 50Gi", meantQuantity},
}

const durationWords = "want a duration such as 30s, 5m or 1h30m: integers with the units y, w, d, h, m, s and ms, without blanks"

// patternOf returns the wording for "should match '…'".
func patternOf(detail string) (pattern, bool) {
	_, text, _ := strings.Cut(detail, "should match '")
	p, known := patterns[strings.TrimSuffix(text, "'")]
	return p, known
}

// words describe the expected value, with a guess of the intended one.
func (p pattern) words(path string, value any) string {
	text, isText := value.(string)
	if !isText {
		return p.want
	}
	if plain := strings.Trim(text, curlyQuotes); plain != text {
		return p.want + "; “ and ” are part of the value, quotes in YAML are \" and '"
	}
	if p.meant == nil {
		return p.want
	}
	meant := p.meant(text)
	if number := strings.TrimSpace(text); meant == number+"s" && unitOf(path) == "d" {
		meant = number + "h" // if there are no days
		if p.want == durationWords {
			meant = number + "d"
		}
	}
	if meant != "" {
		return p.want + "; write " + meant
	}
	return p.want
}

// curlyQuotes are the quotes of word processors.
const curlyQuotes = "“”„‘’"

// units maps spellings of duration units to the units.
var units = map[string]string{
	"ms": "ms", "msec": "ms", "millisecond": "ms", "s": "s", "sec": "s", "second": "s", "m": "m", "min": "m", "minute": "m",
	"h": "h", "hr": "h", "hour": "h", "d": "d", "day": "d", "w": "w", "week": "w", "y": "y", "year": "y", "": "s",
}

var (
	numberAndUnit = lazyregexp.New(`^\s*([0-9]+)\s*([a-zA-Z]*)\s*$`)
	sizeAndUnit   = lazyregexp.New(`^\s*([0-9]*\.?[0-9]+)\s*([KMGTEPkmgtep]?)\s*(i?)[bB]?\s*$`)
)

// meantDuration parses a number with a unit in any spelling; the default is seconds.
func meantDuration(text string) string {
	m := numberAndUnit.FindStringSubmatch(text)
	if m == nil {
		return meantFraction(text)
	}
	word := strings.ToLower(m[2])
	if months, is := inMonths[strings.TrimSuffix(word, "s")]; is && (months || m[2] == "M") {
		return monthsOr(m[1], months, "d", 30)
	}
	unit, known := units[word]
	if !known {
		unit, known = units[strings.TrimSuffix(word, "s")]
	}
	if !known {
		return ""
	}
	return m[1] + unit
}

// inMonths are spellings of a unit that durations do not have. Those with false may also be minutes.
var inMonths = map[string]bool{"mo": true, "mon": true, "mth": true, "month": true, "m": false}

// monthsOr converts a number of months to units of which a month has about the given number. Unless it
// can only be months, it also proposes minutes.
func monthsOr(number string, months bool, unit string, each int) string {
	n, err := strconv.Atoi(number)
	switch {
	case err != nil:
		return ""
	case months:
		return strconv.Itoa(each*n) + unit
	}
	return fmt.Sprintf("%dm for minutes, or %d%s for months", n, each*n, unit)
}

// meantHours is like meantDuration with hours as the largest unit.
func meantHours(text string) string {
	if m := numberAndUnit.FindStringSubmatch(text); m != nil && m[2] == "M" {
		return monthsOr(m[1], false, "h", 30*24)
	}
	meant := meantDuration(text)
	of, err := model.ParseDuration(meant)
	if err != nil || !strings.ContainsAny(meant, "dwy") {
		return meant
	}
	return fmt.Sprintf("%.0fh", time.Duration(of).Hours())
}

// fraction matches a decimal number with a unit.
var fraction = lazyregexp.New(`^([0-9]*\.[0-9]+)(ms|s|m|h|d|w|y)$`)

// meantFraction converts a fraction of a unit to an integer of a smaller one: 1.5d is 36h.
func meantFraction(text string) string {
	m := fraction.FindStringSubmatch(strings.ReplaceAll(text, " ", ""))
	if m == nil {
		return ""
	}
	number, _ := strconv.ParseFloat(m[1], 64) // valid by the regular expression
	unit, _ := model.ParseDuration("1" + m[2])
	for _, smaller := range []string{"w", "d", "h", "m", "s", "ms"} {
		of, _ := model.ParseDuration("1" + smaller)
		if n := number * float64(unit) / float64(of); n == math.Trunc(n) && n < 1000 {
			return fmt.Sprintf("%.0f%s", n, smaller)
		}
	}
	return ""
}

// meantQuantity drops the B, which sizes have and quantities do not.
func meantQuantity(text string) string {
	m := sizeAndUnit.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	unit := strings.ToUpper(m[2])
	if unit == "K" && m[3] == "" {
		unit = "k"
	}
	return m[1] + unit + m[3]
}

func meantSize(text string) string {
	m := sizeAndUnit.FindStringSubmatch(text)
	if m == nil || m[2] == "" && m[3] != "" {
		return ""
	}
	return m[1] + strings.ToUpper(m[2]) + m[3] + "B"
}

// wanted describes types whose values are often written in another form.
var wanted = map[reflect.Type]string{
	reflect.TypeFor[v1.Duration]():                 "a duration with its unit, as a string such as 30s",
	reflect.TypeFor[v1.NonEmptyDuration]():         "a duration with its unit, as a string such as 30s",
	reflect.TypeFor[v1.ByteSize]():                 "a size with its unit, as a string such as 20GiB",
	reflect.TypeFor[corev1.SecretKeySelector]():    "a reference to a key of a Secret, {name: …, key: …}, not the value itself",
	reflect.TypeFor[corev1.ConfigMapKeySelector](): "a reference to a key of a ConfigMap, {name: …, key: …}, not the value itself",
	reflect.TypeFor[v1.SecretOrConfigMap]():        "a reference to a key, {secret: {name: …, key: …}} or {configMap: {name: …, key: …}}",
	reflect.TypeFor[resource.Quantity]():           "a quantity such as 500m, 2, 50G or 50Gi",
}

// reword describes the expected value for a wrong type, in terms of the API, and explains commonly
// confused unknown fields. kind is the kind of the object.
func reword(kind string, err error) error {
	fault, is := err.(*manifest.FieldError)
	if !is {
		return err
	}
	out := *fault
	switch {
	case fault.Unknown():
		if says := confusion(kind, fault); says != "" {
			out.Hint, out.Suggestion, out.Elsewhere = says, "", ""
		}
	case fault.Type != nil:
		out.Reason = typeReason(fault)
	}
	return &out
}

// rewordAll is [reword] for each of the errors that are joined.
func rewordAll(kind string, err error) error {
	var out []error
	for _, one := range faults.Leaves(err) {
		out = append(out, reword(kind, one))
	}
	return errors.Join(out...)
}

// typeReason describes a value of the wrong type.
func typeReason(f *manifest.FieldError) string {
	for _, m := range misread {
		if m.path.MatchString(f.Path) && m.got == reflect.ValueOf(f.Value).Kind() {
			if m.got == reflect.Int64 {
				return strings.ReplaceAll(m.says, "…", fmt.Sprint(f.Value))
			}
			return m.says
		}
	}
	want, known := wanted[f.Type]
	number, isNumber := f.Value.(int64)
	_, isFraction := f.Value.(float64)
	_, isBool := f.Value.(bool)
	_, isObject := f.Value.(map[string]any)
	text, isText := f.Value.(string)
	_, isList := f.Value.([]any)
	switch {
	case isNumber && (f.Type == reflect.TypeFor[v1.Duration]() || f.Type == reflect.TypeFor[v1.NonEmptyDuration]()):
		return fmt.Sprintf("want %s, got a number without unit; write %d%s", want, number, unitOf(f.Path))
	case isNumber && f.Type == reflect.TypeFor[v1.GoDuration]():
		return fmt.Sprintf("want a duration with its unit, as a string such as 120h, got a number without unit; write %dh for hours", number)
	case f.Type == reflect.TypeFor[resource.Quantity]():
		return pattern{"want " + want, meantQuantity}.words(f.Path, f.Value)
	case known:
		return "want " + want + ", got " + manifest.KindOf(f.Value)
	case f.Type.Kind() == reflect.String && isBool:
		return f.Reason + " (YAML also reads on, off, yes and no as such): put it in quotes"
	case f.Type.Kind() == reflect.String && (isNumber || isFraction):
		return f.Reason + ": put it in quotes"
	case f.Type.Kind() == reflect.Slice && isObject && f.Type.Elem().Kind() != reflect.Uint8:
		return f.Reason + " (is a dash missing?)"
	case isText && strings.Contains(text, "\n") && (f.Type.Kind() == reflect.Struct || f.Type.Kind() == reflect.Map || f.Type.Kind() == reflect.Slice):
		return f.Reason + ": remove the | or > after the colon, which makes a string of what follows"
	case f.Type.Kind() == reflect.Slice && isText:
		return f.Reason + ": write it as an item, with a dash or in brackets"
	case f.Type.Kind() == reflect.String && isList && strings.HasSuffix(f.Path, ".regex"):
		return f.Reason + ": join the items with |"
	case f.Type.Kind() == reflect.String && isList:
		return f.Reason + ": write one value, without dash and brackets"
	case isText && noBlank.MatchString(text) && (f.Type.Kind() == reflect.Struct || f.Type.Kind() == reflect.Map):
		return f.Reason + " (is a blank missing after a colon?)"
	case f.Type.Kind() == reflect.String && isObject && tooDeep.MatchString(f.Path):
		return f.Reason + " (is it indented too far?)"
	case isText && plainValue(f.Type.Kind(), text):
		return f.Reason + ": write it without quotes"
	case f.Type.Kind() == reflect.Struct && isList && listOf(f.Type) != "":
		return fmt.Sprintf("%s: write the list into it, as %s", f.Reason, listOf(f.Type))
	case (f.Type.Kind() == reflect.Struct || f.Type.Kind() == reflect.Map) && isList:
		return f.Reason + " (is there a dash too many?)"
	}
	return f.Reason
}

// listOf returns the field that is meant if a list is given instead of a struct: the only field that is a list
// of strings; empty if there is none, or several.
func listOf(t reflect.Type) (name string) {
	for f := range t.Fields() {
		if f.Type.Kind() != reflect.Slice || f.Type.Elem().Kind() != reflect.String {
			continue
		}
		if name != "" {
			return ""
		}
		name, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	}
	return name
}

// noBlank matches a field and its value without the blank between them, which YAML reads as a text.
var noBlank = lazyregexp.New(`^[A-Za-z]\w*:[^\s/]`)

// tooDeep matches fields that are often written inside a map of texts.
var tooDeep = lazyregexp.New(`\.(labels|annotations|matchLabels)\.(labels|annotations|selector|matchLabels|matchExpressions|spec)$`)

// unitOf returns the likely unit of a field: days for retention, otherwise seconds.
func unitOf(path string) string {
	if _, name := cutField(path); strings.HasPrefix(name, "retention") {
		return "d"
	}
	return "s"
}

// plainValue reports whether a text is a valid number or boolean of the kind.
func plainValue(k reflect.Kind, text string) bool {
	switch k {
	case reflect.Bool:
		return text == "true" || text == "false"
	case reflect.Int32, reflect.Int64, reflect.Int, reflect.Uint64, reflect.Uint32:
		_, err := strconv.ParseInt(text, 10, 64)
		return err == nil
	}
	return false
}

// otherValues maps words of other programs to values of enumerations.
var otherValues = map[string][]string{
	"add": {"replace"}, "set": {"replace"}, "rename": {"replace"}, // the action of relabel steps
	"==": {"="}, "equal": {"="}, "regex": {"=~"}, "regexp": {"=~"}, "~": {"=~"}, "~=": {"=~"}, // matchers
	"warning": {"warn"}, "trace": {"debug"},
}

// versionOfTLS matches a version of TLS in the words of other programs: 1.2, TLSv1.2, VersionTLS12.
var versionOfTLS = lazyregexp.New(`(?i)^(?:version)?(?:tls)?[ _v]*1[._]?([0-3])$`)

// oneOf describes a value that is not in an enumeration.
func oneOf(p *field.Error, detail string) string {
	value, isText := p.BadValue.(string)
	if !isText {
		return detail
	}
	_, listed, _ := strings.Cut(detail, ": ")
	var values []string
	for text := range strings.SplitSeq(listed, ", ") {
		values = append(values, strings.Trim(text, `"`))
	}
	known := withoutSpellings(values)
	text := fmt.Sprintf("%q is not one of the supported values: %s", value, `"`+strings.Join(known, `", "`)+`"`)
	meant := manifest.Similar(value, known)
	for _, other := range otherValues[strings.ToLower(value)] {
		if slices.Contains(known, other) {
			meant = other
		}
	}
	if m := versionOfTLS.FindStringSubmatch(value); m != nil && slices.Contains(known, "TLS1"+m[1]) {
		meant = "TLS1" + m[1]
	}
	if meant != "" {
		text += fmt.Sprintf("; did you mean %q?", meant)
	}
	return text
}

// withoutSpellings drops values that differ from an earlier one in letter case only.
func withoutSpellings(values []string) (out []string) {
	said := map[string]bool{}
	for _, v := range values {
		if lower := strings.ToLower(v); !said[lower] {
			said[lower] = true
			out = append(out, v)
		}
	}
	return out
}

// sameKey formats the keys of a list item that an earlier item shares.
func sameKey(keys map[string]any) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		out = append(out, fmt.Sprintf("%s %q", name, fmt.Sprint(keys[name])))
	}
	return strings.Join(out, " and ")
}
