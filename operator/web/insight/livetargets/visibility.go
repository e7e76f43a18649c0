package livetargets

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/firekeeper-dev/firekeeper/internal/lazyregexp"
	"github.com/firekeeper-dev/firekeeper/operator/targets"
	"github.com/firekeeper-dev/firekeeper/operator/targets/targetset"
	"github.com/firekeeper-dev/firekeeper/operator/web/insight/access"
)

// notCounted is the note for responses that do not have all targets.
const notCounted = "targets in namespaces where you may list neither pods nor services are not counted and not listed; neither are those with labels of nodes, or of namespaces, that you may not read"

// narrow returns the jobs with only the targets that the caller may see.
//
// Errors: 504 when they are too many to be evaluated in time.
func (s *Source) narrow(jobs []openJob, v *view) (out []openJob, err error) {
	if v.visibility == nil {
		v.visibility = access.NewVisibility(v.ctx, v.rights, v.own, s.Reader)
	}
	for _, j := range jobs {
		j.set, err = j.set.Within(v.ctx, func(sd *targets.KubernetesSD) targetset.Scope {
			switch left, _ := v.visibility.Left(sd, j.object.Ref, j.of.Namespace); left {
			case nil:
				v.nothing = true
				return targetset.Scope{}
			case sd:
				return targetset.Scope{All: true}
			default:
				return targetset.Scope{Namespaces: left.Namespaces.Names}
			}
		}, v.visibility.Foreign())
		if err != nil {
			return nil, apierrors.NewTimeoutError("there are too many targets to find those that you may see in time: ask for one job", 1)
		}
		v.limited = v.limited || j.set.Limited()
		out = append(out, j)
	}
	return out, nil
}

// selectorKey matches the key of a selector in the path of a field, or in the beginning of one:
// matchLabels["app"].
var selectorKey = lazyregexp.New(`\["(?:[^"\\]|\\.?)*("\]?|$)`)

// withoutKey removes the key of a selector from the path of a field.
func withoutKey(origin string) string { return selectorKey.ReplaceAllString(origin, "") }

// withoutKeys is withoutKey for counts by origin.
func withoutKeys(of map[string]int) map[string]int {
	if of == nil {
		return nil
	}
	out := map[string]int{}
	for origin, n := range of {
		out[withoutKey(origin)] += n
	}
	return out
}

// mayFilter reports whether the caller may filter by the step that drops targets. A step with the key
// of a selector requires permission to get the object.
func (a *answer) mayFilter(j openJob) bool {
	hasKey := func(origin string) bool { return withoutKey(origin) != origin }
	return !hasKey(a.filter.Origin) && !hasKey(a.filter.Skip) || a.view.details(j.object.Ref)
}

// notes returns notes on why a response is incomplete.
func (v *view) notes() (out []string) {
	if v.limited {
		out = append(out, notCounted)
	}
	if v.unknown != nil {
		return append(out, fmt.Sprintf("not all is known that you may see, and the rest is hidden: %v", v.unknown))
	}
	if v.visibility != nil {
		out = append(out, v.visibility.Unread()...)
	}
	return out
}
