package lint

import (
	"reflect"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
)

// isConsequence reports whether a finding is a consequence of an error in the manifest, because the
// faulty field is ignored: it is about that field, or about a field that contains it.
func (l *linter) isConsequence(f Finding) bool {
	if f.Code == CodeField || f.Code == CodeInvalid || f.Field == "" {
		return false
	}
	if f.Code == CodeRejected && namesInterval.MatchString(f.Field) && slices.ContainsFunc(l.faultyFields[f.object()], definesIntervals.MatchString) {
		return true
	}
	timeout, of := strings.CutSuffix(f.Field, "scrapeTimeout") // it is compared with the interval, which is ignored
	return slices.ContainsFunc(l.faultyFields[f.object()], func(field string) bool {
		return within(field, f.Field) || within(f.Field, field) || of && f.Code != CodeRemark && (field == timeout+"interval" || field == timeout+"scrapeInterval")
	})
}

var (
	// namesInterval matches the fields of routes that name time intervals, and definesIntervals those that define them.
	namesInterval    = lazyregexp.New(`\.(mute|active)TimeIntervals\[\d+\]$`)
	definesIntervals = lazyregexp.New(`(?i)time_?intervals$`)
)

// within reports whether field equals around or is nested in it.
func within(field, around string) bool {
	rest, inside := strings.CutPrefix(field, around)
	return inside && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// advised returns the field that is written instead of an unknown one, by the advice of the finding; empty if there is none.
func advised(f *manifest.FieldError) string {
	m := writeInstead.FindStringSubmatch(f.Hint)
	i := strings.LastIndexByte(f.Path, '.')
	if m == nil || i < 0 || !f.Unknown() {
		return ""
	}
	return f.Path[:i+1] + m[1]
}

// writeInstead matches the advice to write another field.
var writeInstead = lazyregexp.New(`^write ([a-zA-Z_]+)(?:$|[:,])`)

// misplaced returns the reference to a Secret or ConfigMap of which a part is at another level, so
// that it lacks this part, or the list of a PodMonitor that has the name of another kind; empty if a fault is another one.
func misplaced(f *manifest.FieldError) string {
	i := strings.LastIndexByte(f.Path, '.')
	if f.Path == "spec.endpoints" && f.Type == reflect.TypeFor[v1.PodMonitorSpec]() {
		return "spec.podMetricsEndpoints"
	}
	if i < 0 || !f.Unknown() || f.Hint == "" || f.Path[i:] == ".namespace" || !slices.Contains([]string{"SecretKeySelector", "ConfigMapKeySelector", "SecretOrConfigMap", "BasicAuth"}, f.Type.Name()) {
		return ""
	}
	return f.Path[:i]
}
