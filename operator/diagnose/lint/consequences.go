package lint

import (
	"reflect"
	"slices"
	"strings"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/api/catalog"
	"github.com/firekeeper-dev/firekeeper/operator/api/manifest"
	v1 "github.com/firekeeper-dev/firekeeper/operator/api/monitoring/v1"
	"github.com/firekeeper-dev/firekeeper/operator/diagnose/nearmiss"
	"github.com/firekeeper-dev/firekeeper/operator/readers/manifests"
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

// roleField is the field that decides which permissions the jobs of Services need.
const roleField = "spec.serviceDiscoveryRole"

// permissionKinds are the kinds that decide what a ServiceAccount may do.
var permissionKinds = []string{"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "ServiceAccount"}

// undecoded has the namespaces of Kubernetes objects that cannot be decoded, and of which the view therefore has nothing.
type undecoded struct{ targets, permissions map[string]bool }

// add adds an object.
func (u *undecoded) add(f manifests.Fault) {
	to := &u.targets
	if slices.Contains(permissionKinds, f.Kind) {
		to = &u.permissions
	}
	if *to == nil {
		*to = map[string]bool{}
	}
	(*to)[f.Namespace] = true
}

// reach reports whether one of the objects may be a target of a use.
func (u *undecoded) reach(at nearmiss.Use) bool {
	if len(at.Searches) == 0 {
		return len(u.targets) > 0
	}
	return len(u.targets) > 0 && slices.ContainsFunc(at.Searches, func(s nearmiss.Search) bool {
		return s.Namespaces == nil || slices.ContainsFunc(s.Namespaces, func(name string) bool { return u.targets[name] })
	})
}

// credible returns the hints about the targets of uses that are not consequences of errors in manifests: of objects that
// cannot be decoded, which seem to be missing, and of a discovery role that is not the one that is meant.
func (l *linter) credible(found []nearmiss.Found, uses []nearmiss.Use) []nearmiss.Found {
	faulty := func(u nearmiss.Use) bool {
		return slices.Contains(l.faultyFields[about(catalog.RefOf(u.Kind, u.Object)).object()], roleField)
	}
	permissions := len(l.undecoded.permissions) == 0 && !slices.ContainsFunc(uses, faulty)
	reached := map[catalog.Ref]bool{}
	return slices.DeleteFunc(found, func(f nearmiss.Found) bool {
		switch f.Hint.Code {
		case nearmiss.Permission:
			return !permissions || faulty(f.Use)
		case nearmiss.NoTarget:
			ref := catalog.RefOf(f.Kind, f.Object)
			may, known := reached[ref]
			if !known {
				may = l.undecoded.reach(f.Use)
				reached[ref] = may
			}
			return may
		}
		return false
	})
}

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
